// CUDA's error codes as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include "base/status.hpp"

namespace vernier::cuda {

// Throws Error unless code is cudaSuccess: out_of_memory, unsupported or device_error. what says what was tried, for
// the message.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // a sticky error would otherwise be reported again by the next, innocent call
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction)
    fail(Status::unsupported, "{}: this library has no code of it for the GPU at hand", what);
  fail(code == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::device_error, "{}: {} ({})", what,
       cudaGetErrorString(code), cudaGetErrorName(code));
}

// After a kernel launch by <<<>>>: launch errors only, no synchronisation.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace vernier::cuda
