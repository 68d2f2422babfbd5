// p?trsm: the triangle is halved down to blocks, which the library underneath solves; what lies between is products.
#pragma once

#include "routines.hpp"

namespace vernier::interpose {

struct SolveCall {
  vernier_type type;
  char side, uplo, op, diag;
  int m, n;
  const void* alpha;
  Argument a, b;
};

// p?gemm_ and p?trsm_ of the type, with the arguments of PBLAS; solve: the one underneath.
using ParallelGemm = void (*)(const char* opa, const char* opb, const int* m, const int* n, const int* k,
                              const void* alpha, void* a, const int* ia, const int* ja, const int* da, void* b,
                              const int* ib, const int* jb, const int* db, const void* beta, void* c, const int* ic,
                              const int* jc, const int* dc);
using ParallelSolve = void (*)(const char* side, const char* uplo, const char* op, const char* diag, const int* m,
                               const int* n, const void* alpha, void* a, const int* ia, const int* ja, const int* da,
                               void* b, const int* ib, const int* jb, const int* db);

// False, with nothing done, where the library underneath is to have the whole call.
bool take_solve(ParallelSymbol& symbol, const SolveCall& call, ParallelGemm multiply, ParallelSolve solve);

}  // namespace vernier::interpose
