#include "blas/level3/triangle.hpp"

#include <cblas.h>

#include "base/fork_mutex.hpp"
#include "base/instantiate.hpp"
#include "number/complex.hpp"
#include "product/native/native.hpp"

namespace vernier {
namespace {

CBLAS_SIDE cblas(Side side) { return side == Side::left ? CblasLeft : CblasRight; }
CBLAS_UPLO cblas(Uplo uplo) { return uplo == Uplo::lower ? CblasLower : CblasUpper; }
CBLAS_DIAG cblas(Diag diag) { return diag == Diag::unit ? CblasUnit : CblasNonUnit; }
CBLAS_TRANSPOSE cblas(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

constexpr CBLAS_ORDER by_columns = CblasColMajor;

int as_int(std::int64_t x) { return static_cast<int>(x); }

// syr2k and her2k; her2k takes a real beta.
template <class T>
void update_of_two(const TriangleUpdate<T>& p) {
  const auto with = [&](auto function, auto beta) {
    function(by_columns, cblas(p.uplo), cblas(p.opa), as_int(p.n), as_int(p.k), native_factor(p.alpha), p.a,
             as_int(p.lda), p.b, as_int(p.ldb), beta, p.c, as_int(p.ldc));
  };
  if constexpr (is_complex<T>)
    if (p.hermitian) return with(of_type<T>(0, 0, cblas_cher2k, cblas_zher2k), p.beta.real());
  with(of_type<T>(cblas_ssyr2k, cblas_dsyr2k, cblas_csyr2k, cblas_zsyr2k), native_factor(p.beta));
}

// syrk and herk; herk takes real factors.
template <class T>
void update_of_one(const TriangleUpdate<T>& p) {
  const auto with = [&](auto function, auto alpha, auto beta) {
    function(by_columns, cblas(p.uplo), cblas(p.opa), as_int(p.n), as_int(p.k), alpha, p.a, as_int(p.lda), beta, p.c,
             as_int(p.ldc));
  };
  if constexpr (is_complex<T>)
    if (p.hermitian) return with(of_type<T>(0, 0, cblas_cherk, cblas_zherk), p.alpha.real(), p.beta.real());
  with(of_type<T>(cblas_ssyrk, cblas_dsyrk, cblas_csyrk, cblas_zsyrk), native_factor(p.alpha), native_factor(p.beta));
}

}  // namespace

template <class T>
void native_symmetric(const SymmetricProduct<T>& p) {
  const NativeCall call;
  const ForkGate gate;
  const auto function = of_type<T>(cblas_ssymm, cblas_dsymm, p.hermitian ? cblas_chemm : cblas_csymm,
                                   p.hermitian ? cblas_zhemm : cblas_zsymm);
  function(by_columns, cblas(p.side), cblas(p.uplo), as_int(p.m), as_int(p.n), native_factor(p.alpha), p.a,
           as_int(p.lda), p.b, as_int(p.ldb), native_factor(p.beta), p.c, as_int(p.ldc));
}

template <class T>
void native_update(const TriangleUpdate<T>& p) {
  const NativeCall call;
  const ForkGate gate;
  p.both ? update_of_two(p) : update_of_one(p);
}

template <class T>
void native_triangular(const TriangularProduct<T>& p) {
  const NativeCall call;
  const ForkGate gate;
  const auto function = p.solve ? of_type<T>(cblas_strsm, cblas_dtrsm, cblas_ctrsm, cblas_ztrsm)
                                : of_type<T>(cblas_strmm, cblas_dtrmm, cblas_ctrmm, cblas_ztrmm);
  function(by_columns, cblas(p.side), cblas(p.uplo), cblas(p.opa), cblas(p.diag), as_int(p.m), as_int(p.n),
           native_factor(p.alpha), p.a, as_int(p.lda), p.c, as_int(p.ldc));
}

VERNIER_TYPE_INSTANCES(native_symmetric, native_update, native_triangular)

}  // namespace vernier
