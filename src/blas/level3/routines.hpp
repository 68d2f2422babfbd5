// The routines of level 3 in one list, for their instantiations on CPU and GPU and for a build without CUDA
// (base/instantiate.hpp).
#pragma once

#include <cstdint>

#include "base/instantiate.hpp"

// Their definitions, alike on CPU and GPU, out of rank_update() and symmetric_product() there.
#define VERNIER_SYMMETRIC_PRODUCT(name, hermitian)                                                                    \
  template <class T>                                                                                                  \
  Report name(Side side, Uplo uplo, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A, std::int64_t lda,    \
              const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {         \
    const std::int64_t k = side == Side::left ? m : n;                                                                \
    return symmetric_product<T>(                                                                                      \
        {{Op::none, Op::none, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, #name, hermitian, side, uplo}, options); \
  }
#define VERNIER_RANK_K_UPDATE(name, Factor, hermitian)                                                        \
  template <class T>                                                                                          \
  Report name(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Factor alpha, const T* A, std::int64_t lda,   \
              Factor beta, T* C, std::int64_t ldc, const Options& options) {                                  \
    return rank_update<T>(                                                                                    \
        {{op, op, n, n, k, T(alpha), A, lda, A, lda, T(beta), C, ldc}, #name, hermitian, false, false, uplo}, \
        options);                                                                                             \
  }
#define VERNIER_RANK_2K_UPDATE(name, Factor, hermitian, both)                                                      \
  template <class T>                                                                                               \
  Report name(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,     \
              const T* B, std::int64_t ldb, Factor beta, T* C, std::int64_t ldc, const Options& options) {         \
    return rank_update<T>(                                                                                         \
        {{op, op, n, n, k, alpha, A, lda, B, ldb, T(beta), C, ldc}, #name, hermitian, both, true, uplo}, options); \
  }

#define VERNIER_RANK_UPDATES(F, T)                                                                                     \
  F(Report, gemmt, T, Uplo, Op, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*,           \
    std::int64_t, Scalar<T>, T*, std::int64_t, const Options&)                                                         \
  F(Report, syrk, T, Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, Scalar<T>, T*,           \
    std::int64_t, const Options&)                                                                                      \
  F(Report, herk, T, Uplo, Op, std::int64_t, std::int64_t, Real<T>, const T*, std::int64_t, Real<T>, T*, std::int64_t, \
    const Options&)                                                                                                    \
  F(Report, syr2k, T, Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, \
    Scalar<T>, T*, std::int64_t, const Options&)                                                                       \
  F(Report, her2k, T, Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, \
    Real<T>, T*, std::int64_t, const Options&)

#define VERNIER_SYMMETRIC_PRODUCTS(F, T)                                                                  \
  F(Report, symm, T, Side, Uplo, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, \
    std::int64_t, Scalar<T>, T*, std::int64_t, const Options&)                                            \
  F(Report, hemm, T, Side, Uplo, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, \
    std::int64_t, Scalar<T>, T*, std::int64_t, const Options&)

#define VERNIER_TRSM(F, T)                                                                                    \
  F(Report, trsm, T, Side, Uplo, Op, Diag, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, T*, \
    std::int64_t, const Options&)

// Of a GPU alone.
#define VERNIER_TRMM_TO_C(F, T)                                                                                     \
  F(Report, trmm, T, Side, Uplo, Op, Diag, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, \
    std::int64_t, T*, std::int64_t, const Options&)
#define VERNIER_UPDATES_OF_TWO(F, T)                                                                                   \
  F(Report, syrkx, T, Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, \
    Scalar<T>, T*, std::int64_t, const Options&)                                                                       \
  F(Report, herkx, T, Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, \
    Real<T>, T*, std::int64_t, const Options&)
#define VERNIER_CUDA_BATCHES(F, T)                                                                                \
  F(Report, gemm_batched, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T* const*,         \
    std::int64_t, const T* const*, std::int64_t, const T*, T* const*, std::int64_t, std::int64_t, const Options&) \
  F(Report, gemm_strided_batched, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*,        \
    std::int64_t, std::int64_t, const T*, std::int64_t, std::int64_t, const T*, T*, std::int64_t, std::int64_t,   \
    std::int64_t, const Options&)
#define VERNIER_CUDA_GEMM(F, T)                                                                                      \
  F(Report, gemm, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, const T*,   \
    std::int64_t, const T*, T*, std::int64_t, const Options&)                                                        \
  F(Report, gemm_unless_wide, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, \
    const T*, std::int64_t, const T*, T*, std::int64_t, const Options&)                                              \
  F(Plan, explain, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&)                              \
  F(std::size_t, gemm_workspace, T, std::int64_t, std::int64_t, std::int64_t, const Options&, bool)
