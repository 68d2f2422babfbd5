// The instructions of the GPU present, as launches that evaluate one dot product.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "vernier/model.hpp"

namespace vernier::model::gpu {

inline constexpr std::uint32_t first_two_of_four = 0x4444;

// One dot product on its way to the GPU and back.
struct Dot {
  std::uint32_t a[32] = {}, b[32] = {};        // 32 bytes of a row of A and of a column of B; fp64: up to 16 numbers
  std::uint32_t metadata = first_two_of_four;  // of sparse instructions: four bits for each of four groups, repeated
  std::uint64_t c = 0, d = 0;
};

using DotKernel = void (*)(Dot* device_dot, cudaStream_t stream);

// By the name in the list of hardware engines ("wgmma-fp16-fp32"); null if there is none such.
DotKernel find_kernel(std::string_view name);

std::string missing_instructions();  // why none of them runs here, or ""
std::unique_ptr<MatrixEngine> open_instruction(std::string_view name, const Engine& formats);

// Products of cuBLAS ("fp16-fp32"): C += A B with 256 x 256 results, of which one is looked at.
std::string missing_cublas();
std::unique_ptr<MatrixEngine> open_cublas(std::string_view name, const Engine& formats);

}  // namespace vernier::model::gpu
