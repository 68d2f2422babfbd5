// Level 3 of the BLAS on a GPU, made of the products of cuda.hpp: level3.hpp for matrices in device memory,
// asynchronous on a stream as far as gemm is.
//
// Factors are on the host (Options::pointer_mode is not asked). The promises are those of level3.hpp; blocks on the
// diagonal of trmm and trsm go to cuBLAS, so that reproducible contracts are unsupported there. Memory comes from the
// device: Options::workspace is an error. Arguments are checked first; the output is written last, when all products
// are queued.
#pragma once

#include "vernier/cuda.hpp"
#include "vernier/level3.hpp"

namespace vernier::cuda {

// The triangle of alpha op(A) op(B) + beta C.
template <class T>
VERNIER_API Report gemmt(Uplo uplo, Op opa, Op opb, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});

template <class T>
VERNIER_API Report symm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A,
                        std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API Report hemm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A,
                        std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});

template <class T>
VERNIER_API Report syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
                        Scalar<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API Report herk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Real<T> alpha, const T* A, std::int64_t lda,
                        Real<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API Report syr2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API Report her2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Real<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});

// The triangle of alpha op(A) op(B)^T + beta C, or of alpha op(A) op(B)^H + beta C, whose diagonal is made real: for A
// and B that make the product symmetric or Hermitian. op(B) has the shape of op(A); as for syrk and herk, the
// operations are none and transpose, or conjugate_transpose.
template <class T>
VERNIER_API Report syrkx(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API Report herkx(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                         std::int64_t lda, const T* B, std::int64_t ldb, Real<T> beta, T* C, std::int64_t ldc,
                         const Options& options = Options{.contract = default_contract<T>()});

// C = alpha op(A) B (left) or alpha B op(A) (right), as cuBLAS has it; C may be B.
template <class T>
VERNIER_API Report trmm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, Scalar<T> alpha,
                        const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API Report trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, Scalar<T> alpha,
                        const T* A, std::int64_t lda, T* B, std::int64_t ldb,
                        const Options& options = Options{.contract = default_contract<T>()});

// C_i = alpha op(A_i) op(B_i) + beta C_i for i = 0 ... count - 1; the C_i must not overlap. Equally spaced matrices of
// float under contract fp32 go to error-corrected products all at once where a batch of them is faster than cuBLAS's,
// native ones to cuBLAS's, and real ones by residues go many at once, with the bits that each has alone, where none of
// those together holds wide exponents, a NaN or an infinity, the stream's product before them held none either, and a
// host may wait; what is left goes one by one. One scheme serves all products that are split together, by their data.
// The arrays of addresses are in device memory, as cuBLAS has them. Real matrices whose products are small go to cuBLAS
// as they are; otherwise the host waits until the stream has come so far and reads the addresses, with
// options.asynchronous too. No capture lets it.
template <class T>
VERNIER_API Report gemm_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                                const T* const* A, std::int64_t lda, const T* const* B, std::int64_t ldb, const T* beta,
                                T* const* C, std::int64_t ldc, std::int64_t count,
                                const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API Report gemm_strided_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                                        const T* A, std::int64_t lda, std::int64_t stride_a, const T* B,
                                        std::int64_t ldb, std::int64_t stride_b, const T* beta, T* C, std::int64_t ldc,
                                        std::int64_t stride_c, std::int64_t count,
                                        const Options& options = Options{.contract = default_contract<T>()});

// The same with alpha and beta by value.
template <class T>
Report gemm_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* const* A,
                    std::int64_t lda, const T* const* B, std::int64_t ldb, Scalar<T> beta, T* const* C,
                    std::int64_t ldc, std::int64_t count,
                    Options options = Options{.contract = default_contract<T>()}) {
  options.pointer_mode = PointerMode::host;
  return gemm_batched<T>(opa, opb, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc, count, options);
}
template <class T>
Report gemm_strided_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                            std::int64_t lda, std::int64_t stride_a, const T* B, std::int64_t ldb,
                            std::int64_t stride_b, Scalar<T> beta, T* C, std::int64_t ldc, std::int64_t stride_c,
                            std::int64_t count, Options options = Options{.contract = default_contract<T>()}) {
  options.pointer_mode = PointerMode::host;
  return gemm_strided_batched<T>(opa, opb, m, n, k, &alpha, A, lda, stride_a, B, ldb, stride_b, &beta, C, ldc, stride_c,
                                 count, options);
}

}  // namespace vernier::cuda
