// cublas?symm to cublas?trsm with their forms Ex, and cublas?syrkx and cublas?herkx, with integers of 32 bits or (_64)
// of 64.
#include <utility>

#include "entry.hpp"
#include "level3_calls.hpp"

namespace vernier::interpose::cublas {
namespace {

bool take(Symbol& symbol, Handle handle, Call&& call) {
  return symbol.concerns(call.m, call.n, call.k) && offer(symbol, handle, call);
}

bool take_typed(Symbol& symbol, Handle handle, int type_a, int type_c, Call&& call) {
  if (type_a == c_32f && type_c == c_32f) return take(symbol, handle, std::move(call));
  return symbol.concerns(call.m, call.n, call.k) && symbol.refuse(call, Reason::mode);
}

}  // namespace
}  // namespace vernier::interpose::cublas

using namespace vernier::interpose;
using namespace vernier::interpose::cublas;

#define VERNIER_SYMM(NAME, ROUTINE, TYPE, INT)                                                                         \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, INT m, INT n, const void* alpha, const void* a, INT lda,      \
                      const void* b, INT ldb, const void* beta, void* c, INT ldc) {                                    \
    VERNIER_STATE(NAME);                                                                                               \
    if (take(symbol, handle,                                                                                           \
             symmetric_call(Routine::ROUTINE, TYPE, side_letter(side), uplo_letter(uplo), m, n, alpha, a, lda, b, ldb, \
                            beta, c, ldc)))                                                                            \
      return success;                                                                                                  \
    return symbol.pass_on<Status>(handle, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                      \
  }
#define VERNIER_RANK_K(NAME, ROUTINE, TYPE, INT)                                                                       \
  VERNIER_SYMBOL NAME(Handle handle, int uplo, int op, INT n, INT k, const void* alpha, const void* a, INT lda,        \
                      const void* beta, void* c, INT ldc) {                                                            \
    VERNIER_STATE(NAME);                                                                                               \
    if (take(symbol, handle,                                                                                           \
             update_call(Routine::ROUTINE, TYPE, uplo_letter(uplo), op_letter(op, TYPE), n, k, alpha, a, lda, nullptr, \
                         0, beta, c, ldc)))                                                                            \
      return success;                                                                                                  \
    return symbol.pass_on<Status>(handle, uplo, op, n, k, alpha, a, lda, beta, c, ldc);                                \
  }
#define VERNIER_RANK_K_TYPED(NAME, ROUTINE, INT)                                                                      \
  VERNIER_SYMBOL NAME(Handle handle, int uplo, int op, INT n, INT k, const void* alpha, const void* a, int type_a,    \
                      INT lda, const void* beta, void* c, int type_c, INT ldc) {                                      \
    VERNIER_STATE(NAME);                                                                                              \
    if (take_typed(symbol, handle, type_a, type_c,                                                                    \
                   update_call(Routine::ROUTINE, VERNIER_C, uplo_letter(uplo), op_letter(op, VERNIER_C), n, k, alpha, \
                               a, lda, nullptr, 0, beta, c, ldc)))                                                    \
      return success;                                                                                                 \
    return symbol.pass_on<Status>(handle, uplo, op, n, k, alpha, a, type_a, lda, beta, c, type_c, ldc);               \
  }
#define VERNIER_RANK_2K(NAME, ROUTINE, TYPE, INT)                                                                     \
  VERNIER_SYMBOL NAME(Handle handle, int uplo, int op, INT n, INT k, const void* alpha, const void* a, INT lda,       \
                      const void* b, INT ldb, const void* beta, void* c, INT ldc) {                                   \
    VERNIER_STATE(NAME);                                                                                              \
    if (take(symbol, handle,                                                                                          \
             update_call(Routine::ROUTINE, TYPE, uplo_letter(uplo), op_letter(op, TYPE), n, k, alpha, a, lda, b, ldb, \
                         beta, c, ldc)))                                                                              \
      return success;                                                                                                 \
    return symbol.pass_on<Status>(handle, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                       \
  }
#define VERNIER_TRSM(NAME, TYPE, INT)                                                                        \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, int op, int diag, INT m, INT n, const void* alpha,  \
                      const void* a, INT lda, void* b, INT ldb) {                                            \
    VERNIER_STATE(NAME);                                                                                     \
    if (take(symbol, handle,                                                                                 \
             triangular_call(Routine::trsm, TYPE, side_letter(side), uplo_letter(uplo), op_letter(op, TYPE), \
                             diag_letter(diag), m, n, alpha, a, lda, nullptr, 0, b, ldb)))                   \
      return success;                                                                                        \
    return symbol.pass_on<Status>(handle, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);                \
  }
#define VERNIER_TRMM(NAME, TYPE, INT)                                                                        \
  VERNIER_SYMBOL NAME(Handle handle, int side, int uplo, int op, int diag, INT m, INT n, const void* alpha,  \
                      const void* a, INT lda, const void* b, INT ldb, void* c, INT ldc) {                    \
    VERNIER_STATE(NAME);                                                                                     \
    if (take(symbol, handle,                                                                                 \
             triangular_call(Routine::trmm, TYPE, side_letter(side), uplo_letter(uplo), op_letter(op, TYPE), \
                             diag_letter(diag), m, n, alpha, a, lda, b, ldb, c, ldc)))                       \
      return success;                                                                                        \
    return symbol.pass_on<Status>(handle, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, c, ldc);        \
  }

#define VERNIER_REAL_AND_COMPLEX(P, TYPE, SUFFIX, INT)           \
  VERNIER_SYMM(cublas##P##symm_v2##SUFFIX, symm, TYPE, INT)      \
  VERNIER_RANK_K(cublas##P##syrk_v2##SUFFIX, syrk, TYPE, INT)    \
  VERNIER_RANK_2K(cublas##P##syr2k_v2##SUFFIX, syr2k, TYPE, INT) \
  VERNIER_RANK_2K(cublas##P##syrkx##SUFFIX, syrkx, TYPE, INT)    \
  VERNIER_TRSM(cublas##P##trsm_v2##SUFFIX, TYPE, INT)            \
  VERNIER_TRMM(cublas##P##trmm_v2##SUFFIX, TYPE, INT)
#define VERNIER_COMPLEX(P, TYPE, SUFFIX, INT)                    \
  VERNIER_SYMM(cublas##P##hemm_v2##SUFFIX, hemm, TYPE, INT)      \
  VERNIER_RANK_K(cublas##P##herk_v2##SUFFIX, herk, TYPE, INT)    \
  VERNIER_RANK_2K(cublas##P##her2k_v2##SUFFIX, her2k, TYPE, INT) \
  VERNIER_RANK_2K(cublas##P##herkx##SUFFIX, herkx, TYPE, INT)
#define VERNIER_ALL(SUFFIX, INT)                           \
  VERNIER_REAL_AND_COMPLEX(S, VERNIER_S, SUFFIX, INT)      \
  VERNIER_REAL_AND_COMPLEX(D, VERNIER_D, SUFFIX, INT)      \
  VERNIER_REAL_AND_COMPLEX(C, VERNIER_C, SUFFIX, INT)      \
  VERNIER_REAL_AND_COMPLEX(Z, VERNIER_Z, SUFFIX, INT)      \
  VERNIER_COMPLEX(C, VERNIER_C, SUFFIX, INT)               \
  VERNIER_COMPLEX(Z, VERNIER_Z, SUFFIX, INT)               \
  VERNIER_RANK_K_TYPED(cublasCsyrkEx##SUFFIX, syrk, INT)   \
  VERNIER_RANK_K_TYPED(cublasCsyrk3mEx##SUFFIX, syrk, INT) \
  VERNIER_RANK_K_TYPED(cublasCherkEx##SUFFIX, herk, INT)   \
  VERNIER_RANK_K_TYPED(cublasCherk3mEx##SUFFIX, herk, INT)

VERNIER_ALL(, int)
VERNIER_ALL(_64, std::int64_t)
