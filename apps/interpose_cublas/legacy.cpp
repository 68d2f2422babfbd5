// Level 3 of cuBLAS's first interface (cublas.h): letters as in the BLAS, factors by value, no handle. Its calls run on
// the default stream until cublasSetKernelStream names another; for which threads and devices that holds cannot be
// asked, so that from then on all of them are passed on.
#include <atomic>
#include <cctype>

#include "entry.hpp"
#include "level3_calls.hpp"

namespace vernier::interpose::cublas {
namespace {

std::atomic<bool> other_stream{false};

// As cuBLAS's complex numbers are passed.
struct alignas(8) ComplexFloat {
  float re, im;
};
struct alignas(16) ComplexDouble {
  double re, im;
};

char letter(char given, const char* known) {
  const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(given)));
  for (; *known != 0; ++known)
    if (*known == upper) return upper;
  return 0;
}
char side_of(char given) { return letter(given, "LR"); }
char uplo_of(char given) { return letter(given, "LU"); }
char diag_of(char given) { return letter(given, "NU"); }
char op_of(char given, vernier_type type) {
  const char op = letter(given, "NTC");
  return op == 'C' && !complex_type(type) ? 'T' : op;
}

bool take(Symbol& symbol, const Call& call) {
  if (!symbol.concerns(call.m, call.n, call.k)) return false;
  return other_stream ? symbol.refuse(call, Reason::mode) : symbol.offer(call);
}

}  // namespace
}  // namespace vernier::interpose::cublas

using namespace vernier::interpose;
using namespace vernier::interpose::cublas;

#define VERNIER_LEGACY_GEMM(NAME, TYPE, T)                                                                         \
  VERNIER_ENTRY void NAME(char opa, char opb, int m, int n, int k, T alpha, const void* a, int lda, const void* b, \
                          int ldb, T beta, void* c, int ldc) {                                                     \
    VERNIER_STATE(NAME);                                                                                           \
    if (!take(symbol, {.routine = Routine::gemm,                                                                   \
                       .type = TYPE,                                                                               \
                       .opa = op_of(opa, TYPE),                                                                    \
                       .opb = op_of(opb, TYPE),                                                                    \
                       .m = m,                                                                                     \
                       .n = n,                                                                                     \
                       .k = k,                                                                                     \
                       .alpha = &alpha,                                                                            \
                       .a = a,                                                                                     \
                       .lda = lda,                                                                                 \
                       .b = b,                                                                                     \
                       .ldb = ldb,                                                                                 \
                       .beta = &beta,                                                                              \
                       .c = c,                                                                                     \
                       .ldc = ldc}))                                                                               \
      symbol.pass_on(opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                      \
  }
#define VERNIER_LEGACY_SYMM(NAME, ROUTINE, TYPE, T)                                                                    \
  VERNIER_ENTRY void NAME(char side, char uplo, int m, int n, T alpha, const void* a, int lda, const void* b, int ldb, \
                          T beta, void* c, int ldc) {                                                                  \
    VERNIER_STATE(NAME);                                                                                               \
    if (!take(symbol, symmetric_call(Routine::ROUTINE, TYPE, side_of(side), uplo_of(uplo), m, n, &alpha, a, lda, b,    \
                                     ldb, &beta, c, ldc)))                                                             \
      symbol.pass_on(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                                           \
  }
#define VERNIER_LEGACY_RANK_K(NAME, ROUTINE, TYPE, T)                                                           \
  VERNIER_ENTRY void NAME(char uplo, char op, int n, int k, T alpha, const void* a, int lda, T beta, void* c,   \
                          int ldc) {                                                                            \
    VERNIER_STATE(NAME);                                                                                        \
    if (!take(symbol, update_call(Routine::ROUTINE, TYPE, uplo_of(uplo), op_of(op, TYPE), n, k, &alpha, a, lda, \
                                  nullptr, 0, &beta, c, ldc)))                                                  \
      symbol.pass_on(uplo, op, n, k, alpha, a, lda, beta, c, ldc);                                              \
  }
#define VERNIER_LEGACY_RANK_2K(NAME, ROUTINE, TYPE, ALPHA, BETA)                                                   \
  VERNIER_ENTRY void NAME(char uplo, char op, int n, int k, ALPHA alpha, const void* a, int lda, const void* b,    \
                          int ldb, BETA beta, void* c, int ldc) {                                                  \
    VERNIER_STATE(NAME);                                                                                           \
    if (!take(symbol, update_call(Routine::ROUTINE, TYPE, uplo_of(uplo), op_of(op, TYPE), n, k, &alpha, a, lda, b, \
                                  ldb, &beta, c, ldc)))                                                            \
      symbol.pass_on(uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                         \
  }
#define VERNIER_LEGACY_TRIANGULAR(NAME, ROUTINE, TYPE, T)                                                          \
  VERNIER_ENTRY void NAME(char side, char uplo, char op, char diag, int m, int n, T alpha, const void* a, int lda, \
                          void* b, int ldb) {                                                                      \
    VERNIER_STATE(NAME);                                                                                           \
    const void* operand = Routine::ROUTINE == Routine::trmm ? b : nullptr;                                         \
    if (!take(symbol, triangular_call(Routine::ROUTINE, TYPE, side_of(side), uplo_of(uplo), op_of(op, TYPE),       \
                                      diag_of(diag), m, n, &alpha, a, lda, operand, ldb, b, ldb)))                 \
      symbol.pass_on(side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);                                           \
  }

#define VERNIER_LEGACY(P, TYPE, T)                            \
  VERNIER_LEGACY_GEMM(cublas##P##gemm, TYPE, T)               \
  VERNIER_LEGACY_SYMM(cublas##P##symm, symm, TYPE, T)         \
  VERNIER_LEGACY_RANK_K(cublas##P##syrk, syrk, TYPE, T)       \
  VERNIER_LEGACY_RANK_2K(cublas##P##syr2k, syr2k, TYPE, T, T) \
  VERNIER_LEGACY_TRIANGULAR(cublas##P##trmm, trmm, TYPE, T)   \
  VERNIER_LEGACY_TRIANGULAR(cublas##P##trsm, trsm, TYPE, T)
#define VERNIER_LEGACY_COMPLEX(P, TYPE, T, REAL)           \
  VERNIER_LEGACY_SYMM(cublas##P##hemm, hemm, TYPE, T)      \
  VERNIER_LEGACY_RANK_K(cublas##P##herk, herk, TYPE, REAL) \
  VERNIER_LEGACY_RANK_2K(cublas##P##her2k, her2k, TYPE, T, REAL)

VERNIER_LEGACY(S, VERNIER_S, float)
VERNIER_LEGACY(D, VERNIER_D, double)
VERNIER_LEGACY(C, VERNIER_C, ComplexFloat)
VERNIER_LEGACY(Z, VERNIER_Z, ComplexDouble)
VERNIER_LEGACY_COMPLEX(C, VERNIER_C, ComplexFloat, float)
VERNIER_LEGACY_COMPLEX(Z, VERNIER_Z, ComplexDouble, double)

VERNIER_SYMBOL cublasSetKernelStream(void* stream) {
  VERNIER_STATE(cublasSetKernelStream);
  if (stream != nullptr) other_stream = true;
  return symbol.pass_on<Status>(stream);
}
