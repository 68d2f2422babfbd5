// R near A^-1, or its parts, with what proves A regular.
#pragma once

#include "lapack/verified/triangular_inverses.hpp"

namespace vernier {

struct ApproximateInverse : Regularity {
  std::int64_t n = 0;
  std::unique_ptr<SquareMemory> memory;
  const double* r() const { return memory->data(); }  // R; where rows are named, Y and X of R = Y X P
  std::vector<std::int64_t> rows;                     // entry j of P x is x_rows[j]

  // R x under `fp64`; product_above() of R; that in place of e, and at least the error of near(r).
  std::vector<double> near(std::int64_t columns, const std::vector<double>& x, const Options& options) const;
  std::vector<double> above(std::int64_t columns, const std::vector<double>& x, const Options& options) const;
  void bounds(std::int64_t columns, std::vector<double>& e, const std::vector<double>& r, std::vector<double>& error,
              const Options& options) const;

 private:
  std::vector<double> permuted(std::int64_t columns, const std::vector<double>& x) const;  // P x
};

// What gamma serves for: solutions are corrected until it widens no enclosure, so that parts of R are tried first.
enum class Proves { solutions, inverse };
ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, Proves what,
                                       const Options& options);

}  // namespace vernier
