// The C interface of quadruple products and factorisations of every type, on CPUs and GPUs.
#include "c_api/quad_options.hpp"
#include "vernier/quad_arrays.hpp"
#include "vernier/vernier_quad.h"

using namespace vernier::c_api;
using vernier::complex_dd, vernier::ConstDdArrays, vernier::dd, vernier::DdArrays;
using vernier::Error, vernier::Status;
using vernier::Side, vernier::Uplo, vernier::Op, vernier::Diag;

namespace {

using Z = std::complex<double>;

// Every product of quad.hpp: body(TA{}, TB{}, TC{}).
template <class Body>
void with_product_types(vernier_quad_type a, vernier_quad_type b, vernier_quad_type c, Body body) {
  const auto is = [&](vernier_quad_type x, vernier_quad_type y, vernier_quad_type z) {
    return a == x && b == y && c == z;
  };
#define VERNIER_PRODUCT_TYPES(x, y, z, TA, TB, TC) \
  if (is(VERNIER_QUAD_##x, VERNIER_QUAD_##y, VERNIER_QUAD_##z)) return body(TA{}, TB{}, TC{});
  VERNIER_PRODUCT_TYPES(DOUBLE, DOUBLE, DD, double, double, dd)
  VERNIER_PRODUCT_TYPES(DD, DOUBLE, DD, dd, double, dd)
  VERNIER_PRODUCT_TYPES(DOUBLE, DD, DD, double, dd, dd)
  VERNIER_PRODUCT_TYPES(DD, DD, DD, dd, dd, dd)
  VERNIER_PRODUCT_TYPES(COMPLEX_DOUBLE, COMPLEX_DOUBLE, COMPLEX_DD, Z, Z, complex_dd)
  VERNIER_PRODUCT_TYPES(COMPLEX_DD, COMPLEX_DD, COMPLEX_DD, complex_dd, complex_dd, complex_dd)
#if defined(__SIZEOF_FLOAT128__)
  using vernier::binary128;
  using vernier::complex_binary128;
  VERNIER_PRODUCT_TYPES(DOUBLE, DOUBLE, BINARY128, double, double, binary128)
  VERNIER_PRODUCT_TYPES(BINARY128, DOUBLE, BINARY128, binary128, double, binary128)
  VERNIER_PRODUCT_TYPES(DOUBLE, BINARY128, BINARY128, double, binary128, binary128)
  VERNIER_PRODUCT_TYPES(BINARY128, BINARY128, BINARY128, binary128, binary128, binary128)
  VERNIER_PRODUCT_TYPES(COMPLEX_DOUBLE, COMPLEX_DOUBLE, COMPLEX_BINARY128, Z, Z, complex_binary128)
  VERNIER_PRODUCT_TYPES(COMPLEX_BINARY128, COMPLEX_BINARY128, COMPLEX_BINARY128, complex_binary128, complex_binary128,
                        complex_binary128)
#endif
#undef VERNIER_PRODUCT_TYPES
  throw Error(Status::invalid_argument,
              "quad_gemm: types: expected C of dd or binary128 with A and B each double or of C's type; or complex C "
              "with A and B both complex doubles or both of C's type");
}

// body(T{}) for a type that has factors.
template <class Body>
void with_factor_type(vernier_quad_type type, Body body) {
  if (type == VERNIER_QUAD_DD) return body(dd{});
#if defined(__SIZEOF_FLOAT128__)
  if (type == VERNIER_QUAD_BINARY128) return body(vernier::binary128{});
#endif
  throw Error(Status::invalid_argument, "type: expected VERNIER_QUAD_DD or VERNIER_QUAD_BINARY128");
}

void keep_info(std::int64_t found, std::int64_t* info) {
  if (info != nullptr) *info = found;
}

}  // namespace

// On a CPU, and on a GPU.
#define VERNIER_QUAD_TYPES(prefix, space, options)                                                                    \
  vernier_status prefix##quad_gemm_of(vernier_handle handle, const char* contract, vernier_quad_type type_a,          \
                                      vernier_quad_type type_b, vernier_quad_type type_c, vernier_op opa,             \
                                      vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha, const void* A,   \
                                      int64_t lda, const void* B, int64_t ldb, double beta, void* C, int64_t ldc) {   \
    return with_handle(handle, [&] {                                                                                  \
      with_product_types(type_a, type_b, type_c, [&]<class TA, class TB, class TC>(TA, TB, TC) {                      \
        space::quad_gemm(as(opa), as(opb), m, n, k, alpha, in<TA>(A), lda, in<TB>(B), ldb, beta, out<TC>(C), ldc,     \
                         options(handle, contract));                                                                  \
      });                                                                                                             \
    });                                                                                                               \
  }                                                                                                                   \
  vernier_status prefix##quad_gemm_of_arrays(                                                                         \
      vernier_handle handle, const char* contract, vernier_op opa, vernier_op opb, int64_t m, int64_t n, int64_t k,   \
      double alpha, const double* Ahi, const double* Alo, int64_t lda, const double* Bhi, const double* Blo,          \
      int64_t ldb, double beta, double* Chi, double* Clo, int64_t ldc) {                                              \
    return with_handle(handle, [&] {                                                                                  \
      space::quad_gemm(as(opa), as(opb), m, n, k, alpha, ConstDdArrays(Ahi, Alo), lda, ConstDdArrays(Bhi, Blo), ldb,  \
                       beta, DdArrays{Chi, Clo}, ldc, options(handle, contract));                                     \
    });                                                                                                               \
  }                                                                                                                   \
  vernier_status prefix##quad_syrk(vernier_handle handle, const char* contract, vernier_quad_type type,               \
                                   vernier_uplo uplo, vernier_op op, int64_t n, int64_t k, double alpha,              \
                                   const void* A, int64_t lda, double beta, void* C, int64_t ldc) {                   \
    VERNIER_C_OF(with_factor_type, space::quad_syrk(as(uplo), as(op), n, k, alpha, in<T>(A), lda, beta, out<T>(C),    \
                                                    ldc, options(handle, contract)));                                 \
  }                                                                                                                   \
  vernier_status prefix##quad_trsm(vernier_handle handle, const char* contract, vernier_quad_type type,               \
                                   vernier_side side, vernier_uplo uplo, vernier_op op, vernier_diag diag, int64_t m, \
                                   int64_t n, double alpha, const void* A, int64_t lda, void* B, int64_t ldb) {       \
    VERNIER_C_OF(with_factor_type, space::quad_trsm(as(side), as(uplo), as(op), as(diag), m, n, alpha, in<T>(A), lda, \
                                                    out<T>(B), ldb, options(handle, contract)));                      \
  }                                                                                                                   \
  vernier_status prefix##quad_getrf(vernier_handle handle, const char* contract, vernier_quad_type type, int64_t m,   \
                                    int64_t n, void* A, int64_t lda, int64_t* pivots, int64_t* info) {                \
    VERNIER_C_OF(with_factor_type,                                                                                    \
                 keep_info(space::quad_getrf(m, n, out<T>(A), lda, pivots, options(handle, contract)), info));        \
  }                                                                                                                   \
  vernier_status prefix##quad_potrf(vernier_handle handle, const char* contract, vernier_quad_type type,              \
                                    vernier_uplo uplo, int64_t n, void* A, int64_t lda, int64_t* info) {              \
    VERNIER_C_OF(with_factor_type,                                                                                    \
                 keep_info(space::quad_potrf(as(uplo), n, out<T>(A), lda, options(handle, contract)), info));         \
  }                                                                                                                   \
  vernier_status prefix##quad_gesv(vernier_handle handle, const char* contract, vernier_quad_type type, int64_t n,    \
                                   int64_t nrhs, void* A, int64_t lda, int64_t* pivots, void* B, int64_t ldb,         \
                                   int64_t* info) {                                                                   \
    VERNIER_C_OF(with_factor_type, keep_info(space::quad_gesv(n, nrhs, out<T>(A), lda, pivots, out<T>(B), ldb,        \
                                                              options(handle, contract)),                             \
                                             info));                                                                  \
  }

extern "C" {

VERNIER_QUAD_TYPES(vernier_, vernier, quad_options)
VERNIER_QUAD_TYPES(vernier_cuda_, vernier::cuda, quad_options_on_gpu)
#undef VERNIER_QUAD_TYPES

}  // extern "C"
