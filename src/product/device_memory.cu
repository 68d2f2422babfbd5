#include "product/device_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

#include "cuda/device.hpp"
#include "product/staging_memory.hpp"

namespace vernier::cuda {
namespace {

// One pool for each device, which keeps what it has until it is asked to let go.
cudaMemPool_t pool_of_current_device() {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const int device = current_device().number;
  const std::lock_guard lock(mutex);
  const auto found = pools.find(device);
  if (found != pools.end()) return found->second;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
  return pools[device] = pool;
}

std::uint64_t pool_attribute(cudaMemPoolAttr attribute) {
  std::uint64_t value = 0;
  check(cudaMemPoolGetAttribute(pool_of_current_device(), attribute, &value), "cudaMemPoolGetAttribute");
  return value;
}

}  // namespace

DeviceWorkspace::DeviceWorkspace(std::size_t bytes, cudaStream_t stream, void* callers_own)
    : data_(static_cast<std::byte*>(callers_own)),
      bytes_(bytes),
      stream_(stream),
      callers_own_(callers_own != nullptr) {
  if (callers_own_) return;
  void* data = nullptr;
  check(cudaMallocFromPoolAsync(&data, bytes, pool_of_current_device(), stream), "workspace");
  data_ = static_cast<std::byte*>(data);
}

DeviceWorkspace::~DeviceWorkspace() {
  if (!callers_own_) (void)cudaFreeAsync(data_, stream_);
}

PinnedMemory::PinnedMemory(std::size_t bytes) {
  check(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable), "cudaHostAlloc");
}

PinnedMemory::~PinnedMemory() {
  if (lives()) (void)cudaFreeHost(data_);
}

bool PinnedMemory::lives() const {
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, data_) == cudaSuccess;
  if (!known) (void)cudaGetLastError();
  return known && attributes.type == cudaMemoryTypeHost;
}

void release_device_memory() {
  check(cudaMemPoolTrimTo(pool_of_current_device(), 0), "cudaMemPoolTrimTo");
  release_staging_memory();
}

std::size_t available_device_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free + pool_attribute(cudaMemPoolAttrReservedMemCurrent) - pool_attribute(cudaMemPoolAttrUsedMemCurrent);
}

cudaError_t copy_lines(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                       std::size_t lines, cudaStream_t stream) {
  constexpr std::size_t longest_pitch = 0x7fffffff;  // of a strided copy; few such lines fit any memory
  if (std::max(to_pitch, from_pitch) <= longest_pitch)
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, lines, cudaMemcpyDeviceToDevice, stream);
  cudaError_t code = cudaSuccess;
  for (std::size_t j = 0; j < lines && code == cudaSuccess; ++j)
    code =
        cudaMemcpyAsync(static_cast<std::byte*>(to) + j * to_pitch,
                        static_cast<const std::byte*>(from) + j * from_pitch, bytes, cudaMemcpyDeviceToDevice, stream);
  return code;
}

unsigned long long id_of(cudaStream_t stream) {
  unsigned long long id = 0;
  check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
  return id;
}

}  // namespace vernier::cuda
