// cublas?symm to cublas?trsm, with integers of 32 bits or (_64) of 64.
#include "cublas_call.hpp"

namespace vernier::interpose::cublas {
namespace {

bool take(Symbol& symbol, Handle handle, Call&& call) {
  return symbol.concerns(call.m, call.n, call.k) && offer(symbol, handle, call);
}

}  // namespace
}  // namespace vernier::interpose::cublas

using namespace vernier::interpose;
using namespace vernier::interpose::cublas;

#define VERNIER_SYMBOL extern "C" __attribute__((visibility("default"))) Status
#define VERNIER_STATE(NAME) static constinit Symbol symbol(#NAME)

#define VERNIER_SYMM(NAME, ROUTINE, TYPE, INT)                                                                    \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, INT m, INT n, const void* alpha, const void* a, INT lda, \
                      const void* b, INT ldb, const void* beta, void* c, INT ldc) {                               \
    VERNIER_STATE(NAME);                                                                                          \
    if (take(symbol, handle,                                                                                      \
             {.routine = Routine::ROUTINE,                                                                        \
              .type = TYPE,                                                                                       \
              .side = side_letter(side),                                                                          \
              .uplo = uplo_letter(uplo),                                                                          \
              .m = m,                                                                                             \
              .n = n,                                                                                             \
              .k = side == right ? n : m,                                                                         \
              .alpha = alpha,                                                                                     \
              .a = a,                                                                                             \
              .lda = lda,                                                                                         \
              .b = b,                                                                                             \
              .ldb = ldb,                                                                                         \
              .beta = beta,                                                                                       \
              .c = c,                                                                                             \
              .ldc = ldc}))                                                                                       \
      return success;                                                                                             \
    return symbol.pass_on<Status>(handle, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                 \
  }
#define VERNIER_RANK_K(NAME, ROUTINE, TYPE, INT)                                                                \
  VERNIER_SYMBOL NAME(Handle handle, int uplo, int op, INT n, INT k, const void* alpha, const void* a, INT lda, \
                      const void* beta, void* c, INT ldc) {                                                     \
    VERNIER_STATE(NAME);                                                                                        \
    if (take(symbol, handle,                                                                                    \
             {.routine = Routine::ROUTINE,                                                                      \
              .type = TYPE,                                                                                     \
              .uplo = uplo_letter(uplo),                                                                        \
              .opa = op_letter(op, TYPE),                                                                       \
              .m = n,                                                                                           \
              .n = n,                                                                                           \
              .k = k,                                                                                           \
              .alpha = alpha,                                                                                   \
              .a = a,                                                                                           \
              .lda = lda,                                                                                       \
              .beta = beta,                                                                                     \
              .c = c,                                                                                           \
              .ldc = ldc}))                                                                                     \
      return success;                                                                                           \
    return symbol.pass_on<Status>(handle, uplo, op, n, k, alpha, a, lda, beta, c, ldc);                         \
  }
#define VERNIER_RANK_2K(NAME, ROUTINE, TYPE, INT)                                                               \
  VERNIER_SYMBOL NAME(Handle handle, int uplo, int op, INT n, INT k, const void* alpha, const void* a, INT lda, \
                      const void* b, INT ldb, const void* beta, void* c, INT ldc) {                             \
    VERNIER_STATE(NAME);                                                                                        \
    if (take(symbol, handle,                                                                                    \
             {.routine = Routine::ROUTINE,                                                                      \
              .type = TYPE,                                                                                     \
              .uplo = uplo_letter(uplo),                                                                        \
              .opa = op_letter(op, TYPE),                                                                       \
              .m = n,                                                                                           \
              .n = n,                                                                                           \
              .k = k,                                                                                           \
              .alpha = alpha,                                                                                   \
              .a = a,                                                                                           \
              .lda = lda,                                                                                       \
              .b = b,                                                                                           \
              .ldb = ldb,                                                                                       \
              .beta = beta,                                                                                     \
              .c = c,                                                                                           \
              .ldc = ldc}))                                                                                     \
      return success;                                                                                           \
    return symbol.pass_on<Status>(handle, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                 \
  }
#define VERNIER_TRSM(NAME, TYPE, INT)                                                                       \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, int op, int diag, INT m, INT n, const void* alpha, \
                      const void* a, INT lda, void* b, INT ldb) {                                           \
    VERNIER_STATE(NAME);                                                                                    \
    if (take(symbol, handle,                                                                                \
             {.routine = Routine::trsm,                                                                     \
              .type = TYPE,                                                                                 \
              .side = side_letter(side),                                                                    \
              .uplo = uplo_letter(uplo),                                                                    \
              .opa = op_letter(op, TYPE),                                                                   \
              .diag = diag_letter(diag),                                                                    \
              .m = m,                                                                                       \
              .n = n,                                                                                       \
              .k = side == right ? n : m,                                                                   \
              .alpha = alpha,                                                                               \
              .a = a,                                                                                       \
              .lda = lda,                                                                                   \
              .c = b,                                                                                       \
              .ldc = ldb}))                                                                                 \
      return success;                                                                                       \
    return symbol.pass_on<Status>(handle, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);               \
  }
#define VERNIER_TRMM(NAME, TYPE, INT)                                                                       \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, int op, int diag, INT m, INT n, const void* alpha, \
                      const void* a, INT lda, const void* b, INT ldb, void* c, INT ldc) {                   \
    VERNIER_STATE(NAME);                                                                                    \
    if (take(symbol, handle,                                                                                \
             {.routine = Routine::trmm,                                                                     \
              .type = TYPE,                                                                                 \
              .side = side_letter(side),                                                                    \
              .uplo = uplo_letter(uplo),                                                                    \
              .opa = op_letter(op, TYPE),                                                                   \
              .diag = diag_letter(diag),                                                                    \
              .m = m,                                                                                       \
              .n = n,                                                                                       \
              .k = side == right ? n : m,                                                                   \
              .alpha = alpha,                                                                               \
              .a = a,                                                                                       \
              .lda = lda,                                                                                   \
              .b = b,                                                                                       \
              .ldb = ldb,                                                                                   \
              .c = c,                                                                                       \
              .ldc = ldc}))                                                                                 \
      return success;                                                                                       \
    return symbol.pass_on<Status>(handle, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, c, ldc);       \
  }

