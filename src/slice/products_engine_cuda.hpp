// The products of cuBLAS that multiply slices.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "cuda/cublas.hpp"
#include "slice/products.hpp"
#include "slice/products_engine.hpp"
#include "slice/slices_cuda.hpp"

namespace vernier::cuda {

struct CublasSlices {
  const char* name;
  SliceFormat format;
  cudaDataType_t input, output;
  cublasComputeType_t compute;
  std::vector<const char*> rows;  // of the model's table: what cuBLAS may run on

  // Of a slice, for sums over k that lose nothing.
  int bits(std::int64_t k) const {
    int least = 30;
    for (const char* row : rows) least = std::min(least, SliceEngine(row).bits(k));
    return least;
  }
};

inline const CublasSlices& find_cublas_slices(const std::string& name) {
  static const std::vector<CublasSlices> all = {
      {"cublas-fp16",
       SliceFormat::fp16,
       CUDA_R_16F,
       CUDA_R_32F,
       CUBLAS_COMPUTE_32F,
       {"ampere-fp16-fp32", "hopper-mma-fp16-fp32", "hopper-wgmma-fp16-fp32"}},
      {"cublas-bf16",
       SliceFormat::bf16,
       CUDA_R_16BF,
       CUDA_R_32F,
       CUBLAS_COMPUTE_32F,
       {"ampere-bf16-fp32", "hopper-mma-bf16-fp32", "hopper-wgmma-bf16-fp32"}},
      {"cublas-int8", SliceFormat::int8, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, {"nvidia-int8"}},
      {"blas", SliceFormat::fp64, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, {"blas"}}};
  for (const CublasSlices& engine : all)
    if (name == engine.name) return engine;
  fail(Status::unsupported,
       "gemm_by_slices: engine \"{}\": on a GPU expected cublas-fp16, cublas-bf16, cublas-int8 or blas", name);
}

}  // namespace vernier::cuda
