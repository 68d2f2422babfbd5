// A copy to shared memory beside those of ptx.cuh, with a hint for the second-level cache.
#pragma once

#include "cuda/ptx.cuh"

namespace vernier::cuda {

// As copy_async; the second-level cache takes 256 bytes from memory at once, for neighbours who ask for them next. PTX
// ISA 8.0, section 9.7.8.22.
template <class T>
__device__ __forceinline__ void copy_async_ahead(void* to, const T* from, bool exists) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from),
               "n"(sizeof(T)), "r"(exists ? static_cast<int>(sizeof(T)) : 0)
               : "memory");
}

}  // namespace vernier::cuda
