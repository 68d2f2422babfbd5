#include "cuda/stream_buffer.hpp"

#include <cstdint>
#include <map>
#include <mutex>

#include "cuda/status.hpp"

namespace vernier::cuda {
namespace {

// One pool for each device, which keeps what it has: a call's workspace is the next call's.
cudaMemPool_t pool() {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  const std::lock_guard lock(mutex);
  const auto found = pools.find(device);
  if (found != pools.end()) return found->second;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaMemPool_t made = nullptr;
  check(cudaMemPoolCreate(&made, &properties), "cudaMemPoolCreate");
  std::uint64_t everything = UINT64_MAX;
  check(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &everything), "cudaMemPoolSetAttribute");
  return pools[device] = made;
}

}  // namespace

StreamBuffer::StreamBuffer(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
  if (bytes != 0) check(cudaMallocFromPoolAsync(&data_, bytes, pool(), stream), "workspace");
}

StreamBuffer::~StreamBuffer() {
  if (data_ != nullptr) (void)cudaFreeAsync(data_, stream_);
}

void trim_stream_buffers() { check(cudaMemPoolTrimTo(pool(), 0), "cudaMemPoolTrimTo"); }

}  // namespace vernier::cuda
