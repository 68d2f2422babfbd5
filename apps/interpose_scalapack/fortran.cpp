// The symbols of PBLAS: psgemm_, pdgemm_, pcgemm_, pzgemm_ and their kin, with integers of 32 bits. PBLAS is written in
// C and takes letters without their lengths.
#include <complex>
#include <cstring>

#include "triangle.hpp"

namespace vernier::interpose {
namespace {

char letter(const char* given, const char* allowed) {
  const char upper = static_cast<char>(*given >= 'a' && *given <= 'z' ? *given - 'a' + 'A' : *given);
  return upper != '\0' && std::strchr(allowed, upper) != nullptr ? upper : '\0';
}

bool is_complex_type(vernier_type type) { return type == VERNIER_C || type == VERNIER_Z; }

// For real types C means T.
char op_letter(const char* given, vernier_type type) {
  const char op = letter(given, "NTC");
  return op == 'C' && !is_complex_type(type) ? 'T' : op;
}

}  // namespace

#define VERNIER_EXPORT extern "C" __attribute__((visibility("default"))) void

#define VERNIER_PGEMM(name, type)                                                                                    \
  VERNIER_EXPORT name(const char* opa, const char* opb, const int* m, const int* n, const int* k, const void* alpha, \
                      void* a, const int* ia, const int* ja, const int* da, void* b, const int* ib, const int* jb,   \
                      const int* db, const void* beta, void* c, const int* ic, const int* jc, const int* dc) {       \
    static constinit ParallelSymbol symbol(#name, type, Routine::gemm);                                              \
    const Taken taken = take_gemm(symbol, op_letter(opa, type), op_letter(opb, type), *m, *n, *k, alpha,             \
                                  {a, ia, ja, da}, {b, ib, jb, db}, beta, {c, ic, jc, dc});                          \
    if (!taken.done)                                                                                                 \
      symbol.pass_on(taken.depth, opa, opb, m, n, k, alpha, a, ia, ja, da, b, ib, jb, db, beta, c, ic, jc, dc);      \
  }
VERNIER_PGEMM(psgemm_, VERNIER_S)
VERNIER_PGEMM(pdgemm_, VERNIER_D)
VERNIER_PGEMM(pcgemm_, VERNIER_C)
VERNIER_PGEMM(pzgemm_, VERNIER_Z)

#define VERNIER_PRANK_K(name, type, routine, letters, Factor)                                                     \
  VERNIER_EXPORT name(const char* uplo, const char* op, const int* n, const int* k, const void* alpha, void* a,   \
                      const int* ia, const int* ja, const int* da, const void* beta, void* c, const int* ic,      \
                      const int* jc, const int* dc) {                                                             \
    static constinit ParallelSymbol symbol(#name, type, Routine::routine);                                        \
    const Factor own_alpha(*static_cast<const Factor::value_type*>(alpha)),                                       \
        own_beta(*static_cast<const Factor::value_type*>(beta));                                                  \
    constexpr bool real_factors = Routine::routine == Routine::herk;                                              \
    const Taken taken = take_rank_k(symbol, real_factors, letter(uplo, "UL"), letter(op, letters), *n, *k,        \
                                    real_factors ? static_cast<const void*>(&own_alpha) : alpha, {a, ia, ja, da}, \
                                    real_factors ? static_cast<const void*>(&own_beta) : beta, {c, ic, jc, dc});  \
    if (!taken.done) symbol.pass_on(taken.depth, uplo, op, n, k, alpha, a, ia, ja, da, beta, c, ic, jc, dc);      \
  }
VERNIER_PRANK_K(pssyrk_, VERNIER_S, syrk, "NTC", std::complex<float>)
VERNIER_PRANK_K(pdsyrk_, VERNIER_D, syrk, "NTC", std::complex<double>)
VERNIER_PRANK_K(pcsyrk_, VERNIER_C, syrk, "NT", std::complex<float>)
VERNIER_PRANK_K(pzsyrk_, VERNIER_Z, syrk, "NT", std::complex<double>)
VERNIER_PRANK_K(pcherk_, VERNIER_C, herk, "NC", std::complex<float>)
VERNIER_PRANK_K(pzherk_, VERNIER_Z, herk, "NC", std::complex<double>)

#define VERNIER_PSYMM(name, type, routine)                                                                        \
  VERNIER_EXPORT name(const char* side, const char* uplo, const int* m, const int* n, const void* alpha, void* a, \
                      const int* ia, const int* ja, const int* da, void* b, const int* ib, const int* jb,         \
                      const int* db, const void* beta, void* c, const int* ic, const int* jc, const int* dc) {    \
    static constinit ParallelSymbol symbol(#name, type, Routine::routine);                                        \
    const Taken taken =                                                                                           \
        take_symmetric(symbol, Routine::routine == Routine::hemm, letter(side, "LR"), letter(uplo, "UL"), *m, *n, \
                       alpha, {a, ia, ja, da}, {b, ib, jb, db}, beta, {c, ic, jc, dc});                           \
    if (!taken.done)                                                                                              \
      symbol.pass_on(taken.depth, side, uplo, m, n, alpha, a, ia, ja, da, b, ib, jb, db, beta, c, ic, jc, dc);    \
  }
VERNIER_PSYMM(pssymm_, VERNIER_S, symm)
VERNIER_PSYMM(pdsymm_, VERNIER_D, symm)
VERNIER_PSYMM(pcsymm_, VERNIER_C, symm)
VERNIER_PSYMM(pzsymm_, VERNIER_Z, symm)
VERNIER_PSYMM(pchemm_, VERNIER_C, hemm)
VERNIER_PSYMM(pzhemm_, VERNIER_Z, hemm)

#define VERNIER_PTRMM(name, type)                                                                                     \
  VERNIER_EXPORT name(const char* side, const char* uplo, const char* op, const char* diag, const int* m,             \
                      const int* n, const void* alpha, void* a, const int* ia, const int* ja, const int* da, void* b, \
                      const int* ib, const int* jb, const int* db) {                                                  \
    static constinit ParallelSymbol symbol(#name, type, Routine::trmm);                                               \
    const Taken taken = take_triangular(symbol, letter(side, "LR"), letter(uplo, "UL"), op_letter(op, type),          \
                                        letter(diag, "NU"), *m, *n, alpha, {a, ia, ja, da}, {b, ib, jb, db});         \
    if (!taken.done) symbol.pass_on(taken.depth, side, uplo, op, diag, m, n, alpha, a, ia, ja, da, b, ib, jb, db);    \
  }
VERNIER_PTRMM(pstrmm_, VERNIER_S)
VERNIER_PTRMM(pdtrmm_, VERNIER_D)
VERNIER_PTRMM(pctrmm_, VERNIER_C)
VERNIER_PTRMM(pztrmm_, VERNIER_Z)

#define VERNIER_PTRSM(name, type, multiply)                                                                           \
  VERNIER_EXPORT name(const char* side, const char* uplo, const char* op, const char* diag, const int* m,             \
                      const int* n, const void* alpha, void* a, const int* ia, const int* ja, const int* da, void* b, \
                      const int* ib, const int* jb, const int* db) {                                                  \
    static constinit ParallelSymbol symbol(#name, type, Routine::trsm);                                               \
    const SolveCall call{                                                                                             \
        type,  letter(side, "LR"), letter(uplo, "UL"), op_letter(op, type), letter(diag, "NU"), *m, *n,               \
        alpha, {a, ia, ja, da},    {b, ib, jb, db}};                                                                  \
    if (!take_solve(symbol, call, multiply, reinterpret_cast<ParallelSolve>(symbol.underneath())))                    \
      symbol.pass_on(0, side, uplo, op, diag, m, n, alpha, a, ia, ja, da, b, ib, jb, db);                             \
  }
VERNIER_PTRSM(pstrsm_, VERNIER_S, psgemm_)
VERNIER_PTRSM(pdtrsm_, VERNIER_D, pdgemm_)
VERNIER_PTRSM(pctrsm_, VERNIER_C, pcgemm_)
VERNIER_PTRSM(pztrsm_, VERNIER_Z, pzgemm_)

}  // namespace vernier::interpose
