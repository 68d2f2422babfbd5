// A list of numbers in device memory.
#pragma once

#include <cstring>
#include <vector>

#include "cuda/device.hpp"

namespace vernier::test {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& x) : memory_(x.size()) {
    cuda::copy_to_device(memory_.data(), x.data(), x.size() * sizeof(T));
  }
  T* data() const { return memory_.data(); }
  std::vector<T> read() const {
    std::vector<T> x(memory_.size());
    cuda::check(cudaMemcpy(x.data(), memory_.data(), memory_.bytes(), cudaMemcpyDeviceToHost), "to the host");
    return x;
  }
  bool has(const std::vector<T>& expected) const {  // the same bytes
    return std::memcmp(read().data(), expected.data(), memory_.bytes()) == 0;
  }

 private:
  cuda::DeviceBuffer<T> memory_;
};

}  // namespace vernier::test
