// cuBLASLt, found at run time: products of fp8 numbers.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <string>

#include "cuda/device.hpp"

namespace vernier::cuda {

// One handle on the calling thread's current device. Not safe to share between threads.
class CublasLt {
 public:
  static std::string missing();  // why cuBLASLt cannot be had, or ""

  CublasLt();  // throws Error(Status::unsupported) with missing()
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  // C = A^T B + C, column-major, device pointers, fp32 inside: A is k x m, B k x n, C m x n of fp32. The first
  // algorithm that the heuristics name; fast_accumulation leaves partial sums inside the matrix units.
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const void* A, cudaDataType_t a_type, const void* B,
                cudaDataType_t b_type, float* C, bool fast_accumulation, cudaStream_t stream);

 private:
  cublasLtHandle_t handle_ = nullptr;
  DeviceBuffer<char> workspace_;
};

}  // namespace vernier::cuda
