#include "errors.hpp"

#include <algorithm>
#include <cmath>

namespace vernier::bench {
namespace {

// sum of products and of magnitudes, to twice the precision of double; where products are subnormal each loses up to
// the smallest number, and so may T.
struct Reference {
  double high = 0, low = 0, magnitude = 0, loss = 0x1p-1074;

  void add(double x, double y) {
    const double product = x * y, rest = std::fma(x, y, -product);
    const double sum = high + product, other = sum - high;
    low += (high - (sum - other)) + (product - other) + rest;
    high = sum;
    magnitude += std::abs(product);
    loss += std::abs(product) < 0x1p-960 ? 0x1p-1074 : 0;
  }
  double error(double t) const {
    const double error = std::abs((t - high) - low);
    if (!std::isfinite(error)) return INFINITY;
    return error <= loss || magnitude == 0 ? 0 : (error - loss) / magnitude;
  }
};

// Of so many sampled vectors the p-th, by the golden ratio: matrices may have a period.
std::int64_t place(std::int64_t p, std::int64_t sampled, std::int64_t all) {
  const std::uint32_t part = 0x9e3779b9u * static_cast<std::uint32_t>(p + 1);
  return sampled == all ? p : static_cast<std::int64_t>(static_cast<std::uint64_t>(all) * part >> 32);
}

}  // namespace

Errors errors_of(const Factors& f, const std::vector<double>& c, std::int64_t sample) {
  const std::int64_t rows = std::min(sample, f.m), columns = std::min(sample, f.n);
  double sum = 0, largest = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : largest) schedule(dynamic, 1)
  for (std::int64_t p = 0; p < rows; ++p) {
    const std::int64_t i = place(p, rows, f.m);
    std::vector<double> row(static_cast<std::size_t>(f.k));
    for (std::int64_t l = 0; l < f.k; ++l)
      row[static_cast<std::size_t>(l)] = f.a[static_cast<std::size_t>(i + l * f.m)];
    for (std::int64_t q = 0; q < columns; ++q) {
      const std::int64_t j = place(q, columns, f.n);
      Reference reference;
      for (std::int64_t l = 0; l < f.k; ++l)
        reference.add(row[static_cast<std::size_t>(l)], f.b[static_cast<std::size_t>(l + j * f.k)]);
      const double error = reference.error(c[static_cast<std::size_t>(i + j * f.m)]);
      sum += error;
      largest = std::max(largest, error);
    }
  }
  return {sum / static_cast<double>(rows * columns), largest};
}

}  // namespace vernier::bench
