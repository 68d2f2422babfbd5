// alpha and beta as kernels read them.
#pragma once

#include "product/scalars.hpp"

namespace vernier::cuda {

template <class T>
__device__ __forceinline__ T value_of(const DeviceFactor<T>& factor) {
  return factor.in_device_memory != nullptr ? *factor.in_device_memory : factor.value;
}

}  // namespace vernier::cuda
