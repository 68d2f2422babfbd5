// Kernel launches with what <<<>>> cannot say.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>
#include <utility>

#include "cuda/status.hpp"

namespace vernier::cuda {

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;   // dynamic; above 48 KiB the kernel is told so before its launch
  dim3 cluster = dim3(1, 1, 1);   // in blocks; must divide the grid
  bool overlap_previous = false;  // programmatic dependent launch: the kernel calls wait_for_previous_kernels() itself
};

// A kernel's limit of shared memory belongs to the function: another thread's smaller one must not come between it and
// the launch.
inline std::mutex& shared_memory_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Arguments are converted to the kernel's parameter types. Throws Error(Status::device_error) naming the kernel.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            Arguments&&... arguments) {
  std::unique_lock lock(shared_memory_mutex(), std::defer_lock);
  if (shape.shared_bytes > 48 * 1024) {
    lock.lock();
    check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes)),
        name);
  }
  // Clusters of more than 8 blocks are not on every GPU, and have to be asked for.
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z > 8)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), name);
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z > 1) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = shape.cluster.x;
    a.val.clusterDim.y = shape.cluster.y;
    a.val.clusterDim.z = shape.cluster.z;
  }
  if (shape.overlap_previous) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
  }
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...), name);
}

}  // namespace vernier::cuda
