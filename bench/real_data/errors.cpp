#include "errors.hpp"

#include <algorithm>
#include <cmath>

namespace vernier::bench {

void Reference::add(double x, double y) {
  const double product = x * y, rest = std::fma(x, y, -product);
  const double sum = high + product, other = sum - high;
  low += (high - (sum - other)) + (product - other) + rest;
  high = sum;
  magnitude += std::abs(product);
  loss += std::abs(product) < 0x1p-960 ? 0x1p-1074 : 0;
}

double Reference::error(double t) const {
  const double error = std::abs((t - high) - low);
  if (!std::isfinite(error)) return INFINITY;
  return error <= loss || magnitude == 0 ? 0 : (error - loss) / magnitude;
}

namespace {

// Places by the golden ratio: matrices may have a period.
std::vector<std::int64_t> places(std::int64_t sampled, std::int64_t all) {
  std::vector<std::int64_t> x(static_cast<std::size_t>(std::min(sampled, all)));
  for (std::size_t p = 0; p < x.size(); ++p) {
    const std::uint32_t part = 0x9e3779b9u * static_cast<std::uint32_t>(p + 1);
    x[p] = sampled >= all ? static_cast<std::int64_t>(p)
                          : static_cast<std::int64_t>(static_cast<std::uint64_t>(all) * part >> 32);
  }
  return x;
}

}  // namespace

Sample::Sample(const Factors& f, std::int64_t vectors)
    : rows_(places(vectors, f.m)), columns_(places(vectors, f.n)), references_(rows_.size() * columns_.size()) {
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t p = 0; p < rows_.size(); ++p) {
    std::vector<double> row(static_cast<std::size_t>(f.k));
    for (std::int64_t l = 0; l < f.k; ++l)
      row[static_cast<std::size_t>(l)] = f.a[static_cast<std::size_t>(rows_[p] + l * f.m)];
    for (std::size_t q = 0; q < columns_.size(); ++q) {
      Reference sum;
      const double* column = f.b.data() + columns_[q] * f.k;
      for (std::int64_t l = 0; l < f.k; ++l) sum.add(row[static_cast<std::size_t>(l)], column[l]);
      references_[q * rows_.size() + p] = sum;
    }
  }
}

Errors Sample::errors_of(Product& product) const {
  double sum = 0, largest = 0;
  const Reference* reference = references_.data();
  for (const std::int64_t j : columns_) {
    const std::vector<double> c = product.column(j);
    for (const std::int64_t i : rows_) {
      const double error = (reference++)->error(c[static_cast<std::size_t>(i)]);
      sum += error;
      largest = std::max(largest, error);
    }
  }
  return {sum / static_cast<double>(references_.size()), largest};
}

namespace {

std::vector<std::vector<double>> columns_of(Product& product, std::int64_t n) {
  std::vector<std::vector<double>> c;
  for (std::int64_t j = 0; j < n; ++j) c.push_back(product.column(j));
  return c;
}

}  // namespace

AllEntries::AllEntries(const Factors& f, const std::function<std::unique_ptr<Product>(const Factors&)>& product)
    : n_(f.n) {
  const auto exact = product(f);
  exact->multiply(Contract::exact(), "");
  exact_ = columns_of(*exact, n_);
  Factors magnitudes = f;
  for (std::vector<double>* x : {&magnitudes.a, &magnitudes.b})
    for (double& element : *x) element = std::abs(element);
  const auto positive = product(magnitudes);
  positive->multiply(Contract::fp64(), "native");
  magnitudes_ = columns_of(*positive, n_);
}

double AllEntries::largest_error_of(Product& product) const {
  double largest = 0;
  for (std::int64_t j = 0; j < n_; ++j) {
    const std::vector<double> c = product.column(j);
    const std::vector<double>&t = exact_[static_cast<std::size_t>(j)], &m = magnitudes_[static_cast<std::size_t>(j)];
    for (std::size_t i = 0; i < c.size(); ++i)
      if (m[i] > 0) largest = std::max(largest, std::abs(c[i] - t[i]) / m[i]);
  }
  return largest;
}

}  // namespace vernier::bench
