// Linear systems on matrix engines: LU and Cholesky factorisations, and a solver that certifies what it returns.
//
//     std::vector<std::int64_t> pivots(n);
//     if (vernier::getrf(n, n, A, lda, pivots.data()) == 0) vernier::getrs(Op::none, n, 1, A, lda, pivots.data(), B,
//     ldb);
//
// Conventions are those of vernier.hpp: column-major, int64, Error before anything is written.
#pragma once

#include "vernier/vernier.hpp"

namespace vernier {

enum class Uplo : char { upper = 'U', lower = 'L' };

// ---- factorisations ------------------------------------------------------------------------------------------------
//
// As the LAPACK routines of the same names, for float and double. The large products inside keep options.contract, as
// gemm does; the small ones and the triangles of diagonal blocks are those of the BLAS underneath. With a reproducible
// contract nothing is left to that, and the factors have the same bits on every machine.
//
// What is returned is LAPACK's info: 0, or i > 0 (counted from 1) where
//   getrf, gesv    U(i, i) is exactly zero; the factorisation is complete, but nothing is solved with it
//   potrf, posv    the leading minor of order i is not positive (or holds a NaN); the factorisation stopped there
// NaN and infinities spread as they do in LAPACK and never keep a routine from returning. options.progress is not
// called. Where a product inside throws (out_of_memory; bound_not_met with Fallback::none), A is left half factorised.

// P A = L U with partial pivoting, A m x n; row i was exchanged with row pivots[i], counted from 1, i < min(m, n).
template <class T>
[[nodiscard]] VERNIER_API std::int64_t getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda,
                                             std::int64_t* pivots,
                                             const Options& options = Options{.contract = default_contract<T>()});

// op(A) X = B with the factors of getrf; B is n x nrhs and becomes X.
template <class T>
VERNIER_API void getrs(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda,
                       const std::int64_t* pivots, T* B, std::int64_t ldb,
                       const Options& options = Options{.contract = default_contract<T>()});

// getrf and, if info = 0, getrs.
template <class T>
[[nodiscard]] VERNIER_API std::int64_t gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda,
                                            std::int64_t* pivots, T* B, std::int64_t ldb,
                                            const Options& options = Options{.contract = default_contract<T>()});

// A = U^T U or A = L L^T of a symmetric positive definite A, of which one triangle is read and overwritten.
template <class T>
[[nodiscard]] VERNIER_API std::int64_t potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda,
                                             const Options& options = Options{.contract = default_contract<T>()});

// A X = B with the factor of potrf.
template <class T>
VERNIER_API void potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, T* B,
                       std::int64_t ldb, const Options& options = Options{.contract = default_contract<T>()});

// potrf and, if info = 0, potrs.
template <class T>
[[nodiscard]] VERNIER_API std::int64_t posv(Uplo uplo, std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, T* B,
                                            std::int64_t ldb,
                                            const Options& options = Options{.contract = default_contract<T>()});

}  // namespace vernier
