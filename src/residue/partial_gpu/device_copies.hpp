// Lists of the host in device memory, and matrices of the device in that of the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/device.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {

// Numbers of the host in device memory.
template <class Number>
class DeviceList {
 public:
  DeviceList(std::span<const Number> list, cudaStream_t stream)
      : memory_(std::max<std::size_t>(1, list.size_bytes()), stream) {
    if (!list.empty())
      check(cudaMemcpyAsync(memory_.data(), list.data(), list.size_bytes(), cudaMemcpyHostToDevice, stream),
            "copy of indices and scales");
  }
  const Number* data() const { return reinterpret_cast<const Number*>(memory_.data()); }

 private:
  DeviceWorkspace memory_;
};

// A matrix of the device in memory of the host: columns of so many bytes, some bytes apart.
class HostCopy {
 public:
  HostCopy(const void* device, std::size_t column_bytes, std::size_t step, std::int64_t columns, cudaStream_t stream)
      : device_(device),
        column_(column_bytes),
        step_(step),
        columns_(static_cast<std::size_t>(columns)),
        stream_(stream) {
    data_.resize(columns_ == 0 ? 0 : step_ * (columns_ - 1) + column_);
    copy(data_.data(), device_, cudaMemcpyDeviceToHost);
  }
  std::byte* data() { return data_.data(); }
  void store() const { copy(const_cast<void*>(device_), data_.data(), cudaMemcpyHostToDevice); }

 private:
  void copy(void* to, const void* from, cudaMemcpyKind kind) const {
    if (columns_ == 0 || column_ == 0) return;
    check(cudaMemcpy2DAsync(to, step_, from, step_, column_, columns_, kind, stream_), "copy of a part");
    check(cudaStreamSynchronize(stream_), "copy of a part");
  }

  const void* device_;
  std::size_t column_, step_, columns_;
  cudaStream_t stream_;
  std::vector<std::byte> data_;
};

}  // namespace vernier::cuda
