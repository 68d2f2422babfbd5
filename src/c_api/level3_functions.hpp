// C functions of level 3, alike on CPUs and GPUs, each out of the C++ routine. run: product() or gpu_product().
#pragma once

#include "c_api/c_api.hpp"

#define VERNIER_C_SYMMETRIC_PRODUCT(function, run, routine)                                                          \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo, int64_t m, \
                          int64_t n, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,      \
                          const void* beta, void* C, int64_t ldc) {                                                  \
    return run(handle, type, [&]<class T>(T, const auto& options) {                                                  \
      return routine<T>(static_cast<Side>(side), static_cast<Uplo>(uplo), m, n, alpha_of<T>(alpha), in<T>(A), lda,   \
                        in<T>(B), ldb, beta_of<T>(beta), out<T>(C), ldc, options);                                   \
    });                                                                                                              \
  }

#define VERNIER_C_GEMMT(function, run, routine)                                                                        \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op opa, vernier_op opb, \
                          int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda, const void* B,          \
                          int64_t ldb, const void* beta, void* C, int64_t ldc) {                                       \
    return run(handle, type, [&]<class T>(T, const auto& options) {                                                    \
      return routine<T>(static_cast<Uplo>(uplo), static_cast<Op>(opa), static_cast<Op>(opb), n, k, alpha_of<T>(alpha), \
                        in<T>(A), lda, in<T>(B), ldb, beta_of<T>(beta), out<T>(C), ldc, options);                      \
    });                                                                                                                \
  }

#define VERNIER_C_RANK_K_UPDATE(function, run, routine, Factor)                                                     \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,    \
                          int64_t k, const void* alpha, const void* A, int64_t lda, const void* beta, void* C,      \
                          int64_t ldc) {                                                                            \
    return run(handle, type, [&]<class T>(T, const auto& options) {                                                 \
      return routine<T>(static_cast<Uplo>(uplo), static_cast<Op>(op), n, k, alpha_of<Factor>(alpha), in<T>(A), lda, \
                        beta_of<Factor>(beta), out<T>(C), ldc, options);                                            \
    });                                                                                                             \
  }

#define VERNIER_C_RANK_2K_UPDATE(function, run, routine, Factor)                                                 \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n, \
                          int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,  \
                          const void* beta, void* C, int64_t ldc) {                                              \
    return run(handle, type, [&]<class T>(T, const auto& options) {                                              \
      return routine<T>(static_cast<Uplo>(uplo), static_cast<Op>(op), n, k, alpha_of<T>(alpha), in<T>(A), lda,   \
                        in<T>(B), ldb, beta_of<Factor>(beta), out<T>(C), ldc, options);                          \
    });                                                                                                          \
  }

#define VERNIER_C_TRIANGULAR_IN_PLACE(function, run, routine)                                                       \
  vernier_status function(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo,           \
                          vernier_op op, vernier_diag diag, int64_t m, int64_t n, const void* alpha, const void* A, \
                          int64_t lda, void* B, int64_t ldb) {                                                      \
    return run(handle, type, [&]<class T>(T, const auto& options) {                                                 \
      return routine<T>(static_cast<Side>(side), static_cast<Uplo>(uplo), static_cast<Op>(op),                      \
                        static_cast<Diag>(diag), m, n, alpha_of<T>(alpha), in<T>(A), lda, out<T>(B), ldb, options); \
    });                                                                                                             \
  }
