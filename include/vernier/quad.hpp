// Products beyond double: matrices of double-double (dd) and IEEE binary128, exact products of doubles, and the linear
// algebra that stands on them. All matrices are column-major, as in vernier.hpp.
//
// A dd is the unevaluated sum hi + lo of two doubles, 106 bits and more, with double's range: u = 2^-106. Any hi and lo
// are taken; results have |lo| at most half a unit in the last place of hi, and lo no bits below 2^-1074. binary128 has
// 113 bits: u = 2^-113.
#pragma once

#include "vernier/level3.hpp"

namespace vernier {

struct VERNIER_API dd {
  double hi = 0, lo = 0;
  constexpr dd() = default;
  constexpr dd(double high, double low = 0) : hi(high), lo(low) {}
  bool operator==(const dd&) const = default;
};

struct VERNIER_API complex_dd {
  dd real, imag;
};

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 binary128;  // NumPy's quaddtype stores the same 16 bytes

struct VERNIER_API complex_binary128 {
  binary128 real, imag;
};
#endif

// The promise about every entry of T = op(A) op(B), before alpha and beta:
//
//   dd       |T - AB| <= (k + 1) 2^-106 |A||B|
//   fp128    |T - AB| <= (k + 1) 2^-113 |A||B|            of binary128
//   bits(n)  |T - AB| <= (k 2^-n + u) |A||B|              4 <= n <= 226; u of the output type
//   exact    C = alpha AB + beta C, rounded once: to binary128; to dd: hi = RN(x), lo = x - hi rounded in the direction
//
// Of complex matrices it holds for each part, a sum of 2 k products of parts.
//
// Results are the same bits on every machine, for any engine and number of threads. Where elements become integers
// without loss, as those of most matrices of doubles do, T of every contract is the exact product, rounded once.
struct VERNIER_API QuadContract {
  enum class Kind { by_type, dd, fp128, bits, exact };

  Kind kind = Kind::by_type;  // dd for dd, fp128 for binary128
  int bits_asked = 0;         // of bits(n)
  Rounding rounding = Rounding::nearest;

  static QuadContract parse(std::string_view text);  // "", "dd", "fp128", "bits(120)", "exact", "exact+down", ...
  std::string text() const;
  bool operator==(const QuadContract&) const = default;
};

struct VERNIER_API QuadOptions {
  QuadContract contract = {};
  std::string engine = {};          // an int8 engine, as Options::engine
  int threads = 0;                  // 0: OpenMP's choice
  std::size_t workspace_limit = 0;  // bytes; 0: as Options and cuda::Options have it
  void* stream = nullptr;           // of cuda::quad_gemm, a cudaStream_t
  bool verified = false;            // quad_solve proves its forward_error, as verified_solve proves
};

struct VERNIER_API QuadReport {
  std::string type, contract, engine;
  std::int64_t m = 0, n = 0, k = 0;
  int threads = 1, moduli = 0;
  int bits_a = 0, bits_b = 0;  // of the widest scaled row of op(A), column of op(B)
  bool integers = false;       // all elements became integers: T is exact until its one rounding
  std::int64_t looked_at = 0;  // entries whose bound took |A||B|
  std::int64_t summed = 0;     // ... and whose products were added exactly
  double seconds = 0;

  std::string text() const;
  std::string json() const;
};

// C = alpha op(A) op(B) + beta C, shapes as gemm's. TC is dd with TA and TB double or dd; binary128 with TA and TB
// double or binary128; complex_dd or complex_binary128 with TA and TB both of that type or both std::complex<double>.
//
// Unless contract exact rounds once, T is rounded to TC, and alpha T + beta C is computed in TC: within
// 4 u (|alpha T| + |beta C|). alpha = 0 or k = 0: A and B are not read. beta = 0: C is not read. NaN and infinities go
// where a product in double sends them. Rows of A and columns of B in binary128 whose elements lie more than 2^900
// apart are unsupported.
// Throws Error with C untouched, as gemm.
template <class TA, class TB, class TC>
VERNIER_API QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                                 const TA* A, std::int64_t lda, const TB* B, std::int64_t ldb, double beta, TC* C,
                                 std::int64_t ldc, const QuadOptions& options = {});

namespace cuda {

// The same with A, B and C in device memory: the bits of the CPU's. Returns when C is complete: the host chooses scales
// and moduli by the data, and computes the few entries whose bound takes the exact sum of their products, for which it
// copies A and B; under exact all entries, where alpha is no power of two or beta not 0. Of binary128 it also computes
// alpha T + beta C, where that is not a power of two times T, and under exact what does not become integers.
// options.engine is one of a GPU's.
template <class TA, class TB, class TC>
VERNIER_API QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                                 const TA* A, std::int64_t lda, const TB* B, std::int64_t ldb, double beta, TC* C,
                                 std::int64_t ldc, const QuadOptions& options = {});

}  // namespace cuda

