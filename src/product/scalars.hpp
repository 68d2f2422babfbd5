// alpha and beta of a product on a GPU, in the memory of the host or of the device.
#pragma once

#include "number/host_device.hpp"

namespace vernier::cuda {

template <class T>
struct DeviceFactor {
  T value{};
  const T* in_device_memory = nullptr;  // if given, value is read from there
};

// As kernels read it.
template <class T>
VERNIER_HD T value_of(const DeviceFactor<T>& factor) {
  return factor.in_device_memory != nullptr ? *factor.in_device_memory : factor.value;
}

}  // namespace vernier::cuda
