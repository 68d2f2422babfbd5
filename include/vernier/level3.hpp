// Level 3 of the BLAS, made of the products of vernier.hpp: symmetric and Hermitian products, updates, triangular
// products and solves, batches.
//
// T is float, double, std::complex<float> or std::complex<double>; Real<T> the type of its parts. Matrices are
// column-major. Of a symmetric, Hermitian or triangular matrix only the triangle that `uplo` names is read or written,
// the diagonal included; with Diag::unit the diagonal is taken for 1 and not read. The imaginary parts of a Hermitian
// matrix's diagonal are not read, and written as 0. For real T hemm is symm, herk syrk, her2k syr2k. Leading
// dimensions are at least max(1, rows of the array): of A, the rows of op(A) for Op::none, else its columns.
//
// Contract, engine and threads are gemm's, and so are the errors: found before any work, in the order of the reference
// BLAS, and whatever is thrown, the output is untouched. Every routine computes into memory of its own first, and takes
// it from the system: Options::workspace does not serve these routines, and one that is given is an error.
// The plan in the report is that of the largest product a routine was made of, under the routine's name; the seconds
// are those of all.
#pragma once

#include <cstdint>

#include "vernier/vernier.hpp"

namespace vernier {

enum class Side : char { left = 'L', right = 'R' };
enum class Uplo : char { lower = 'L', upper = 'U' };
enum class Diag : char { non_unit = 'N', unit = 'U' };

namespace detail {
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
}  // namespace detail
template <class T>
using Real = typename detail::RealOf<T>::type;

// C = alpha A B + beta C (left) or alpha B A + beta C (right): A symmetric, of order m or n; B and C m x n.
// Each entry keeps gemm's promise; contract exact is kept by the batches alone, here it throws unsupported.
template <class T>
VERNIER_API Report symm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A,
                        std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});
// The same for a Hermitian A.
template <class T>
VERNIER_API Report hemm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A,
                        std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});

// The triangle of C = alpha op(A) op(B) + beta C: op(A) n x k, op(B) k x n, C n x n. About half the work of gemm.
// Each entry keeps gemm's promise.
template <class T>
VERNIER_API Report gemmt(Uplo uplo, Op opa, Op opb, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});

// The triangle of C = alpha op(A) op(A)^T + beta C: op(A) n x k, C n x n. Half the work of gemm; gemm's promise.
// Op::conjugate_transpose is an error for complex T, here and for syr2k.
template <class T>
VERNIER_API Report syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
                        Scalar<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});
// The triangle of C = alpha op(A) op(A)^H + beta C. Op::transpose is an error for complex T, here and for her2k.
template <class T>
VERNIER_API Report herk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Real<T> alpha, const T* A, std::int64_t lda,
                        Real<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});

// The triangle of C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, from the one product X = op(A) op(B)^T: op(A)
// and op(B) n x k. Each of the two terms keeps gemm's promise, and at most four roundings add them up.
template <class T>
VERNIER_API Report syr2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});
// The triangle of C = alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C.
template <class T>
VERNIER_API Report her2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Real<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});

// B = alpha op(A) B (left) or alpha B op(A) (right): A triangular, of order m or n; B m x n. Halves of A are
// multiplied by gemm, blocks on the diagonal in the working precision, by the BLAS underneath or, for reproducible
// contracts, in a fixed order: before alpha, the error is at most (k + 2 log2 k + 2) u |A||B|, k the order of A and u
// the contract's. Contracts that ask for more bits than T has are unsupported.
template <class T>
VERNIER_API Report trmm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, Scalar<T> alpha,
                        const T* A, std::int64_t lda, T* B, std::int64_t ldb,
                        const Options& options = Options{.contract = default_contract<T>()});
// B = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), by substitution in halves as for trmm: each column (row) of
// the result solves a system whose matrix is within (k + 2 log2 k + 2) u |A| of A, entry by entry. Singularity is not
// tested for; division by a zero diagonal makes infinities.
template <class T>
VERNIER_API Report trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, Scalar<T> alpha,
                        const T* A, std::int64_t lda, T* B, std::int64_t ldb,
                        const Options& options = Options{.contract = default_contract<T>()});

// C_i = alpha op(A_i) op(B_i) + beta C_i for i = 0 ... count - 1. Small products are spread over the threads, one
// thread each; large ones follow one another, with all threads each. Under reproducible contracts and exact the bits
// are the same either way. Arguments are checked before any product. Without memory a product goes to the BLAS
// underneath, where that keeps the contract. Under reproducible contracts, no-fallback and exact a product that then
// fails leaves its own C untouched, and others may be done.
template <class T>
VERNIER_API Report gemm_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha,
                                const T* const* A, std::int64_t lda, const T* const* B, std::int64_t ldb,
                                Scalar<T> beta, T* const* C, std::int64_t ldc, std::int64_t count,
                                const Options& options = Options{.contract = default_contract<T>()});
// The same with A_i = A + i stride_a and so on; a stride of 0 for A or B means one matrix for all.
template <class T>
VERNIER_API Report gemm_strided_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha,
                                        const T* A, std::int64_t lda, std::int64_t stride_a, const T* B,
                                        std::int64_t ldb, std::int64_t stride_b, Scalar<T> beta, T* C, std::int64_t ldc,
                                        std::int64_t stride_c, std::int64_t count,
                                        const Options& options = Options{.contract = default_contract<T>()});

}  // namespace vernier
