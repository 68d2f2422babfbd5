#include "blas/level3/native_level3.hpp"

#include <cblas.h>

#include <type_traits>

#include "product/native/native_threads.hpp"

namespace vernier {
namespace {

CBLAS_SIDE cblas(Side side) { return side == Side::left ? CblasLeft : CblasRight; }
CBLAS_UPLO cblas(Uplo uplo) { return uplo == Uplo::lower ? CblasLower : CblasUpper; }
CBLAS_DIAG cblas(Diag diag) { return diag == Diag::unit ? CblasUnit : CblasNonUnit; }
CBLAS_TRANSPOSE cblas(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

constexpr CBLAS_ORDER by_columns = CblasColMajor;

template <class T, class Wanted>
constexpr bool is = std::is_same_v<T, Wanted>;

}  // namespace

template <class T>
void native_symm(bool hermitian, Side side, Uplo uplo, int m, int n, T alpha, const T* a, int lda, const T* b, int ldb,
                 T beta, T* c, int ldc) {
  const NativeCall call;
  const CBLAS_SIDE s = cblas(side);
  const CBLAS_UPLO u = cblas(uplo);
  if constexpr (is<T, float>)
    cblas_ssymm(by_columns, s, u, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
  else if constexpr (is<T, double>)
    cblas_dsymm(by_columns, s, u, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
  else if constexpr (is<T, std::complex<float>>)
    (hermitian ? cblas_chemm : cblas_csymm)(by_columns, s, u, m, n, &alpha, a, lda, b, ldb, &beta, c, ldc);
  else
    (hermitian ? cblas_zhemm : cblas_zsymm)(by_columns, s, u, m, n, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

template <class T>
void native_syrk(bool hermitian, Uplo uplo, Op op, int n, int k, T alpha, const T* a, int lda, T beta, T* c, int ldc) {
  const NativeCall call;
  const CBLAS_UPLO u = cblas(uplo);
  const CBLAS_TRANSPOSE t = cblas(op);
  if constexpr (is<T, float>) {
    cblas_ssyrk(by_columns, u, t, n, k, alpha, a, lda, beta, c, ldc);
  } else if constexpr (is<T, double>) {
    cblas_dsyrk(by_columns, u, t, n, k, alpha, a, lda, beta, c, ldc);
  } else if constexpr (is<T, std::complex<float>>) {
    if (hermitian)
      cblas_cherk(by_columns, u, t, n, k, alpha.real(), a, lda, beta.real(), c, ldc);
    else
      cblas_csyrk(by_columns, u, t, n, k, &alpha, a, lda, &beta, c, ldc);
  } else {
    if (hermitian)
      cblas_zherk(by_columns, u, t, n, k, alpha.real(), a, lda, beta.real(), c, ldc);
    else
      cblas_zsyrk(by_columns, u, t, n, k, &alpha, a, lda, &beta, c, ldc);
  }
}

template <class T>
void native_syr2k(bool hermitian, Uplo uplo, Op op, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
                  T beta, T* c, int ldc) {
  const NativeCall call;
  const CBLAS_UPLO u = cblas(uplo);
  const CBLAS_TRANSPOSE t = cblas(op);
  if constexpr (is<T, float>) {
    cblas_ssyr2k(by_columns, u, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if constexpr (is<T, double>) {
    cblas_dsyr2k(by_columns, u, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if constexpr (is<T, std::complex<float>>) {
    if (hermitian)
      cblas_cher2k(by_columns, u, t, n, k, &alpha, a, lda, b, ldb, beta.real(), c, ldc);
    else
      cblas_csyr2k(by_columns, u, t, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
  } else {
    if (hermitian)
      cblas_zher2k(by_columns, u, t, n, k, &alpha, a, lda, b, ldb, beta.real(), c, ldc);
    else
      cblas_zsyr2k(by_columns, u, t, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
  }
}

template <class T>
void native_trmm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb) {
  const NativeCall call;
  const CBLAS_SIDE s = cblas(side);
  const CBLAS_UPLO u = cblas(uplo);
  const CBLAS_TRANSPOSE t = cblas(op);
  const CBLAS_DIAG d = cblas(diag);
  if constexpr (is<T, float>)
    cblas_strmm(by_columns, s, u, t, d, m, n, alpha, a, lda, b, ldb);
  else if constexpr (is<T, double>)
    cblas_dtrmm(by_columns, s, u, t, d, m, n, alpha, a, lda, b, ldb);
  else if constexpr (is<T, std::complex<float>>)
    cblas_ctrmm(by_columns, s, u, t, d, m, n, &alpha, a, lda, b, ldb);
  else
    cblas_ztrmm(by_columns, s, u, t, d, m, n, &alpha, a, lda, b, ldb);
}

template <class T>
void native_trsm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb) {
  const NativeCall call;
  const CBLAS_SIDE s = cblas(side);
  const CBLAS_UPLO u = cblas(uplo);
  const CBLAS_TRANSPOSE t = cblas(op);
  const CBLAS_DIAG d = cblas(diag);
  if constexpr (is<T, float>)
    cblas_strsm(by_columns, s, u, t, d, m, n, alpha, a, lda, b, ldb);
  else if constexpr (is<T, double>)
    cblas_dtrsm(by_columns, s, u, t, d, m, n, alpha, a, lda, b, ldb);
  else if constexpr (is<T, std::complex<float>>)
    cblas_ctrsm(by_columns, s, u, t, d, m, n, &alpha, a, lda, b, ldb);
  else
    cblas_ztrsm(by_columns, s, u, t, d, m, n, &alpha, a, lda, b, ldb);
}

#define VERNIER_INSTANTIATE(T)                                                                        \
  template void native_symm(bool, Side, Uplo, int, int, T, const T*, int, const T*, int, T, T*, int); \
  template void native_syrk(bool, Uplo, Op, int, int, T, const T*, int, T, T*, int);                  \
  template void native_syr2k(bool, Uplo, Op, int, int, T, const T*, int, const T*, int, T, T*, int);  \
  template void native_trmm(Side, Uplo, Op, Diag, int, int, T, const T*, int, T*, int);               \
  template void native_trsm(Side, Uplo, Op, Diag, int, int, T, const T*, int, T*, int);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
