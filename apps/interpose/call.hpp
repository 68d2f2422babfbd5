// One level-3 call, whatever interface of BLAS, CBLAS or cuBLAS it came through: column-major, letters of the BLAS,
// sizes of 64 bits.
#pragma once

#include <vernier/vernier.h>

#include <cstddef>
#include <cstdint>

namespace vernier::interpose {

enum class Routine { gemm, symm, hemm, syrk, herk, syr2k, her2k, trmm, trsm, gemmt, syrkx, herkx };
inline constexpr int routine_count = 12;

// A letter that is none of the BLAS is 0. What a routine does not have stays as it is here.
struct Call {
  Routine routine;
  vernier_type type;
  char side = 'L', uplo = 'L', opa = 'N', opb = 'N', diag = 'N';
  std::int64_t m = 0, n = 0, k = 0;  // the triangular or symmetric matrix of symm, trmm and trsm has order k
  const void* alpha = nullptr;
  const void* a = nullptr;
  std::int64_t lda = 0;
  const void* b = nullptr;  // of trmm only where the output is not B itself
  std::int64_t ldb = 0;
  const void* beta = nullptr;
  void* c = nullptr;  // the output, which is B for trmm and trsm
  std::int64_t ldc = 0;

  // What only cuBLAS has.
  enum class Batch { none, strided, addresses };
  Batch batch = Batch::none;  // a, b and c: the first matrices, or arrays of addresses in device memory
  std::int64_t count = 1, stride_a = 0, stride_b = 0, stride_c = 0;
  void* stream = nullptr;
  void* workspace = nullptr;  // the program's own, in device memory
  std::size_t workspace_bytes = 0;
  bool device_factors = false;  // alpha and beta are in device memory: not to be read
};

const char* name(Routine routine);

// Would the reference BLAS find no fault with it?
bool valid(const Call& call);

// Is there nothing to multiply: an empty matrix, or alpha = 0?
bool trivial(const Call& call);

}  // namespace vernier::interpose
