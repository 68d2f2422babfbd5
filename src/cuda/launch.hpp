// Kernel launches with what <<<>>> cannot say.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "cuda/status.hpp"

namespace vernier::cuda {

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;  // dynamic; above 48 KiB the kernel is told so before its launch
  dim3 cluster = dim3(1, 1, 1);  // in blocks; must divide the grid
  // Programmatic dependent launch where the GPU has it: the kernel calls wait_for_previous_kernels() itself.
  bool overlap_previous = false;
};

// Tells the driver what a kernel may take: once for each kernel and device, and again when a limit rises. Limits never
// fall, so that no thread's launch depends on what another one asks for. Returns whether the kernel waits for those
// before it: code of GPUs before 9.0 does not.
inline bool grant(const char* name, const void* kernel, const LaunchShape& shape) {
  struct Limits {
    std::size_t shared_bytes = 48 * 1024;
    bool known = false, waits = false, large_clusters = false;
  };
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, Limits> granted;
  int device = 0;
  check(cudaGetDevice(&device), name);
  std::unique_lock lock(mutex);
  Limits& limits = granted[{kernel, device}];  // stays where it is when others are added
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

// LaunchShape as the runtime wants it.
class LaunchConfig {
 public:
  LaunchConfig(const LaunchShape& shape, cudaStream_t stream, bool may_overlap = true) {
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
  }
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;

  cudaLaunchConfig_t config{};

 private:
  cudaLaunchAttribute attributes_[2];
};

// Arguments are converted to the kernel's parameter types. Throws Error(Status::device_error) naming the kernel.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            Arguments&&... arguments) {
  const bool waits = grant(name, reinterpret_cast<const void*>(kernel), shape);
  const LaunchConfig config(shape, stream, waits);
  check(cudaLaunchKernelEx(&config.config, kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...),
        name);
}

// How many clusters of this shape the current device runs at once: 0 where it cannot run even one.
template <class... Parameters>
int resident_clusters(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape) {
  grant(name, reinterpret_cast<const void*>(kernel), shape);
  const LaunchConfig config(shape, nullptr);
  int count = 0;
  const cudaError_t code = cudaOccupancyMaxActiveClusters(&count, kernel, &config.config);
  (void)cudaGetLastError();
  return code == cudaSuccess ? count : 0;
}

}  // namespace vernier::cuda
