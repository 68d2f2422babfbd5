// CUDA's error codes as exceptions. Every kernel includes this: its words are elsewhere.
#pragma once

#include <cuda_runtime_api.h>

namespace vernier::cuda {

// Throws Error: out_of_memory, unsupported or device_error. what says what was tried, for the message.
[[noreturn]] void fail_with(cudaError_t code, const char* what);

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) fail_with(code, what);
}

// After a kernel launch by <<<>>>: launch errors only, no synchronisation.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace vernier::cuda
