// R near A^-1, and a proof that A is regular: |I - R A| v <= gamma v with gamma < 1 and v > 0.
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

struct ApproximateInverse : Regularity {
  std::int64_t n = 0;
  std::vector<double> r;  // n x n
};

// Products under `fp64`; and under `exact` in a direction.
Options usual_products(Options options);
Options exact_products(Options options, Rounding rounding);

// At least |M| X, M of n x n, of n x columns that are not negative.
std::vector<double> product_above(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld,
                                  const std::vector<double>& x, const Options& options);

void check_system(const char* routine, std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda,
                  const double* B, std::int64_t ldb);

// The product R A where some |R||A| has rows that sum to `size` at most: its error and that of I - R A are within
// share |R||A|, before the latter's own rounding.
struct RemainderBits {
  Contract contract;
  double share;
};
RemainderBits remainder_bits(std::int64_t n, double size);

// At least |I - R A| v from at least |C| v and |R||A| v (rest; none where C is rounded once).
std::vector<double> remainder_sums(const std::vector<double>& v, std::vector<double> sums, double share,
                                   const std::vector<double>& rest);

// times(v): at least |I - R A| v.
inline constexpr double far_from_one = 1.0 / 64;  // a contraction that widens no enclosure
inline constexpr int attempts_by_exact = 8;
void prove_by(const std::function<std::vector<double>(const std::vector<double>&)>& times, std::int64_t n, int attempts,
              Regularity& result);

// Why sums prove nothing: its words.
std::string too_ill_conditioned(double contraction);

// What gamma serves for: where only solutions are corrected until it widens no enclosure, few bits do.
enum class Proves { solutions, inverse };
ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, Proves what,
                                       const Options& options);

}  // namespace vernier
