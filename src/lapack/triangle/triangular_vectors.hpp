// Triangular solves with one vector of double and factors of any storage: limited by the reading of the factors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lapack/kernels.hpp"
#include "lapack/level3.hpp"

namespace vernier {

// x becomes op(L)^-1 x or op(U)^-1 x; L has a diagonal of ones.
template <class S>
class TriangularVectors {
 public:
  TriangularVectors(std::int64_t n, const S* lu, std::int64_t ld, int threads)
      : n_(n), lu_(lu), ld_(ld), threads_(n > 1024 ? threads : 1) {}

  void lower(double* x) const {
    for (std::int64_t k = 0; k < n_; k += block) {
      const std::int64_t end = std::min(k + block, n_);
      for (std::int64_t j = k; j < end; ++j) kernel_.subtract(end - j - 1, 1, at(j + 1, j), ld_, x + j, x + j + 1);
      subtract_rows(end, n_, k, end, x);
    }
  }
  void upper(double* x) const {
    for (std::int64_t end = n_; end > 0;) {
      const std::int64_t k = (end - 1) / block * block;
      for (std::int64_t j = end - 1; j >= k; --j) {
        x[j] /= static_cast<double>(*at(j, j));
        kernel_.subtract(j - k, 1, at(k, j), ld_, x + j, x + k);
      }
      subtract_rows(0, k, k, end, x);
      end = k;
    }
  }
  void upper_transposed(double* x) const {
    for (std::int64_t k = 0; k < n_; k += block) {
      const std::int64_t end = std::min(k + block, n_);
      subtract_sums(0, k, k, end, x);
      for (std::int64_t j = k; j < end; ++j) {
        kernel_.subtract_transposed(j - k, 1, at(k, j), ld_, x + k, x + j);
        x[j] /= static_cast<double>(*at(j, j));
      }
    }
  }
  void lower_transposed(double* x) const {
    for (std::int64_t end = n_; end > 0;) {
      const std::int64_t k = (end - 1) / block * block;
      subtract_sums(end, n_, k, end, x);
      for (std::int64_t j = end - 1; j >= k; --j)
        kernel_.subtract_transposed(end - j - 1, 1, at(j + 1, j), ld_, x + j + 1, x + j);
      end = k;
    }
  }

 private:
  static constexpr std::int64_t block = 128;

  const S* at(std::int64_t i, std::int64_t j) const { return lu_ + i + j * ld_; }

  // x[first, last) -= LU(first : last, k : end) x[k, end)
  void subtract_rows(std::int64_t first, std::int64_t last, std::int64_t k, std::int64_t end, double* x) const {
    const std::int64_t share = (last - first + threads_ - 1) / threads_,
                       step = std::clamp<std::int64_t>(share, 512, 2048);
    const std::int64_t parts = (last - first + step - 1) / step;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1 && parts > 1)
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t i = first + p * step;
      kernel_.subtract(std::min(step, last - i), end - k, at(i, k), ld_, x + k, x + i);
    }
  }
  // x[k, end) -= LU(first : last, k : end)^T x[first, last)
  void subtract_sums(std::int64_t first, std::int64_t last, std::int64_t k, std::int64_t end, double* x) const {
    if (first == last) return;
    constexpr std::int64_t step = 16;
    const std::int64_t parts = (end - k + step - 1) / step;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1 && last - first > 512)
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t j = k + p * step;
      kernel_.subtract_transposed(last - first, std::min(step, end - j), at(first, j), ld_, x + first, x + j);
    }
  }

  std::int64_t n_;
  const S* lu_;
  std::int64_t ld_;
  int threads_;
  const VectorKernels<S>& kernel_ = vector_kernels<S>();
};

}  // namespace vernier
