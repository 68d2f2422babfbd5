// One instruction, one small function: what Hopper kernels need beyond CUDA C++. Inline assembly stands here and in the
// wgmma headers of the engines, and nowhere else. PTX ISA 8.0, sections 9.7.12 (mbarrier), 9.7.8 (bulk copies), 9.7.14
// (wgmma).
#pragma once

#include <cuda.h>

#include <cstdint>

namespace vernier::cuda {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// ---- mbarrier, by shared-memory address ----------------------------------------------------------------------------

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// Makes initialised barriers visible to the copies and to the other blocks of a cluster.
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and has the phase wait for that many bytes of copies.
__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// On the barrier at the same address of block `rank` of the cluster. For stages that only wgmma has read: with
// .release.cluster this would be a MEMBAR.ALL.GPU in the inner loop (1340 against 1108 cycles for 128 k of int8
// products), and there is nothing to release, since wgmma.wait_group has ordered those reads.
__device__ __forceinline__ void barrier_arrive_remote(std::uint32_t barrier, int rank) {
  asm volatile(
      "{\n .reg .b32 there;\n"
      " mapa.shared::cluster.u32 there, %0, %1;\n"
      " mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      " @!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// As barrier_wait, for what other blocks of the cluster have stored: their stores are visible after.
__device__ __forceinline__ void barrier_wait_cluster(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      " @!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// The same shared-memory address in block `rank` of the cluster.
__device__ __forceinline__ std::uint32_t address_in_block(std::uint32_t address, int rank) {
  std::uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// 16 bytes to another block of the cluster, counted on a barrier of that block. PTX ISA 8.1, section 9.7.9.12.
__device__ __forceinline__ void store_async(std::uint32_t address, const uint4& v, std::uint32_t barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(barrier)
      : "memory");
}

// Words that other blocks are about to write. PTX ISA 8.0, section 9.7.8.8.
__device__ __forceinline__ longlong2 load_volatile(const longlong2* p) {
  longlong2 v;
  asm volatile("ld.volatile.global.v2.s64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(p) : "memory");
  return v;
}

// ---- bulk tensor copies of tensor_map.hpp's boxes
// --------------------------------------------------------------------

__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ __forceinline__ void load_box(std::uint32_t destination, const CUtensorMap* map, std::uint32_t barrier,
                                         int byte, int row, int plane) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(destination),
      "l"(map), "r"(byte), "r"(row), "r"(plane), "r"(barrier)
      : "memory");
}

// To the same address of every block of the cluster whose bit is set in `blocks`, each with its own barrier.
__device__ __forceinline__ void load_box_multicast(std::uint32_t destination, const CUtensorMap* map,
                                                   std::uint32_t barrier, int byte, int row, int plane,
                                                   std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(destination),
      "l"(map), "r"(byte), "r"(row), "r"(plane), "r"(barrier), "h"(blocks)
      : "memory");
}

// Ordinary stores to shared memory before, copies and wgmma that read it after.
__device__ __forceinline__ void fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- warpgroups and clusters
// -----------------------------------------------------------------------------------------

// Operand of wgmma in shared memory: rows of 128 bytes along k, 128-byte swizzle, groups of 8 rows 1024 bytes apart,
// aligned to 1024 bytes. 32 bytes further along k: + 2. 64 rows further: + 64 * 128 / 16.
__device__ __forceinline__ std::uint64_t wgmma_operand(std::uint32_t address) {
  return static_cast<std::uint64_t>((address & 0x3ffff) >> 4) | std::uint64_t{1} << 16 | std::uint64_t{64} << 32 |
         std::uint64_t{1} << 62;
}

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int Pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

template <int Registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

template <int Registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }

// A barrier among `threads` threads, of the 16 that a block has; 0 is __syncthreads().
__device__ __forceinline__ void named_barrier_sync(int name, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(int name, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

// ---- overlap of one kernel's end with the next one's start (LaunchShape::overlap_previous)
// ---------------------------

__device__ __forceinline__ void wait_for_previous_kernels() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void allow_next_kernel() { asm volatile("griddepcontrol.launch_dependents;"); }

}  // namespace vernier::cuda
