// Products and level 3 of cuBLAS that are counted and passed on as they are: types of 16 and 8 bits, groups of batches,
// batches of trsm, and cuBLASXt, whose matrices may be on the host and are spread over several GPUs.
#include "entry.hpp"

namespace vernier::interpose::cublas {
namespace {

template <class... Arguments>
Status counted(Symbol& symbol, std::int64_t m, std::int64_t n, std::int64_t k, Arguments... arguments) {
  if (symbol.concerns(m, n, k))
    symbol.refuse({.routine = Routine::gemm, .type = VERNIER_S, .m = m, .n = n, .k = k}, Reason::mode);
  return symbol.pass_on<Status>(arguments...);
}

// Groups count as their largest product does.
template <class Int>
struct Largest {
  std::int64_t m = 0, n = 0, k = 0;

  Largest(Int groups, const Int* ms, const Int* ns, const Int* ks) {
    for (Int i = 0; ms != nullptr && ns != nullptr && ks != nullptr && i < groups; ++i) {
      const auto size = [](auto a, auto b, auto c) { return 1.0 * a * b * c; };
      if (size(ms[i], ns[i], ks[i]) > size(m, n, k)) m = ms[i], n = ns[i], k = ks[i];
    }
  }
};

using Size = std::int64_t;  // std::size_t in cuBLASXt

}  // namespace
}  // namespace vernier::interpose::cublas

using namespace vernier::interpose;
using namespace vernier::interpose::cublas;

