// Enclosures: products of interval matrices, and answers that are proved. Column-major, as vernier.hpp; the sizes and
// leading dimensions are those of gemm and gesv. Contracts of the options are not read: the products are `exact`.
//
// Every routine throws Error with its outputs untouched; data with a NaN or an infinity are invalid_argument.
#pragma once

#include "vernier/cuda.hpp"

namespace vernier {

// ---- interval matrices

// op(A) op(B) of the matrices |A - Amid| <= Arad and |B - Bmid| <= Brad, all of them: |op(A) op(B) - Cmid| <= Crad.
// Arad and Brad are not negative; null: zeros. Crad is at most 1.5 times the best possible radius and a unit in the
// last place (Rump, BIT 39, 1999), of a point product half a unit of Cmid. Infinite Crad: it, Cmid or some |B| + Brad
// overflowed.
VERNIER_API void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const double* Amid,
                               const double* Arad, std::int64_t lda, const double* Bmid, const double* Brad,
                               std::int64_t ldb, double* Cmid, double* Crad, std::int64_t ldc,
                               const Options& options = {});

// The same by ends, Alow <= A <= Ahigh. Of matrices without width Clow and Chigh are the product rounded down and up.
VERNIER_API void interval_gemm_ends(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const double* Alow,
                                    const double* Ahigh, std::int64_t lda, const double* Blow, const double* Bhigh,
                                    std::int64_t ldb, double* Clow, double* Chigh, std::int64_t ldc,
                                    const Options& options = {});

// Complex ones: discs |a - Amid| <= Arad, and Crad as above of the discs that best enclose an entry around their
// products' centres; by ends, rectangles of real and imaginary parts, Clow and Chigh of each part as of real matrices.
VERNIER_API void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                               const std::complex<double>* Amid, const double* Arad, std::int64_t lda,
                               const std::complex<double>* Bmid, const double* Brad, std::int64_t ldb,
                               std::complex<double>* Cmid, double* Crad, std::int64_t ldc, const Options& options = {});
VERNIER_API void interval_gemm_ends(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                    const std::complex<double>* Alow, const std::complex<double>* Ahigh,
                                    std::int64_t lda, const std::complex<double>* Blow,
                                    const std::complex<double>* Bhigh, std::int64_t ldb, std::complex<double>* Clow,
                                    std::complex<double>* Chigh, std::int64_t ldc, const Options& options = {});

namespace cuda {

// The same in device memory, for T double and std::complex<double>: the bits of the CPU's. Returns when C is complete.
// Of the options engine, stream and workspace limit are read.
template <class T>
VERNIER_API void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* Amid,
                               const double* Arad, std::int64_t lda, const T* Bmid, const double* Brad,
                               std::int64_t ldb, T* Cmid, double* Crad, std::int64_t ldc, const Options& options = {});
template <class T>
VERNIER_API void interval_gemm_ends(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* Alow,
                                    const T* Ahigh, std::int64_t lda, const T* Blow, const T* Bhigh, std::int64_t ldb,
                                    T* Clow, T* Chigh, std::int64_t ldc, const Options& options = {});

}  // namespace cuda

// ---- proved answers

struct VERNIER_API VerifiedReport {
  bool verified = false;
  std::string routine, reason;  // reason: why not
  std::int64_t n = 0, nrhs = 0;
  double contraction = 0;  // bound of a norm of I - R A, R the approximate inverse; below 1 it proves that A is regular
  double seconds = 0;

  std::string text() const;
  std::string json() const;
};

// A X = B: Xlow <= X <= Xhigh for the exact solution, or verified = false, with Xlow and Xhigh untouched. Serves
// condition numbers up to some 1e15 (docs/beyond_double.md). 2 n^2 doubles of workspace and the products'.
[[nodiscard]] VERNIER_API VerifiedReport verified_solve(std::int64_t n, std::int64_t nrhs, const double* A,
                                                        std::int64_t lda, const double* B, std::int64_t ldb,
                                                        double* Xlow, double* Xhigh, std::int64_t ldx,
                                                        const Options& options = {});

namespace cuda {

// The same in device memory, and the same promise; ends may differ in their last bits. 3 n^2 doubles of workspace and
// the products'. n is at most what getrf takes. Of the options stream and workspace limit are read.
[[nodiscard]] VERNIER_API VerifiedReport verified_solve(std::int64_t n, std::int64_t nrhs, const double* A,
                                                        std::int64_t lda, const double* B, std::int64_t ldb,
                                                        double* Xlow, double* Xhigh, std::int64_t ldx,
                                                        const Options& options = {});
[[nodiscard]] VERNIER_API VerifiedReport verified_inverse(std::int64_t n, const double* A, std::int64_t lda,
                                                          double* low, double* high, std::int64_t ldx,
                                                          const Options& options = {});

}  // namespace cuda

// low <= A^-1 <= high, n x n.
[[nodiscard]] VERNIER_API VerifiedReport verified_inverse(std::int64_t n, const double* A, std::int64_t lda,
                                                          double* low, double* high, std::int64_t ldx,
                                                          const Options& options = {});

// low 2^exponent <= det A <= high 2^exponent, the larger magnitude in [1/2, 1).
struct DeterminantInterval {
  double low = 0, high = 0;
  std::int64_t exponent = 0;
};
[[nodiscard]] VERNIER_API VerifiedReport verified_determinant(std::int64_t n, const double* A, std::int64_t lda,
                                                              DeterminantInterval& determinant,
                                                              const Options& options = {});

// All eigenvalues of a symmetric A, of which the lower triangle is read, are at least `bound`: bound > 0 proves that A
// is positive definite. verified = false: no positive bound was found, and bound is 0.
[[nodiscard]] VERNIER_API VerifiedReport verified_definite(std::int64_t n, const double* A, std::int64_t lda,
                                                           double& bound, const Options& options = {});

namespace cuda {

// The same in device memory, and the same promise; bounds may differ in their last bits. 6 n^2 and 3 n^2 doubles of
// workspace and the products'.
[[nodiscard]] VERNIER_API VerifiedReport verified_determinant(std::int64_t n, const double* A, std::int64_t lda,
                                                              DeterminantInterval& determinant,
                                                              const Options& options = {});
[[nodiscard]] VERNIER_API VerifiedReport verified_definite(std::int64_t n, const double* A, std::int64_t lda,
                                                           double& bound, const Options& options = {});

}  // namespace cuda

}  // namespace vernier
