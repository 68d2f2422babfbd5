// The Fortran symbols of level 3: dgemm_ with integers of 32 bits, dgemm_64_ with 64; the same of the OpenBLAS in the
// wheels of NumPy and SciPy, scipy_dgemm_ and scipy_dgemm_64_.
//
// Callers may append the lengths of character arguments; they are not read, and passed on as 1 each.
#include "level3_calls.hpp"
#include "symbol.hpp"

namespace vernier::interpose {
namespace {

constexpr std::size_t one = 1;

char letter(const char* given, const char* allowed) {
  const char upper = static_cast<char>(*given >= 'a' && *given <= 'z' ? *given - 'a' + 'A' : *given);
  for (const char* c = allowed; *c != '\0'; ++c)
    if (*c == upper) return upper;
  return 0;
}

// For real types C means T.
char op_letter(const char* given, vernier_type type) {
  const char op = letter(given, "NTC");
  return op == 'C' && (type == VERNIER_S || type == VERNIER_D) ? 'T' : op;
}

template <class Int>
Call product(vernier_type type, const char* opa, const char* opb, const Int* m, const Int* n, const Int* k,
             const void* alpha, const void* a, const Int* lda, const void* b, const Int* ldb, const void* beta, void* c,
             const Int* ldc) {
  return {.routine = Routine::gemm,
          .type = type,
          .opa = op_letter(opa, type),
          .opb = op_letter(opb, type),
          .m = *m,
          .n = *n,
          .k = *k,
          .alpha = alpha,
          .a = a,
          .lda = *lda,
          .b = b,
          .ldb = *ldb,
          .beta = beta,
          .c = c,
          .ldc = *ldc};
}

template <class Int>
[[gnu::noinline]] void gemm(Symbol& symbol, vernier_type type, const char* opa, const char* opb, const Int* m,
                            const Int* n, const Int* k, const void* alpha, const void* a, const Int* lda, const void* b,
                            const Int* ldb, const void* beta, void* c, const Int* ldc) {
  const auto make = [&] { return product(type, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); };
  if (!symbol.take(*m, *n, *k, make)) symbol.pass_on(opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, one, one);
}

template <class Int>
void gemmt(Symbol& symbol, vernier_type type, const char* uplo, const char* opa, const char* opb, const Int* n,
           const Int* k, const void* alpha, const void* a, const Int* lda, const void* b, const Int* ldb,
           const void* beta, void* c, const Int* ldc) {
  const auto make = [&] {
    Call call = product(type, opa, opb, n, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    call.routine = Routine::gemmt;
    call.uplo = letter(uplo, "LU");
    return call;
  };
  if (!symbol.take(*n, *n, *k, make))
    symbol.pass_on(uplo, opa, opb, n, k, alpha, a, lda, b, ldb, beta, c, ldc, one, one, one);
}

template <class Int>
void symm(Symbol& symbol, Routine routine, vernier_type type, const char* side, const char* uplo, const Int* m,
          const Int* n, const void* alpha, const void* a, const Int* lda, const void* b, const Int* ldb,
          const void* beta, void* c, const Int* ldc) {
  const Call call = symmetric_call(routine, type, letter(side, "LR"), letter(uplo, "LU"), *m, *n, alpha, a, *lda, b,
                                   *ldb, beta, c, *ldc);
  if (!symbol.take(call)) symbol.pass_on(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, one, one);
}

template <class Int>
void rank_k(Symbol& symbol, Routine routine, vernier_type type, const char* uplo, const char* op, const Int* n,
            const Int* k, const void* alpha, const void* a, const Int* lda, const void* beta, void* c, const Int* ldc) {
  const auto call = [&] {
    return update_call(routine, type, letter(uplo, "LU"), op_letter(op, type), *n, *k, alpha, a, *lda, nullptr, 0, beta,
                       c, *ldc);
  };
  if (!symbol.take(*n, *n, *k, call)) symbol.pass_on(uplo, op, n, k, alpha, a, lda, beta, c, ldc, one, one);
}

template <class Int>
void rank_2k(Symbol& symbol, Routine routine, vernier_type type, const char* uplo, const char* op, const Int* n,
             const Int* k, const void* alpha, const void* a, const Int* lda, const void* b, const Int* ldb,
             const void* beta, void* c, const Int* ldc) {
  const auto call = [&] {
    return update_call(routine, type, letter(uplo, "LU"), op_letter(op, type), *n, *k, alpha, a, *lda, b, *ldb, beta, c,
                       *ldc);
  };
  if (!symbol.take(*n, *n, *k, call)) symbol.pass_on(uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, one, one);
}

template <class Int>
void triangular(Symbol& symbol, Routine routine, vernier_type type, const char* side, const char* uplo, const char* op,
                const char* diag, const Int* m, const Int* n, const void* alpha, const void* a, const Int* lda, void* b,
                const Int* ldb) {
  const Call call = triangular_call(routine, type, letter(side, "LR"), letter(uplo, "LU"), op_letter(op, type),
                                    letter(diag, "NU"), *m, *n, alpha, a, *lda, nullptr, 0, b, *ldb);
  if (!symbol.take(call)) symbol.pass_on(side, uplo, op, diag, m, n, alpha, a, lda, b, ldb, one, one, one, one);
}

}  // namespace
}  // namespace vernier::interpose

using namespace vernier::interpose;

#define VERNIER_SYMBOL extern "C" __attribute__((visibility("default"))) void
#define VERNIER_STATE(NAME) static constinit Symbol symbol(#NAME)

#define VERNIER_GEMM(NAME, TYPE, INT)                                                                                \
  VERNIER_SYMBOL NAME(const char* opa, const char* opb, const INT* m, const INT* n, const INT* k, const void* alpha, \
                      const void* a, const INT* lda, const void* b, const INT* ldb, const void* beta, void* c,       \
                      const INT* ldc) {                                                                              \
    VERNIER_STATE(NAME);                                                                                             \
    const auto product = [&] {                                                                                       \
      return Product{TYPE, op_letter(opa, TYPE), op_letter(opb, TYPE), *m, *n, *k, *lda, *ldb, *ldc};                \
    };                                                                                                               \
    if (symbol.goes_on_at_once(*m, *n, *k, product))                                                                 \
      return symbol.go_on(opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, one, one);                         \
    gemm(symbol, TYPE, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                      \
  }
#define VERNIER_GEMMT(NAME, TYPE, INT)                                                                 \
  VERNIER_SYMBOL NAME(const char* uplo, const char* opa, const char* opb, const INT* n, const INT* k,  \
                      const void* alpha, const void* a, const INT* lda, const void* b, const INT* ldb, \
                      const void* beta, void* c, const INT* ldc) {                                     \
    VERNIER_STATE(NAME);                                                                               \
    gemmt(symbol, TYPE, uplo, opa, opb, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                    \
  }
#define VERNIER_SYMM(NAME, ROUTINE, TYPE, INT)                                                                 \
  VERNIER_SYMBOL NAME(const char* side, const char* uplo, const INT* m, const INT* n, const void* alpha,       \
                      const void* a, const INT* lda, const void* b, const INT* ldb, const void* beta, void* c, \
                      const INT* ldc) {                                                                        \
    VERNIER_STATE(NAME);                                                                                       \
    symm(symbol, Routine::ROUTINE, TYPE, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);               \
  }
#define VERNIER_RANK_K(NAME, ROUTINE, TYPE, INT)                                                                      \
  VERNIER_SYMBOL NAME(const char* uplo, const char* op, const INT* n, const INT* k, const void* alpha, const void* a, \
                      const INT* lda, const void* beta, void* c, const INT* ldc) {                                    \
    VERNIER_STATE(NAME);                                                                                              \
    rank_k(symbol, Routine::ROUTINE, TYPE, uplo, op, n, k, alpha, a, lda, beta, c, ldc);                              \
  }
#define VERNIER_RANK_2K(NAME, ROUTINE, TYPE, INT)                                                                     \
  VERNIER_SYMBOL NAME(const char* uplo, const char* op, const INT* n, const INT* k, const void* alpha, const void* a, \
                      const INT* lda, const void* b, const INT* ldb, const void* beta, void* c, const INT* ldc) {     \
    VERNIER_STATE(NAME);                                                                                              \
    rank_2k(symbol, Routine::ROUTINE, TYPE, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                     \
  }
#define VERNIER_TRIANGULAR(NAME, ROUTINE, TYPE, INT)                                                             \
  VERNIER_SYMBOL NAME(const char* side, const char* uplo, const char* op, const char* diag, const INT* m,        \
                      const INT* n, const void* alpha, const void* a, const INT* lda, void* b, const INT* ldb) { \
    VERNIER_STATE(NAME);                                                                                         \
    triangular(symbol, Routine::ROUTINE, TYPE, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);               \
  }

#define VERNIER_REAL_AND_COMPLEX(P, TYPE, SUFFIX, INT) \
  VERNIER_GEMM(P##gemm##SUFFIX, TYPE, INT)             \
  VERNIER_GEMMT(P##gemmt##SUFFIX, TYPE, INT)           \
  VERNIER_SYMM(P##symm##SUFFIX, symm, TYPE, INT)       \
  VERNIER_RANK_K(P##syrk##SUFFIX, syrk, TYPE, INT)     \
  VERNIER_RANK_2K(P##syr2k##SUFFIX, syr2k, TYPE, INT)  \
  VERNIER_TRIANGULAR(P##trmm##SUFFIX, trmm, TYPE, INT) \
  VERNIER_TRIANGULAR(P##trsm##SUFFIX, trsm, TYPE, INT)
#define VERNIER_COMPLEX(P, TYPE, SUFFIX, INT)      \
  VERNIER_SYMM(P##hemm##SUFFIX, hemm, TYPE, INT)   \
  VERNIER_RANK_K(P##herk##SUFFIX, herk, TYPE, INT) \
  VERNIER_RANK_2K(P##her2k##SUFFIX, her2k, TYPE, INT)
#define VERNIER_ALL(PREFIX, SUFFIX, INT)                      \
  VERNIER_REAL_AND_COMPLEX(PREFIX##s, VERNIER_S, SUFFIX, INT) \
  VERNIER_REAL_AND_COMPLEX(PREFIX##d, VERNIER_D, SUFFIX, INT) \
  VERNIER_REAL_AND_COMPLEX(PREFIX##c, VERNIER_C, SUFFIX, INT) \
  VERNIER_REAL_AND_COMPLEX(PREFIX##z, VERNIER_Z, SUFFIX, INT) \
  VERNIER_COMPLEX(PREFIX##c, VERNIER_C, SUFFIX, INT)          \
  VERNIER_COMPLEX(PREFIX##z, VERNIER_Z, SUFFIX, INT)

VERNIER_ALL(, _, std::int32_t)
VERNIER_ALL(, _64_, std::int64_t)
VERNIER_ALL(scipy_, _, std::int32_t)
VERNIER_ALL(scipy_, _64_, std::int64_t)
