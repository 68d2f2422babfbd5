// Matrices of dd whose hi and lo lie in two arrays: the routines of quad.hpp for them.
#pragma once

#include "vernier/quad.hpp"

namespace vernier {

// hi and lo of one matrix, both of the leading dimension that the call names.
struct VERNIER_API DdArrays {
  double *hi = nullptr, *lo = nullptr;
};
struct VERNIER_API ConstDdArrays {
  const double *hi = nullptr, *lo = nullptr;
  constexpr ConstDdArrays() = default;
  constexpr ConstDdArrays(const double* high, const double* low) : hi(high), lo(low) {}
  constexpr ConstDdArrays(const DdArrays& x) : hi(x.hi), lo(x.lo) {}
};

// Each has the bits of its namesake for dd, and takes memory for one array of every matrix. Of C under syrk one
// triangle is written, of A under potrf that of uplo. Throws Error with the outputs untouched.
#define VERNIER_QUAD_ARRAYS                                                                                            \
  VERNIER_API QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,       \
                                   const ConstDdArrays& A, std::int64_t lda, const ConstDdArrays& B, std::int64_t ldb, \
                                   double beta, const DdArrays& C, std::int64_t ldc, const QuadOptions& options = {}); \
  VERNIER_API void quad_syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const ConstDdArrays& A,   \
                             std::int64_t lda, double beta, const DdArrays& C, std::int64_t ldc,                       \
                             const QuadOptions& options = {});                                                         \
  VERNIER_API void quad_trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, double alpha,     \
                             const ConstDdArrays& A, std::int64_t lda, const DdArrays& B, std::int64_t ldb,            \
                             const QuadOptions& options = {});                                                         \
  [[nodiscard]] VERNIER_API std::int64_t quad_getrf(std::int64_t m, std::int64_t n, const DdArrays& A,                 \
                                                    std::int64_t lda, std::int64_t* pivots,                            \
                                                    const QuadOptions& options = {});                                  \
  [[nodiscard]] VERNIER_API std::int64_t quad_potrf(Uplo uplo, std::int64_t n, const DdArrays& A, std::int64_t lda,    \
                                                    const QuadOptions& options = {});                                  \
  [[nodiscard]] VERNIER_API std::int64_t quad_gesv(std::int64_t n, std::int64_t nrhs, const DdArrays& A,               \
                                                   std::int64_t lda, std::int64_t* pivots, const DdArrays& B,          \
                                                   std::int64_t ldb, const QuadOptions& options = {});

VERNIER_QUAD_ARRAYS
[[nodiscard]] VERNIER_API QuadSolveReport quad_solve(std::int64_t n, std::int64_t nrhs, const ConstDdArrays& A,
                                                     std::int64_t lda, const ConstDdArrays& B, std::int64_t ldb,
                                                     const DdArrays& X, std::int64_t ldx,
                                                     const QuadOptions& options = {});

namespace cuda {  // of matrices in device memory

VERNIER_QUAD_ARRAYS

}  // namespace cuda

#undef VERNIER_QUAD_ARRAYS

}  // namespace vernier
