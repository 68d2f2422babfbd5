// What neural networks do to a product besides, on a GPU: bias, activation and their gradients, the epilogues of
// cublasLtMatmul. For float and double, in device memory, by columns; asynchronous on `stream`, a cudaStream_t.
//
// Each element is computed in the working precision, sums in double. Throws Error: invalid_argument (a size, a leading
// dimension or a null pointer) before anything is queued, unsupported in a build without CUDA, device_error.
#pragma once

#include "vernier/cuda.hpp"

namespace vernier::cuda {

enum class Activation { none, relu, gelu };

// D = f(D + bias), D m x n. bias: m numbers, added to each column, or null. before: m x n, gets D + bias, or null.
// relu(x) = max(x, 0), NaN for a NaN; gelu(x) = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 (arXiv 1606.08415).
template <class T>
VERNIER_API void activate(Activation f, std::int64_t m, std::int64_t n, const T* bias, T* D, std::int64_t ldd,
                          T* before, std::int64_t ld_before, void* stream);

// relu(D + bias) with its signs, or D as its gradient by them: bit i % 8 of byte (i + j ld_signs) / 8 is 0 where D_ij
// is below 0, and the gradient is 0 there. ld_signs: a multiple of 8. The layout is that of cublasLtMatmul's mask.
template <class T>
VERNIER_API void relu_with_signs(bool gradient, std::int64_t m, std::int64_t n, const T* bias, T* D, std::int64_t ldd,
                                 unsigned char* signs, std::int64_t ld_signs, void* stream);

// D_ij = D_ij gelu'(X_ij): the gradient before the activation, of that behind it; X is what activate() kept.
template <class T>
VERNIER_API void gelu_gradient(std::int64_t m, std::int64_t n, T* D, std::int64_t ldd, const T* X, std::int64_t ldx,
                               void* stream);

// sums_i = X_i1 + ... + X_in for `rows`, m of them; else sums_j = X_1j + ... + X_mj, n of them. The gradient of a bias.
template <class T>
VERNIER_API void sum_up(bool rows, std::int64_t m, std::int64_t n, const T* X, std::int64_t ldx, T* sums, void* stream);

// Y = X, m x n, which must not overlap.
template <class T>
VERNIER_API void copy(std::int64_t m, std::int64_t n, const T* X, std::int64_t ldx, T* Y, std::int64_t ldy,
                      void* stream);

}  // namespace vernier::cuda
