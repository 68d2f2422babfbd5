#include "lapack/verified/exact_columns.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "number/long_accumulator.hpp"

namespace vernier {
namespace {

// A column takes 5 ns a product by long sums, residues of M some 200 for all columns.
constexpr std::int64_t few = 8;

// Rows first .. first + count - 1 of a column; eight rows share the cache lines of M.
void sum_rows(std::int64_t n, double sign, const double* m, std::int64_t ld, const double* x, std::int64_t first,
              std::int64_t count, double* y) {
  LongAccumulator sums[few];
  for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(y[first + i], 1);
  for (std::int64_t l = 0; l < n; ++l)
    for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(m[first + i + l * ld], sign * x[l]);
  for (std::int64_t i = 0; i < count; ++i) y[first + i] = sums[i].rounded<double>();
}

}  // namespace

std::vector<double> exact_columns(std::int64_t n, std::int64_t columns, double sign, const double* m, std::int64_t ld,
                                  const std::vector<double>& x, std::vector<double> y, const Options& options) {
  if (columns > few) {
    gemm<double>(Op::none, Op::none, n, columns, n, sign, m, ld, x.data(), n, 1, y.data(), n,
                 exact_products(options, Rounding::nearest));
    return y;
  }
#pragma omp parallel num_threads(usable_threads(options.threads))
  {
    const FloatingEnvironment environment;
#pragma omp for collapse(2) schedule(dynamic, 4)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t first = 0; first < n; first += few)
        sum_rows(n, sign, m, ld, x.data() + j * n, first, std::min(few, n - first), y.data() + j * n);
  }
  return y;
}

}  // namespace vernier