#define VERNIER_HALF(SUFFIX, INT)                                                                                      \
  VERNIER_SYMBOL cublasHgemm##SUFFIX(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha,          \
                                     const void* a, INT lda, const void* b, INT ldb, const void* beta, void* c,        \
                                     INT ldc) {                                                                        \
    VERNIER_STATE(cublasHgemm##SUFFIX);                                                                                \
    return counted(symbol, m, n, k, handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                   \
  }                                                                                                                    \
  VERNIER_SYMBOL cublasHgemmBatched##SUFFIX(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha,   \
                                            const void* a, INT lda, const void* b, INT ldb, const void* beta, void* c, \
                                            INT ldc, INT count) {                                                      \
    VERNIER_STATE(cublasHgemmBatched##SUFFIX);                                                                         \
    return counted(symbol, m, n, k, handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count);            \
  }                                                                                                                    \
  VERNIER_SYMBOL cublasHgemmStridedBatched##SUFFIX(Handle handle, int opa, int opb, INT m, INT n, INT k,               \
                                                   const void* alpha, const void* a, INT lda, long long stride_a,      \
                                                   const void* b, INT ldb, long long stride_b, const void* beta,       \
                                                   void* c, INT ldc, long long stride_c, INT count) {                  \
    VERNIER_STATE(cublasHgemmStridedBatched##SUFFIX);                                                                  \
    return counted(symbol, m, n, k, handle, opa, opb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,     \
                   ldc, stride_c, count);                                                                              \
  }
#define VERNIER_TRSM_BATCHED(NAME, INT)                                                                            \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, int op, int diag, INT m, INT n, const void* alpha,        \
                      const void* a, INT lda, const void* b, INT ldb, INT count) {                                 \
    VERNIER_STATE(NAME);                                                                                           \
    return counted(symbol, m, n, side == right ? n : m, handle, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, \
                   count);                                                                                         \
  }
#define VERNIER_GROUPED(NAME, INT)                                                                                     \
  VERNIER_SYMBOL NAME(Handle handle, const int* opa, const int* opb, const INT* m, const INT* n, const INT* k,         \
                      const void* alpha, const void* a, const INT* lda, const void* b, const INT* ldb,                 \
                      const void* beta, const void* c, const INT* ldc, INT groups, const INT* sizes) {                 \
    VERNIER_STATE(NAME);                                                                                               \
    const Largest<INT> largest(groups, m, n, k);                                                                       \
    return counted(symbol, largest.m, largest.n, largest.k, handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, \
                   ldc, groups, sizes);                                                                                \
  }
#define VERNIER_GROUPED_TYPED(NAME, INT)                                                                         \
  VERNIER_SYMBOL NAME(Handle handle, const int* opa, const int* opb, const INT* m, const INT* n, const INT* k,   \
                      const void* alpha, const void* a, int type_a, const INT* lda, const void* b, int type_b,   \
                      const INT* ldb, const void* beta, const void* c, int type_c, const INT* ldc, INT groups,   \
                      const INT* sizes, int compute) {                                                           \
    VERNIER_STATE(NAME);                                                                                         \
    const Largest<INT> largest(groups, m, n, k);                                                                 \
    return counted(symbol, largest.m, largest.n, largest.k, handle, opa, opb, m, n, k, alpha, a, type_a, lda, b, \
                   type_b, ldb, beta, c, type_c, ldc, groups, sizes, compute);                                   \
  }
#define VERNIER_FORMS(SUFFIX, INT)                        \
  VERNIER_HALF(SUFFIX, INT)                               \
  VERNIER_TRSM_BATCHED(cublasStrsmBatched##SUFFIX, INT)   \
  VERNIER_TRSM_BATCHED(cublasDtrsmBatched##SUFFIX, INT)   \
  VERNIER_TRSM_BATCHED(cublasCtrsmBatched##SUFFIX, INT)   \
  VERNIER_TRSM_BATCHED(cublasZtrsmBatched##SUFFIX, INT)   \
  VERNIER_GROUPED(cublasSgemmGroupedBatched##SUFFIX, INT) \
  VERNIER_GROUPED(cublasDgemmGroupedBatched##SUFFIX, INT) \
  VERNIER_GROUPED_TYPED(cublasGemmGroupedBatchedEx##SUFFIX, INT)

VERNIER_FORMS(, int)
VERNIER_FORMS(_64, std::int64_t)

VERNIER_SYMBOL cublasUint8gemmBias(Handle handle, int opa, int opb, int opc, int m, int n, int k, const void* a,
                                   int a_bias, int lda, const void* b, int b_bias, int ldb, void* c, int c_bias,
                                   int ldc, int c_factor, int c_shift) {
  VERNIER_STATE(cublasUint8gemmBias);
  return counted(symbol, m, n, k, handle, opa, opb, opc, m, n, k, a, a_bias, lda, b, b_bias, ldb, c, c_bias, ldc,
                 c_factor, c_shift);
}

#define VERNIER_XT_GEMM(NAME)                                                                                    \
  VERNIER_SYMBOL NAME(Handle handle, int opa, int opb, Size m, Size n, Size k, const void* alpha, const void* a, \
                      Size lda, const void* b, Size ldb, const void* beta, void* c, Size ldc) {                  \
    VERNIER_STATE(NAME);                                                                                         \
    return counted(symbol, m, n, k, handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);             \
  }
#define VERNIER_XT_SYMM(NAME)                                                                                        \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, Size m, Size n, const void* alpha, const void* a, Size lda, \
                      const void* b, Size ldb, const void* beta, void* c, Size ldc) {                                \
    VERNIER_STATE(NAME);                                                                                             \
    return counted(symbol, m, n, side == right ? n : m, handle, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c,    \
                   ldc);                                                                                             \
  }
#define VERNIER_XT_SPMM(NAME)                                                                                      \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, Size m, Size n, const void* alpha, const void* a,         \
                      const void* b, Size ldb, const void* beta, void* c, Size ldc) {                              \
    VERNIER_STATE(NAME);                                                                                           \
    return counted(symbol, m, n, side == right ? n : m, handle, side, uplo, m, n, alpha, a, b, ldb, beta, c, ldc); \
  }
#define VERNIER_XT_RANK_K(NAME)                                                                                    \
  VERNIER_SYMBOL NAME(Handle handle, int uplo, int op, Size n, Size k, const void* alpha, const void* a, Size lda, \
                      const void* beta, void* c, Size ldc) {                                                       \
    VERNIER_STATE(NAME);                                                                                           \
    return counted(symbol, n, n, k, handle, uplo, op, n, k, alpha, a, lda, beta, c, ldc);                          \
  }
#define VERNIER_XT_RANK_2K(NAME)                                                                                   \
  VERNIER_SYMBOL NAME(Handle handle, int uplo, int op, Size n, Size k, const void* alpha, const void* a, Size lda, \
                      const void* b, Size ldb, const void* beta, void* c, Size ldc) {                              \
    VERNIER_STATE(NAME);                                                                                           \
    return counted(symbol, n, n, k, handle, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                  \
  }
#define VERNIER_XT_TRSM(NAME)                                                                                       \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, int op, int diag, Size m, Size n, const void* alpha,       \
                      const void* a, Size lda, void* b, Size ldb) {                                                 \
    VERNIER_STATE(NAME);                                                                                            \
    return counted(symbol, m, n, side == right ? n : m, handle, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb); \
  }
#define VERNIER_XT_TRMM(NAME)                                                                                         \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, int op, int diag, Size m, Size n, const void* alpha,         \
                      const void* a, Size lda, const void* b, Size ldb, void* c, Size ldc) {                          \
    VERNIER_STATE(NAME);                                                                                              \
    return counted(symbol, m, n, side == right ? n : m, handle, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, c, \
                   ldc);                                                                                              \
  }
#define VERNIER_XT(P)                    \
  VERNIER_XT_GEMM(cublasXt##P##gemm)     \
  VERNIER_XT_SYMM(cublasXt##P##symm)     \
  VERNIER_XT_SPMM(cublasXt##P##spmm)     \
  VERNIER_XT_RANK_K(cublasXt##P##syrk)   \
  VERNIER_XT_RANK_2K(cublasXt##P##syr2k) \
  VERNIER_XT_RANK_2K(cublasXt##P##syrkx) \
  VERNIER_XT_TRSM(cublasXt##P##trsm)     \
  VERNIER_XT_TRMM(cublasXt##P##trmm)
#define VERNIER_XT_COMPLEX(P)            \
  VERNIER_XT_SYMM(cublasXt##P##hemm)     \
  VERNIER_XT_RANK_K(cublasXt##P##herk)   \
  VERNIER_XT_RANK_2K(cublasXt##P##her2k) \
  VERNIER_XT_RANK_2K(cublasXt##P##herkx)

VERNIER_XT(S)
VERNIER_XT(D)
VERNIER_XT(C)
VERNIER_XT(Z)
VERNIER_XT_COMPLEX(C)
VERNIER_XT_COMPLEX(Z)
