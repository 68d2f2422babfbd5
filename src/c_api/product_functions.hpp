// C functions of products and level 3, alike on CPUs and GPUs, each out of the C++ routine. run: product() or
// gpu_product().
#pragma once

#include "c_api/c_api.hpp"

#define VERNIER_C_SYMMETRIC_PRODUCT(function, run, routine)                                                          \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo, int64_t m, \
                          int64_t n, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,      \
                          const void* beta, void* C, int64_t ldc) {                                                  \
    VERNIER_C_RUN(run, routine<T>(as(side), as(uplo), m, n, scalar<T>("alpha is null", alpha), in<T>(A), lda,        \
                                  in<T>(B), ldb, scalar<T>("beta is null", beta), out<T>(C), ldc, options));         \
  }

#define VERNIER_C_GEMMT(function, run, routine)                                                                        \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op opa, vernier_op opb, \
                          int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda, const void* B,          \
                          int64_t ldb, const void* beta, void* C, int64_t ldc) {                                       \
    VERNIER_C_RUN(run, routine<T>(as(uplo), as(opa), as(opb), n, k, scalar<T>("alpha is null", alpha), in<T>(A), lda,  \
                                  in<T>(B), ldb, scalar<T>("beta is null", beta), out<T>(C), ldc, options));           \
  }

#define VERNIER_C_RANK_K_UPDATE(function, run, routine, Factor)                                                  \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n, \
                          int64_t k, const void* alpha, const void* A, int64_t lda, const void* beta, void* C,   \
                          int64_t ldc) {                                                                         \
    VERNIER_C_RUN(run, routine<T>(as(uplo), as(op), n, k, scalar<Factor>("alpha is null", alpha), in<T>(A), lda, \
                                  scalar<Factor>("beta is null", beta), out<T>(C), ldc, options));               \
  }

#define VERNIER_C_RANK_2K_UPDATE(function, run, routine, Factor)                                                      \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,      \
                          int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,       \
                          const void* beta, void* C, int64_t ldc) {                                                   \
    VERNIER_C_RUN(run, routine<T>(as(uplo), as(op), n, k, scalar<T>("alpha is null", alpha), in<T>(A), lda, in<T>(B), \
                                  ldb, scalar<Factor>("beta is null", beta), out<T>(C), ldc, options));               \
  }

#define VERNIER_C_TRIANGULAR_IN_PLACE(function, run, routine)                                                       \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo,           \
                          vernier_op op, vernier_diag diag, int64_t m, int64_t n, const void* alpha, const void* A, \
                          int64_t lda, void* B, int64_t ldb) {                                                      \
    VERNIER_C_RUN(run, routine<T>(as(side), as(uplo), as(op), as(diag), m, n, scalar<T>("alpha is null", alpha),    \
                                  in<T>(A), lda, out<T>(B), ldb, options));                                         \
  }

// alpha, beta: scalars of the host, or where they lie.
#define VERNIER_C_GEMM(function, run, routine, alpha_in_memory, beta_in_memory)                                \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb, int64_t m, \
                          int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda, const void* B,  \
                          int64_t ldb, const void* beta, void* C, int64_t ldc) {                               \
    VERNIER_C_RUN(run, routine<T>(as(opa), as(opb), m, n, k, alpha_in_memory, in<T>(A), lda, in<T>(B), ldb,    \
                                  beta_in_memory, out<T>(C), ldc, options));                                   \
  }

#define VERNIER_C_BATCH(function, run, routine, alpha_in_memory, beta_in_memory)                                    \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb, int64_t m,      \
                          int64_t n, int64_t k, const void* alpha, const void* const* A, int64_t lda,               \
                          const void* const* B, int64_t ldb, const void* beta, void* const* C, int64_t ldc,         \
                          int64_t count) {                                                                          \
    VERNIER_C_RUN(run, routine<T>(as(opa), as(opb), m, n, k, alpha_in_memory, reinterpret_cast<const T* const*>(A), \
                                  lda, reinterpret_cast<const T* const*>(B), ldb, beta_in_memory,                   \
                                  reinterpret_cast<T* const*>(C), ldc, count, options));                            \
  }

#define VERNIER_C_STRIDED_BATCH(function, run, routine, alpha_in_memory, beta_in_memory)                              \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb, int64_t m,        \
                          int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda, int64_t stride_a,      \
                          const void* B, int64_t ldb, int64_t stride_b, const void* beta, void* C, int64_t ldc,       \
                          int64_t stride_c, int64_t count) {                                                          \
    VERNIER_C_RUN(run, routine<T>(as(opa), as(opb), m, n, k, alpha_in_memory, in<T>(A), lda, stride_a, in<T>(B), ldb, \
                                  stride_b, beta_in_memory, out<T>(C), ldc, stride_c, count, options));               \
  }

// Level 3, as far as both sides have the same.
#define VERNIER_C_LEVEL3(prefix, run, space)                          \
  VERNIER_C_GEMMT(prefix##gemmt, run, space::gemmt)                   \
  VERNIER_C_SYMMETRIC_PRODUCT(prefix##symm, run, space::symm)         \
  VERNIER_C_SYMMETRIC_PRODUCT(prefix##hemm, run, space::hemm)         \
  VERNIER_C_RANK_K_UPDATE(prefix##syrk, run, space::syrk, T)          \
  VERNIER_C_RANK_K_UPDATE(prefix##herk, run, space::herk, Real<T>)    \
  VERNIER_C_RANK_2K_UPDATE(prefix##syr2k, run, space::syr2k, T)       \
  VERNIER_C_RANK_2K_UPDATE(prefix##her2k, run, space::her2k, Real<T>) \
  VERNIER_C_TRIANGULAR_IN_PLACE(prefix##trsm, run, space::trsm)

// The plan of a product of ordinary data.
#define VERNIER_C_EXPLAIN(function, space, options_of_memory)                                        \
  vernier_status function(vernier_handle handle, vernier_type type, int64_t m, int64_t n, int64_t k, \
                          vernier_report* plan) {                                                    \
    return with_handle(handle, [&] {                                                                 \
      require(plan != nullptr, #function ": plan is null");                                          \
      Report report;                                                                                 \
      with_type(type, [&]<class T>(T) {                                                              \
        report.plan = space::explain<T>(Op::none, Op::none, m, n, k, options_of_memory<T>(*handle)); \
      });                                                                                            \
      *plan = summary(report);                                                                       \
      handle->reason = std::move(report.plan.reason);                                                \
    });                                                                                              \
  }

// What a product wants as workspace, whatever the handle has for one.
#define VERNIER_C_GEMM_WORKSPACE(function, space, options_of_memory)                                                  \
  vernier_status function(vernier_handle handle, vernier_type type, int64_t m, int64_t n, int64_t k, size_t* bytes) { \
    return with_handle(handle, [&] {                                                                                  \
      require(bytes != nullptr, #function ": bytes is null");                                                         \
      with_type(type, [&]<class T>(T) {                                                                               \
        auto options = options_of_memory<T>(*handle);                                                                 \
        options.workspace = nullptr, options.workspace_bytes = 0;                                                     \
        *bytes = space::gemm_workspace<T>(m, n, k, options);                                                          \
      });                                                                                                             \
    });                                                                                                               \
  }
