// cuBLAS, found at run time: the conventional product underneath, the baseline of measurements, and a check.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>

#include "vernier/level3.hpp"

namespace vernier::cuda {

// One handle on the calling thread's current device. The library is the one that the process has loaded already, else
// the newest of libcublas.so.13 .. 11 that the loader finds. Not safe to share between threads.
class Cublas {
 public:
  static std::string missing();  // why cuBLAS cannot be had, or ""

  Cublas();                              // throws Error(Status::unsupported) with missing()
  explicit Cublas(cublasHandle_t lent);  // which gets its stream and modes back
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // A small product waits for these longer than for its plan, so that cuBLAS is told of changes alone.
  void set_stream(cudaStream_t stream);
  void set_pointer_mode(cublasPointerMode_t mode);  // of alpha and beta; CUBLAS_POINTER_MODE_HOST at first
  std::string version() const;

  // C = alpha op(A) op(B) + beta C, column-major, device pointers. T is float, double or complex of these.
  template <class T>
  void gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
            std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc);
  template <class Call>
  void gemm(const Call& p) {
    gemm(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  }

  // The triangular A is of order m (left) or n (right); factors as for gemm. C may be B.
  template <class T>
  void trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, const T* alpha, const T* A,
            std::int64_t lda, T* B, std::int64_t ldb);
  template <class T>
  void trmm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, const T* alpha, const T* A,
            std::int64_t lda, const T* B, std::int64_t ldb, T* C, std::int64_t ldc);

  // cublasGemmEx_64 with the default algorithm.
  void gemm_ex(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, const void* A,
               cudaDataType_t a_type, std::int64_t lda, const void* B, cudaDataType_t b_type, std::int64_t ldb,
               const void* beta, void* C, cudaDataType_t c_type, std::int64_t ldc, cublasComputeType_t compute);

  // The same `count` times, the matrices of one type so many elements apart (0: all the same).
  void gemm_batch_ex(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, const void* A,
                     cudaDataType_t a_type, std::int64_t lda, std::int64_t a_step, const void* B, cudaDataType_t b_type,
                     std::int64_t ldb, std::int64_t b_step, const void* beta, void* C, cudaDataType_t c_type,
                     std::int64_t ldc, std::int64_t c_step, std::int64_t count, cublasComputeType_t compute);

  // cublasGemmBatchedEx_64: `count` products by arrays of addresses in device memory.
  void gemm_addressed_ex(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                         const void* const* A, std::int64_t lda, const void* const* B, std::int64_t ldb,
                         const void* beta, void* const* C, std::int64_t ldc, cudaDataType_t type, std::int64_t count,
                         cublasComputeType_t compute);

 private:
  cublasHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cublasPointerMode_t pointer_mode_ = CUBLAS_POINTER_MODE_HOST;
  struct Modes {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
  };
  std::optional<Modes> lent_;  // as the caller left them
};

// That of a LentCublas, or the calling thread's own on its current device: made at its first call, or left by a thread
// that has ended.
Cublas& thread_cublas();
bool has_lent_cublas();  // has the thread a LentCublas?

}  // namespace vernier::cuda