// ---- linear algebra in dd and binary128 ---------------------------------------------------------------------------
//
// As the routines of level3.hpp and lapack.hpp that have the same names, for T dd and binary128: blocked, their
// products by quad_gemm under options.contract (exact is an error), their diagonal blocks in the type's arithmetic.
// Errors are those of the usual bounds with u = 2^-104; 2^-111. What is returned by the last three is LAPACK's info.

template <class T>
VERNIER_API void quad_syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const T* A, std::int64_t lda,
                           double beta, T* C, std::int64_t ldc, const QuadOptions& options = {});
template <class T>
VERNIER_API void quad_trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, double alpha,
                           const T* A, std::int64_t lda, T* B, std::int64_t ldb, const QuadOptions& options = {});
template <class T>
[[nodiscard]] VERNIER_API std::int64_t quad_getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda,
                                                  std::int64_t* pivots, const QuadOptions& options = {});
template <class T>
[[nodiscard]] VERNIER_API std::int64_t quad_potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda,
                                                  const QuadOptions& options = {});
template <class T>
[[nodiscard]] VERNIER_API std::int64_t quad_gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda,
                                                 std::int64_t* pivots, T* B, std::int64_t ldb,
                                                 const QuadOptions& options = {});

namespace cuda {

// The same with matrices and pivots in device memory: the bits of the CPU's. Products stay there; panels and diagonal
// blocks the host computes. They return when their results are there.
template <class T>
VERNIER_API void quad_syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const T* A, std::int64_t lda,
                           double beta, T* C, std::int64_t ldc, const QuadOptions& options = {});
template <class T>
VERNIER_API void quad_trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, double alpha,
                           const T* A, std::int64_t lda, T* B, std::int64_t ldb, const QuadOptions& options = {});
template <class T>
[[nodiscard]] VERNIER_API std::int64_t quad_getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda,
                                                  std::int64_t* pivots, const QuadOptions& options = {});
template <class T>
[[nodiscard]] VERNIER_API std::int64_t quad_potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda,
                                                  const QuadOptions& options = {});
template <class T>
[[nodiscard]] VERNIER_API std::int64_t quad_gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda,
                                                 std::int64_t* pivots, T* B, std::int64_t ldb,
                                                 const QuadOptions& options = {});

}  // namespace cuda

struct VERNIER_API QuadSolveReport {
  bool ok = false;                         // the backward error of every column is at most the tolerance
  std::string reason;                      // why not
  std::string factors;                     // "fp64", or "dd" where these do not converge, or prove no error
  std::int64_t n = 0, nrhs = 0, info = 0;  // info: U(info, info) of dd factors is zero; X was not written
  int corrections = 0;
  double tolerance = 0;
  // max |b - A x| / (|A|_inf max |x| + max |b|), an upper bound from exact residuals; and max |x - x^| / max |x| of the
  // exact solution x^: an estimate from the last corrections, or an upper bound. Of the worst column each.
  double backward_error = 0, forward_error = 0;
  bool verified = false;  // forward_error is an upper bound: asked for, and proved
  double seconds = 0;

  std::string text() const;
  std::string json() const;
};

// A X = B for matrices of double or dd, X in dd: LU in fp64, residuals exact and rounded once to dd, corrections until
// they no longer shrink. Where the condition is beyond fp64 factors, some 1e15, factors, and proofs, are of dd, to some
// 1e30. tolerance: sqrt(n) 2^-103. NaN and infinities are invalid_argument. A and B are only read; X may be B.
template <class TA, class TB>
[[nodiscard]] VERNIER_API QuadSolveReport quad_solve(std::int64_t n, std::int64_t nrhs, const TA* A, std::int64_t lda,
                                                     const TB* B, std::int64_t ldb, dd* X, std::int64_t ldx,
                                                     const QuadOptions& options = {});

namespace cuda {

// The same with A, B and X in device memory: fp64 factors there, residuals in sums of three doubles, whose error counts
// in backward_error. Systems that these do not solve, or do not prove, by their condition or since they are far out of
// scale, go to the host's quad_solve. Read of the options: stream, workspace limit, verified. Factors take n^2 doubles,
// a proof 3 n^2 more. Returns when X is complete.
template <class TB>
[[nodiscard]] VERNIER_API QuadSolveReport quad_solve(std::int64_t n, std::int64_t nrhs, const double* A,
                                                     std::int64_t lda, const TB* B, std::int64_t ldb, dd* X,
                                                     std::int64_t ldx, const QuadOptions& options = {});

}  // namespace cuda

}  // namespace vernier
