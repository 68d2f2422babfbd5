// alpha and beta of a product on a GPU, in the memory of the host or of the device.
#pragma once

namespace vernier::cuda {

template <class T>
struct DeviceFactor {
  T value{};
  const T* in_device_memory = nullptr;  // if given, value is read from there
};

}  // namespace vernier::cuda
