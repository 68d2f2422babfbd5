// What estimates know of the current GPU.
#pragma once

#include <string>

#include "product/plan/gpu_model.hpp"

namespace vernier::cuda {

// By public figures, or by the rates that the file (product/plan/measured_rates.hpp) has for a GPU of this name and
// its cuBLAS: read once a process.
GpuModel current_gpu();

std::string gpu_blas();   // "cuBLAS", in the place of a processor's BLAS
void forget_gpu_rates();  // the next question reads the file again

}  // namespace vernier::cuda
