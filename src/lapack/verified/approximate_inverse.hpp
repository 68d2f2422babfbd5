// R near A^-1, with what proves A regular.
#pragma once

#include <memory>

#include "base/workspace.hpp"
#include "lapack/verified/regularity_proof.hpp"

namespace vernier {

// n x n numbers on pages that are kept between calls; nothing is known of them at first.
template <class T>
class SquareMemory {
 public:
  explicit SquareMemory(std::int64_t n) : memory_(size_product({static_cast<std::size_t>(n * n + 1), sizeof(T)})) {}
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  Workspace memory_;
};

struct ApproximateInverse : Regularity {
  std::int64_t n = 0;
  std::unique_ptr<SquareMemory<double>> memory;
  const double* r() const { return memory->data(); }  // n x n

  // Where R was made in float: X with R = X P, half as much to read; column j of R is column from[j] of X.
  std::unique_ptr<SquareMemory<float>> single;
  std::vector<std::int64_t> from;

  // R x under `fp64`; product_above() of R.
  std::vector<double> near(std::int64_t columns, const std::vector<double>& x, const Options& options) const;
  std::vector<double> above(std::int64_t columns, const std::vector<double>& x, const Options& options) const;

 private:
  std::vector<double> permuted(std::int64_t columns, const std::vector<double>& x) const;  // P x
};

// What gamma serves for: where only solutions are corrected until it widens no enclosure, few bits do, and an inverse
// in float is tried first.
enum class Proves { solutions, inverse };
ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, Proves what,
                                       const Options& options);

}  // namespace vernier
