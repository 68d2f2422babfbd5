// Stands in for src/product/device_memory.hpp.
#pragma once

#include <vector>

#include "base/workspace.hpp"
#include "cuda/device.hpp"

namespace vernier::emulated {

class Workspace {
 public:
  Workspace(std::size_t bytes, cudaStream_t) : data_(bytes, std::byte{0x5a}) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::byte* data() const { return data_.data(); }
  std::size_t bytes() const { return data_.size(); }
  Arena arena() const { return {data(), bytes()}; }

 private:
  mutable std::vector<std::byte> data_;
};

}  // namespace vernier::emulated

namespace vernier::cuda {

using DeviceWorkspace = emulated::Workspace;
// static: the library has another one
[[maybe_unused]] static std::size_t available_device_memory() { return std::size_t{1} << 24; }

}  // namespace vernier::cuda
