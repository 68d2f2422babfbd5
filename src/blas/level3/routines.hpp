// The routines of level 3 in one list, for their instantiations on CPU and GPU and for a build without CUDA
// (base/instantiate.hpp).
#pragma once

#include <complex>
#include <cstdint>

#include "base/instantiate.hpp"

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
#define VERNIER_TRMM_IN_PLACE(F, T)                                                                           \
  F(Report, trmm, T, Side, Uplo, Op, Diag, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, T*, \
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
#define VERNIER_CUDA_GEMM(F, T)                                                                                    \
  F(Report, gemm, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, const T*, \
    std::int64_t, const T*, T*, std::int64_t, const Options&)                                                      \
  F(Plan, explain, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&)                            \
  F(std::size_t, gemm_workspace, T, std::int64_t, std::int64_t, std::int64_t, const Options&, bool)
