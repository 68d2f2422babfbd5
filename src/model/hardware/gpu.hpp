// The instructions of the GPU present, as launches that evaluate one dot product.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>

#include "model/hardware/dot.hpp"
#include "vernier/model.hpp"

namespace vernier::model::gpu {

using DotKernel = void (*)(Dot* device_dot, cudaStream_t stream);

// By the name in the list of hardware engines ("wgmma-fp16-fp32"); null if there is none such.
DotKernel find_kernel(std::string_view name);

std::string missing_instructions();  // why none of them runs here, or ""
std::unique_ptr<MatrixEngine> open_instruction(std::string_view name, const Engine& formats);

// Products of cuBLAS ("fp16-fp32"): C += A B with 256 x 256 results, of which one is looked at.
std::string missing_cublas(std::string_view name);
std::unique_ptr<MatrixEngine> open_cublas(std::string_view name, const Engine& formats);

}  // namespace vernier::model::gpu
