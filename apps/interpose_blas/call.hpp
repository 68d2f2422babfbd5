// One level-3 call, whatever interface it came through: column-major, letters of the BLAS, sizes of 64 bits.
#pragma once

#include <vernier/vernier.h>

#include <cstdint>

namespace vernier::interpose {

enum class Routine { gemm, symm, hemm, syrk, herk, syr2k, her2k, trmm, trsm, gemmt };

// A letter that is none of the BLAS is 0. What a routine does not have stays as it is here.
struct Call {
  Routine routine;
  vernier_type type;
  char side = 'L', uplo = 'L', opa = 'N', opb = 'N', diag = 'N';
  std::int64_t m = 0, n = 0, k = 0;  // the triangular or symmetric matrix of symm, trmm and trsm has order k
  const void* alpha = nullptr;
  const void* a = nullptr;
  std::int64_t lda = 0;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  const void* beta = nullptr;
  void* c = nullptr;  // the output, which is B for trmm and trsm
  std::int64_t ldc = 0;
};

const char* name(Routine routine);

// Would the reference BLAS find no fault with it?
bool valid(const Call& call);

// Is there nothing to multiply: an empty matrix, or alpha = 0?
bool trivial(const Call& call);

}  // namespace vernier::interpose
