// Linear systems on a GPU: the routines of lapack.hpp for matrices in device memory.
//
//     #include <vernier/cuda_lapack.hpp>
//     vernier::SolveReport report = vernier::cuda::solve(vernier::Op::none, n, 1, A, n, B, n, X, n);
//
// Conventions are those of cuda.hpp: column-major, in device memory, queued on a stream. What is returned is known to
// the host, so these routines wait for the stream. Matrices stay on the GPU; vectors of refinement visit the host.
//
// They need a GPU of compute capability 8.0 or later and throw Error(Status::unsupported) elsewhere, and for more rows
// than a panel holds: 131072 of float, 65536 of double. A working copy is made in device memory.
#pragma once

#include "vernier/cuda.hpp"
#include "vernier/lapack.hpp"

namespace vernier::cuda {

// P A = L U as vernier::getrf, pivots in device memory. Large products keep options.contract: double under fp64 by
// residues; float under fp32 by error-corrected products, which run beside the panels on Hopper. Of the options,
// contract and stream count: engines are the planner's choice, a workspace is an error, exact is unsupported. Under
// reproducible contracts GPUs of one kind give the same bits; panels and diagonal blocks round otherwise than a CPU's.
template <class T>
[[nodiscard]] VERNIER_API std::int64_t getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda,
                                             std::int64_t* pivots,
                                             const Options& options = Options{.contract = default_contract<T>()});

// op(A) X = B with the factors of getrf. Vectors are solved for in fp64, whatever T is.
template <class T>
VERNIER_API void getrs(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda,
                       const std::int64_t* pivots, T* B, std::int64_t ldb,
                       const Options& options = Options{.contract = default_contract<T>()});

// getrf and, if info = 0, getrs.
template <class T>
[[nodiscard]] VERNIER_API std::int64_t gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda,
                                            std::int64_t* pivots, T* B, std::int64_t ldb,
                                            const Options& options = Options{.contract = default_contract<T>()});

// A = U^T U or A = L L^T as vernier::potrf: one triangle is read and overwritten. Products as in getrf.
template <class T>
[[nodiscard]] VERNIER_API std::int64_t potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda,
                                             const Options& options = Options{.contract = default_contract<T>()});

// A X = B with the factor of potrf. Vectors are solved for in fp64, whatever T is.
template <class T>
VERNIER_API void potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, T* B,
                       std::int64_t ldb, const Options& options = Options{.contract = default_contract<T>()});

// potrf and, if info = 0, potrs.
template <class T>
[[nodiscard]] VERNIER_API std::int64_t posv(Uplo uplo, std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, T* B,
                                            std::int64_t ldb,
                                            const Options& options = Options{.contract = default_contract<T>()});

// op(A) X = B with a certificate, as vernier::solve: LU in fp32 or fp64, refinement, a measured backward error for each
// right-hand side. Factors::fp16 and bf16 are half the memory of fp32, left-looking with 512 columns of fp32 at a time.
// options.products does not count: engines are the planner's choice.
template <class T>
[[nodiscard]] VERNIER_API SolveReport solve(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda,
                                            const T* B, std::int64_t ldb, T* X, std::int64_t ldx,
                                            const SolveOptions& options = {}, void* stream = nullptr);

// A X = B with the certificate of solve, by Cholesky, for a symmetric positive definite A of which one triangle is
// read. Where the factors of fp32 meet a pivot that is not positive, those of fp64 decide: verdict indefinite, with
// info as of potrf, and X is not written. A is copied whole.
template <class T>
[[nodiscard]] VERNIER_API SolveReport solve_definite(Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* A,
                                                     std::int64_t lda, const T* B, std::int64_t ldb, T* X,
                                                     std::int64_t ldx, const SolveOptions& options = {},
                                                     void* stream = nullptr);

}  // namespace vernier::cuda
