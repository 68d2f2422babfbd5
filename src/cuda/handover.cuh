// What blocks of a kernel hand to each other by way of memory, and quads copied aside: what ptx.cuh is to the rest. PTX
// ISA 8.0, sections 8.9 (proxies), 9.7.8.8 and 9.7.8.22.
#pragma once

#include <cstdint>

namespace vernier::cuda {

// A word that other blocks count up: what they did before is visible after.
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* p) {
  std::uint32_t v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// Between ordinary stores to global memory and bulk copies that read it: by who stored, and by who copies.
__device__ __forceinline__ void fence_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

// Sixteen bytes to shared memory, past the first-level cache.
__device__ __forceinline__ void copy_quad_async(std::uint32_t destination, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(destination), "l"(source) : "memory");
}

}  // namespace vernier::cuda
