// Level 3 of the BLAS underneath, for every type. Sizes and leading dimensions must fit 32 bits: see fits_native().
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "vernier/level3.hpp"

namespace vernier {

inline bool fits_native(std::initializer_list<std::int64_t> sizes) {
  return std::max(sizes) <= std::numeric_limits<int>::max();
}

// `hermitian` makes symm hemm, syrk herk and syr2k her2k; it means nothing for real T.
template <class T>
void native_symm(bool hermitian, Side side, Uplo uplo, int m, int n, T alpha, const T* a, int lda, const T* b, int ldb,
                 T beta, T* c, int ldc);
template <class T>
void native_syrk(bool hermitian, Uplo uplo, Op op, int n, int k, T alpha, const T* a, int lda, T beta, T* c, int ldc);
template <class T>
void native_syr2k(bool hermitian, Uplo uplo, Op op, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
                  T beta, T* c, int ldc);
template <class T>
void native_trmm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb);
template <class T>
void native_trsm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb);

}  // namespace vernier
