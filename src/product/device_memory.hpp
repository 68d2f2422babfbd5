// What products on a GPU keep between calls: device memory, pinned memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "base/workspace.hpp"

namespace vernier::cuda {

// Device memory for work on one stream: the caller's, or where that is null from a pool of the library's own.
class DeviceWorkspace {
 public:
  DeviceWorkspace(std::size_t bytes, cudaStream_t stream, void* callers_own = nullptr);
  ~DeviceWorkspace();
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  DeviceWorkspace& operator=(const DeviceWorkspace&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Arena arena() const { return {data_, bytes_}; }

 private:
  std::byte* data_;
  std::size_t bytes_;
  cudaStream_t stream_;
  bool callers_own_;
};

// Memory of the host that a device copies to and from directly.
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  void* data() const { return data_; }
  bool lives() const;  // false: the program has reset the device, and the memory is gone

 private:
  void* data_ = nullptr;
};

// `lines` lines of so many bytes, each pitch behind the one before, from device memory to device memory.
cudaError_t copy_lines(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                       std::size_t lines, cudaStream_t stream);

// That no other stream of the device has or had.
unsigned long long id_of(cudaStream_t stream);

void release_device_memory();

// Bytes that a workspace could have now: those free on the device and those that the pool keeps.
std::size_t available_device_memory();

}  // namespace vernier::cuda
