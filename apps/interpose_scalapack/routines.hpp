// The routines of PBLAS that are taken over, as distributed products.
#pragma once

#include "parallel_symbol.hpp"

namespace vernier::interpose {

// A matrix argument: entries, first row and column (from 1), descriptor.
struct Argument {
  void* data;
  const int *i, *j, *descriptor;
};

bool is_zero(vernier_type type, const void* factor);

// A number in the type; the real and imaginary parts of complex ones.
struct Constant {
  alignas(16) unsigned char bytes[16] = {};
};
Constant constant(vernier_type type, double value);

// Each returns false, with nothing written, where the call is to be passed on in blocks of that depth.
struct Taken {
  bool done = false;
  int depth = 0;
};
Taken take_gemm(ParallelSymbol& symbol, char opa, char opb, int m, int n, int k, const void* alpha, const Argument& a,
                const Argument& b, const void* beta, const Argument& c);
// conjugated: herk, whose factors are real
Taken take_rank_k(ParallelSymbol& symbol, bool conjugated, char uplo, char op, int n, int k, const void* alpha,
                  const Argument& a, const void* beta, const Argument& c);
Taken take_symmetric(ParallelSymbol& symbol, bool conjugated, char side, char uplo, int m, int n, const void* alpha,
                     const Argument& a, const Argument& b, const void* beta, const Argument& c);
Taken take_triangular(ParallelSymbol& symbol, char side, char uplo, char op, char diag, int m, int n, const void* alpha,
                      const Argument& a, const Argument& b);

}  // namespace vernier::interpose