#define VERNIER_REAL_AND_COMPLEX(P, TYPE, SUFFIX, INT)           \
  VERNIER_SYMM(cublas##P##symm_v2##SUFFIX, symm, TYPE, INT)      \
  VERNIER_RANK_K(cublas##P##syrk_v2##SUFFIX, syrk, TYPE, INT)    \
  VERNIER_RANK_2K(cublas##P##syr2k_v2##SUFFIX, syr2k, TYPE, INT) \
  VERNIER_TRSM(cublas##P##trsm_v2##SUFFIX, TYPE, INT)            \
  VERNIER_TRMM(cublas##P##trmm_v2##SUFFIX, TYPE, INT)
#define VERNIER_COMPLEX(P, TYPE, SUFFIX, INT)                 \
  VERNIER_SYMM(cublas##P##hemm_v2##SUFFIX, hemm, TYPE, INT)   \
  VERNIER_RANK_K(cublas##P##herk_v2##SUFFIX, herk, TYPE, INT) \
  VERNIER_RANK_2K(cublas##P##her2k_v2##SUFFIX, her2k, TYPE, INT)
#define VERNIER_ALL(SUFFIX, INT)                      \
  VERNIER_REAL_AND_COMPLEX(S, VERNIER_S, SUFFIX, INT) \
  VERNIER_REAL_AND_COMPLEX(D, VERNIER_D, SUFFIX, INT) \
  VERNIER_REAL_AND_COMPLEX(C, VERNIER_C, SUFFIX, INT) \
  VERNIER_REAL_AND_COMPLEX(Z, VERNIER_Z, SUFFIX, INT) \
  VERNIER_COMPLEX(C, VERNIER_C, SUFFIX, INT)          \
  VERNIER_COMPLEX(Z, VERNIER_Z, SUFFIX, INT)

VERNIER_ALL(, int)
VERNIER_ALL(_64, std::int64_t)
