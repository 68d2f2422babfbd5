// One level-3 call, whatever interface of BLAS, CBLAS or cuBLAS it came through: column-major, letters of the BLAS,
// sizes of 64 bits.
#pragma once

#include <vernier/vernier_cuda.h>

#include <cstddef>
#include <cstdint>

namespace vernier::interpose {

enum class Routine { gemm, symm, hemm, syrk, herk, syr2k, her2k, trmm, trsm, gemmt, syrkx, herkx };
inline constexpr int routine_count = 12;

// What cublasLtMatmul does to the product, by default nothing.
struct Epilogue {
  vernier_activation activation = VERNIER_ACTIVATION_NONE;
  bool gradient = false;       // of gelu: the product is multiplied by it, at what `auxiliary` holds
  const void* bias = nullptr;  // one number for each row
  void* auxiliary = nullptr;   // gets what the activation is applied to, but for a gradient
  std::int64_t ld_auxiliary = 0;
  enum class Sums { none, result, a, b };  // of the rows of the result or of op(A), of the columns of op(B)
  Sums sums_of = Sums::none;
  void* sums = nullptr;

  bool empty() const {
    return activation == VERNIER_ACTIVATION_NONE && !gradient && bias == nullptr && sums_of == Sums::none;
  }
};

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
  void* cublas = nullptr;     // the program's own handle, if it has one
  void* workspace = nullptr;  // the program's own, in device memory
  std::size_t workspace_bytes = 0;
  bool device_factors = false;  // alpha and beta are in device memory: not to be read
  const void* added = nullptr;  // in place of the output's content, which becomes a copy of it
  std::int64_t ld_added = 0;
  Epilogue epilogue = {};
};

// What of a gemm decides where it goes.
struct Product {
  vernier_type type;
  char opa, opb;
  std::int64_t m, n, k, lda, ldb, ldc;
};

const char* name(Routine routine);

inline bool holds(std::int64_t ld, std::int64_t rows) { return ld >= rows && ld >= 1; }
inline bool valid(const Product& p) {
  return p.m >= 0 && p.n >= 0 && p.k >= 0 && p.opa != 0 && p.opb != 0 && holds(p.lda, p.opa == 'N' ? p.m : p.k) &&
         holds(p.ldb, p.opb == 'N' ? p.k : p.n) && holds(p.ldc, p.m);
}

// Would the reference BLAS find no fault with it?
bool valid(const Call& call);

// Is there nothing to multiply: an empty matrix, or alpha = 0?
bool trivial(const Call& call);

}  // namespace vernier::interpose
