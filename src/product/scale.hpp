// C = beta C on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "product/scalars.hpp"
#include "vernier/rounding.hpp"

namespace vernier::cuda {

// C = beta C; 0 if beta = 0.
template <class T>
void scale_on_device(std::int64_t m, std::int64_t n, const DeviceFactor<T>& beta, T* c, std::int64_t ldc,
                     Rounding rounding, cudaStream_t stream);

}  // namespace vernier::cuda
