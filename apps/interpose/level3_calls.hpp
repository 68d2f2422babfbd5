// The level-3 routines as Calls, in letters of the BLAS.
#pragma once

#include "call.hpp"

namespace vernier::interpose {

inline Call symmetric_call(Routine routine, vernier_type type, char side, char uplo, std::int64_t m, std::int64_t n,
                           const void* alpha, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                           const void* beta, void* c, std::int64_t ldc) {
  return {.routine = routine,
          .type = type,
          .side = side,
          .uplo = uplo,
          .m = m,
          .n = n,
          .k = side == 'R' ? n : m,
          .alpha = alpha,
          .a = a,
          .lda = lda,
          .b = b,
          .ldb = ldb,
          .beta = beta,
          .c = c,
          .ldc = ldc};
}

// Of one matrix (b null) or of two.
inline Call update_call(Routine routine, vernier_type type, char uplo, char op, std::int64_t n, std::int64_t k,
                        const void* alpha, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                        const void* beta, void* c, std::int64_t ldc) {
  Call call = symmetric_call(routine, type, 'L', uplo, n, n, alpha, a, lda, b, ldb, beta, c, ldc);
  call.opa = op;
  call.k = k;
  return call;
}

// B is null where the right-hand sides are C.
inline Call triangular_call(Routine routine, vernier_type type, char side, char uplo, char op, char diag,
                            std::int64_t m, std::int64_t n, const void* alpha, const void* a, std::int64_t lda,
                            const void* b, std::int64_t ldb, void* c, std::int64_t ldc) {
  Call call = symmetric_call(routine, type, side, uplo, m, n, alpha, a, lda, b, ldb, nullptr, c, ldc);
  call.opa = op;
  call.diag = diag;
  return call;
}

}  // namespace vernier::interpose
