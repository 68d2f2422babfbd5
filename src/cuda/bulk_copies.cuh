// Copies beside the loads of boxes of ptx.cuh, and what blocks hand to each other by way of memory. Bulk copies: PTX
// ISA 8.0, section 9.7.8.24; words and proxies: sections 9.7.8.8 and 8.9.
#pragma once

#include <cstdint>

#include "cuda/ptx.cuh"

namespace vernier::cuda {

// A box of tensor_map.hpp from shared memory, in a group of the thread; what it has beyond the matrix is not written.
__device__ __forceinline__ void store_box(const CUtensorMap* map, std::uint32_t source, int byte, int row, int plane) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(source), "r"(byte), "r"(row), "r"(plane)
               : "memory");
}
__device__ __forceinline__ void close_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until shared memory is free again; until all is written.
__device__ __forceinline__ void wait_for_stores_to_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// Bytes side by side, a multiple of 16 like both addresses.
__device__ __forceinline__ void load_bytes(std::uint32_t destination, const void* source, int bytes,
                                           std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(destination),
      "l"(source), "r"(bytes), "r"(barrier)
      : "memory");
}

// As copy_async; the second-level cache takes 256 bytes from memory at once, for neighbours who ask for them next. PTX
// ISA 8.0, section 9.7.8.22.
template <class T>
__device__ __forceinline__ void copy_async_ahead(void* to, const T* from, bool exists) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from),
               "n"(sizeof(T)), "r"(exists ? static_cast<int>(sizeof(T)) : 0)
               : "memory");
}

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
