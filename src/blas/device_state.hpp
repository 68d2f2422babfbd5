// What products on a GPU keep between calls: memory, and for each stream the words in which kernels tell the host what
// they found.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

#include "base/workspace.hpp"
#include "scheme/device_convert.hpp"

namespace vernier {
struct DeviceProductPlan;
}

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

 private:
  void* data_ = nullptr;
};

// That no other stream of the device has or had.
unsigned long long id_of(cudaStream_t stream);

void release_device_memory();

// Bytes that a workspace could have now: those free on the device and those that the pool keeps.
std::size_t available_device_memory();

// Products of one shape and contract on one stream: while their data keep turning out irregular, so that cuBLAS takes
// them after a look in vain, most are not looked at. For contracts alone that promise no bits.
bool wants_a_look(cudaStream_t stream, const DeviceProductPlan& plan);
void looked(cudaStream_t stream, const DeviceProductPlan& plan, bool in_vain);

// The words of one stream. Products on the same stream take turns; the lock is held until the host has its answer.
class RegularityWords {
 public:
  explicit RegularityWords(cudaStream_t stream, bool lean = false);  // lean: of products by lean_rule()
  ~RegularityWords();  // an answer that nobody waited for must not be taken for the next product's
  RegularityWords(const RegularityWords&) = delete;
  RegularityWords& operator=(const RegularityWords&) = delete;

  Regularity regularity() const;
  bool wait();               // until a kernel has answered: is the product regular? Throws if the stream failed instead
  bool was_regular() const;  // the stream's last product of this kind; true before the first

 private:
  struct Words;
  static Words& of_stream(cudaStream_t stream);

  cudaStream_t stream_;
  Words& words_;
  bool lean_, answered_ = false;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace vernier::cuda
