// What proves a matrix A regular by R near A^-1: |I - R A| v <= gamma v with gamma < 1 and v > 0; bounds of products.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vernier/verified.hpp"

namespace vernier {

// |I - R A| v <= sums <= gamma v.
struct Regularity {
  std::vector<double> weight;  // v
  std::vector<double> sums;    // at least |I - R A| v
  double contraction = 0;      // gamma; proved where it is below 1
  std::string failure = {};    // empty: proved

  // At least |I - R A| e for every e >= 0 with e <= |I - R A| e + d: sums max(d / v) / (1 - gamma).
  double error_factor(const double* d) const;  // max(d / v) / (1 - gamma), rounded up
};

// Products under `fp64`; and under `exact` in a direction.
Options usual_products(Options options);
Options exact_products(Options options, Rounding rounding);

// Threads that matrices of so many rows or columns keep busy between one meeting and the next.
Options for_order(std::int64_t n, Options options);

// Columns that a loop over M multiplies, since gemm would copy all of M; twice as many over |M|.
inline constexpr std::int64_t by_loop = 8;
// By that loop, Z with |Z - M X| <= (n + 2) u |M||X| + n 2^-1074, M of n x n.
std::vector<double> product_near(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld,
                                 const std::vector<double>& x, const Options& options);
// At least |M| X, M of n x n, of n x columns that are not negative.
std::vector<double> product_above(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld,
                                  const std::vector<double>& x, const Options& options);
// At least |Z - M X| of product_near() and of a product under `fp64`, from at least |M||X|.
std::vector<double> product_error(std::int64_t n, std::vector<double> size);
std::vector<double> magnitudes_of(const std::vector<double>& x);
// At least the 2-norms of rows of R and of columns of A, both n x n.
std::vector<double> row_norms(std::int64_t n, const double* r, const Options& options);
std::vector<double> column_norms(std::int64_t n, const double* a, std::int64_t lda, const Options& options);

// At least M X from sums of products that are not negative, added in any order.
void round_up_products(std::int64_t n, std::vector<double>& y);

void check_system(const char* routine, std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda,
                  const double* B, std::int64_t ldb, const Options& options);

// The product R A where some |R||A| has rows that sum to `size` at most: before its rounding it is within share |R||A|,
// where share size is some 2^-spare_bits, or under `fp64`. enough: no more bits would prove more.
struct RemainderBits {
  Contract contract;
  double share;
  bool enough;
};
inline constexpr int spare_bits = 12;  // one correction of X more at most
RemainderBits remainder_bits(std::int64_t n, double size);
// The same beside |R_i|_2 |A_j|_2, whose rows sum to `size` at most: theorem 5 of residues, which ask for fewer moduli.
RemainderBits remainder_by_norms(std::int64_t n, double size);
// False: the exponents of the data were too wide for the contract of a product in it. `exact` serves any.
bool serves(const std::function<void()>& product);

// At least |I - R A| v from at least |C| v and |R||A| v (rest; none where C is rounded once). rounding: of R A, which
// is near I, where share has none and R A was rounded before it was taken off I.
std::vector<double> remainder_sums(const std::vector<double>& v, std::vector<double> sums, double share,
                                   const std::vector<double>& rest, double rounding = 0);

// times(v): at least |I - R A| v; v: weights to begin with.
inline constexpr double far_from_one = 1.0 / 64;  // a contraction that widens no enclosure
inline constexpr int attempts_by_exact = 8;
inline std::vector<double> unit_weights(std::int64_t n) {
  return std::vector<double>(static_cast<std::size_t>(n), 1.0);
}
// ... near the sizes of rows of R; and the most of sums / v, infinity where one is NaN.
std::vector<double> weights_by_norms(std::vector<double> rows);
double largest_beside(const std::vector<double>& sums, const std::vector<double>& v);
void prove_by(const std::function<std::vector<double>(const std::vector<double>&)>& times, std::vector<double> v,
              int attempts, Regularity& result, double enough = 0.5);

// Why sums prove nothing: its words.
std::string too_ill_conditioned(double contraction);

}  // namespace vernier
