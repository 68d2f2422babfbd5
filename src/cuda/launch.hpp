// Kernel launches with what <<<>>> cannot say.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/status.hpp"

namespace vernier::cuda {

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;  // dynamic; above 48 KiB the kernel is told so before its launch
  dim3 cluster = dim3(1, 1, 1);  // in blocks; must divide the grid
  // Programmatic dependent launch where the GPU has it: the kernel calls wait_for_previous_kernels() itself.
  bool overlap_previous = false;
  bool together = false;  // all blocks run at once, and may wait for each other
};

// Tells the driver what a kernel may take: once for each kernel and device, and again when a limit rises. Limits never
// fall, so that no thread's launch depends on what another one asks for. Returns whether the kernel waits for those
// before it: code of GPUs before 9.0 does not.
bool grant(const char* name, const void* kernel, const LaunchShape& shape);

// LaunchShape as the runtime wants it.
class LaunchConfig {
 public:
  LaunchConfig(const LaunchShape& shape, cudaStream_t stream, bool may_overlap = true);
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;

  cudaLaunchConfig_t config{};

 private:
  cudaLaunchAttribute attributes_[3];
};

// Arguments are converted to the kernel's parameter types. Throws Error(Status::device_error) naming the kernel.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            Arguments&&... arguments) {
  const bool waits = grant(name, reinterpret_cast<const void*>(kernel), shape);
  const LaunchConfig config(shape, stream, waits);
  check(cudaLaunchKernelEx(&config.config, kernel, static_cast<Parameters>(static_cast<Arguments&&>(arguments))...),
        name);
}

// How many clusters of a kernel's one shape the current device runs at once, asked until known: 0 where it cannot run
// even one.
int resident_clusters(const char* name, const void* kernel, const LaunchShape& shape);

}  // namespace vernier::cuda
