// Linear systems on matrix engines: LU and Cholesky factorisations, and a solver that certifies what it returns.
//
//     std::vector<std::int64_t> pivots(n);
//     if (vernier::getrf(n, n, A, lda, pivots.data()) == 0)
//       vernier::getrs(vernier::Op::none, n, 1, A, lda, pivots.data(), B, ldb);
//
// Conventions are those of vernier.hpp: column-major, int64, Error before anything is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/level3.hpp"  // Uplo

namespace vernier {

// ---- factorisations ------------------------------------------------------------------------------------------------
//
// As the LAPACK routines of the same names, for float, double and std::complex of these; potrf and its like take
// Hermitian matrices then (the imaginary parts of the diagonal are not read, and become 0). The large products inside
// keep options.contract, as gemm does; the small ones and the triangles of diagonal blocks are those of the BLAS
// underneath. With a reproducible contract nothing is left to that, and the factors have the same bits on every
// machine.
//
// What is returned is LAPACK's info: 0, or i > 0 (counted from 1) where
//   getrf, gesv    U(i, i) is exactly zero; the factorisation is complete, but nothing is solved with it
//   potrf, posv    the leading minor of order i is not positive (or holds a NaN); the factorisation stopped there
// Options::workspace does not serve here, and contract exact neither: both are errors. NaN and infinities spread as
// they do in LAPACK and never keep a routine from returning. options.progress is not called. Whatever is thrown, A and
// B are as they were (pivots are not). Contracts that the BLAS underneath keeps take it for a product whose memory
// cannot be had; others (reproducible, no-fallback, more bits than the type's) keep a copy of A and B.

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

// A = U^H U or A = L L^H of a Hermitian positive definite A, of which one triangle is read and overwritten.
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

// ---- a solver with a certificate -----------------------------------------------------------------------------------

// What the factors are kept in. The products of the factorisation take numbers of that precision and add them in fp32
// up to fp32, in fp64 for fp64. bf16 and fp16 are left-looking, with one block column of fp32 at a time.
enum class Factors {
  automatic,  // fp64 for small systems, else fp32
  bf16,       // half the memory of fp32, and its range
  fp16,       // half the memory of fp32
  fp32,
  fp64,
};

enum class Refinement {
  automatic,  // classical; where that is too slow, GMRES or the fallback, by the estimated condition
  classical,  // x += F^-1 (b - A x)
  gmres,      // the correction solves A d = b - A x by GMRES, preconditioned by the factors
};

struct VERNIER_API SolveOptions {
  Factors factors = Factors::automatic;
  Refinement refinement = Refinement::automatic;
  double tolerance = 0;              // of the backward error, below 1; 0: max(4, sqrt(n)) u of the data's type
  int max_iterations = 30;           // corrections of one right-hand side, 0 to 100000; GMRES: four times as many steps
  bool fallback = true;              // to fp64 factors, where coarser ones do not reach the tolerance
  bool condition = false;            // estimate the condition number; as forward_error, with fp64 factors where the
                                     // condition is beyond coarser ones, if fallback allows
  bool componentwise_error = false;  // measure max_i |b - A x|_i / (|A||x| + |b|)_i
  bool forward_error = false;        // estimate max |x - x^| / max |x|; an estimate, no bound
  std::optional<Contract> contract = {};  // of the products in the factorisation; none: fp32, or fp64 for fp64 factors
  // engine, threads and workspace of those; its contract is not read. products.progress is called as gemm does.
  Options products = {};
};

enum class Verdict {
  ok,               // every backward error is at most the tolerance
  above_tolerance,  // some are not: X is the best that was found, the report tells which column is how good
  singular,         // U(info, info) is exactly zero in fp64 factors; X was not written
  indefinite,       // of solve_definite: in fp64 the leading minor of order info is not positive; X was not written
  // as ok, but A is singular to working precision: its condition, as estimated, is 2^53 or more. X was written, and no
  // digit of it need be right. Seen with fp64 factors, which are what such a matrix is left with.
  ill_conditioned,
};

struct VERNIER_API SolveColumn {
  // max |b - A x| / (|A|_inf max |x| + max |b|) of the x that was written. Measured with residuals in twice the
  // precision of fp64, errors of the measurement included: an upper bound.
  double backward_error = 0;
  // -1: not asked for. Entries 2^1022 times smaller than the largest of A, or of b, may count as zeros in the first;
  // the second is infinite where the condition, as estimated, is above 1 / u of the factors, and none know better, and,
  // asked for or not, under the verdict ill_conditioned.
  double componentwise_error = -1, forward_error = -1;
  int corrections = 0, gmres_steps = 0;  // of all attempts
  bool ok = false;
};

struct VERNIER_API SolveReport {
  Verdict verdict = Verdict::ok;
  std::int64_t info = 0;  // as of getrf
  std::string type;       // "float", "double", "complex float" or "complex double"
  std::int64_t n = 0, nrhs = 0;
  Factors factors = Factors::automatic;  // those that the answer stands on
  bool gmres = false;                    // were some columns refined by GMRES?
  bool equilibrated = false;             // rows and columns scaled by powers of two
  bool fallback = false;                 // were coarser factors given up?
  std::string reason;                    // why; of matrices of the host on a GPU, where
  double tolerance = 0;
  // Estimate of |A|_inf |A^-1|_inf, too small beyond 1 / u of the factors; 0: none was needed. With fp64 factors it is
  // always there.
  double condition = 0;
  std::vector<SolveColumn> columns;
  double seconds = 0, seconds_factor = 0, seconds_refine = 0;  // wall clock; factor: conversion included

  double largest_backward_error() const;
  std::string text() const;  // a few lines for a person
  std::string json() const;  // one JSON object; infinite numbers are null
};

VERNIER_API const char* to_string(Factors factors);
VERNIER_API const char* to_string(Refinement refinement);
VERNIER_API const char* to_string(Verdict verdict);

// op(A) X = B by LU in low precision and refinement (Carson and Higham 2018), for float, double and std::complex of
// these, whose errors are those of complex numbers and their moduli; factors are then fp32 or fp64. A is n x n, B and X
// are n x nrhs; A and B are only read, and X may be B. Many right-hand sides (more than n / 32) begin with fp64
// factors.
//
// Every right-hand side is refined until its own backward error is at most the tolerance; verdict says whether all got
// there. A zero right-hand side has the solution zero. Rows and columns of very different size are scaled by powers of
// two first. Throws Error(invalid_argument) with X untouched where A or B hold a NaN or an infinity.
template <class T>
[[nodiscard]] VERNIER_API SolveReport solve(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda,
                                            const T* B, std::int64_t ldb, T* X, std::int64_t ldx,
                                            const SolveOptions& options = {});

}  // namespace vernier
