#include "cuda/launch.hpp"

#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace vernier::cuda {

bool grant(const char* name, const void* kernel, const LaunchShape& shape) {
  struct Limits {
    std::size_t shared_bytes = 48 * 1024;
    bool known = false, waits = false, large_clusters = false;
  };
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, Limits> granted;
  int device = 0;
  check(cudaGetDevice(&device), name);
  std::unique_lock lock(mutex);
  Limits unknown;
  Limits& limits = [&]() -> Limits& {
    try {
      return granted[{kernel, device}];  // stays where it is when others are added
    } catch (const std::bad_alloc&) {    // an earlier kernel may have written the output: this one is asked about again
      return unknown;
    }
  }();
  const auto set = [&](cudaFuncAttribute attribute, std::size_t value) {
    check(cudaFuncSetAttribute(kernel, attribute, static_cast<int>(value)), name);
  };
  if (!limits.known) {
    lock.unlock();  // the driver may have to compile the kernel first
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), name);
    lock.lock();
    limits.waits = attributes.ptxVersion >= 90;
    limits.known = true;
  }
  if (shape.shared_bytes > limits.shared_bytes) {
    set(cudaFuncAttributeMaxDynamicSharedMemorySize, shape.shared_bytes);
    limits.shared_bytes = shape.shared_bytes;
  }
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z > 8 && !limits.large_clusters) {
    set(cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    limits.large_clusters = true;
  }
  return limits.waits;
}

LaunchConfig::LaunchConfig(const LaunchShape& shape, cudaStream_t stream, bool may_overlap) {
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes_;
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z > 1) {
    cudaLaunchAttribute& a = attributes_[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = shape.cluster.x;
    a.val.clusterDim.y = shape.cluster.y;
    a.val.clusterDim.z = shape.cluster.z;
  }
  if (shape.overlap_previous && may_overlap) {
    cudaLaunchAttribute& a = attributes_[config.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.together) {
    cudaLaunchAttribute& a = attributes_[config.numAttrs++];
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
  }
}

int resident_clusters(const char* name, const void* kernel, const LaunchShape& shape) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, int> known;
  int device = 0;
  check(cudaGetDevice(&device), name);
  {
    const std::lock_guard lock(mutex);
    if (const auto at = known.find({kernel, device}); at != known.end()) return at->second;
  }
  grant(name, kernel, shape);
  const LaunchConfig config(shape, nullptr);
  int count = 0;
  const cudaError_t code = cudaOccupancyMaxActiveClusters(&count, kernel, &config.config);
  (void)cudaGetLastError();
  if (code != cudaSuccess || count == 0) return 0;  // asked again: what failed may have passed by then
  try {
    const std::lock_guard lock(mutex);
    known[{kernel, device}] = count;
  } catch (const std::bad_alloc&) {  // asked again
  }
  return count;
}

}  // namespace vernier::cuda
