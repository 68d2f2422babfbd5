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

// The shared memory that a launch asks for.
template <class Shared>
__device__ __forceinline__ Shared& dynamic_shared() {
  extern __shared__ __align__(16) std::uint8_t dynamic[];
  return *reinterpret_cast<Shared*>(dynamic);
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

// 16 bytes to a block of a cluster of at least two, counted on a barrier of that block. PTX ISA 8.1, section 9.7.9.12.
__device__ __forceinline__ void store_async(std::uint32_t address, const uint4& v, std::uint32_t barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(barrier)
      : "memory");
}

// 16 bytes to memory that nobody reads meanwhile, without a branch.
__device__ __forceinline__ void store_if(bool wanted, uint4* to, const uint4& v) {
  asm volatile(
      "{\n .reg .pred wanted;\n setp.ne.s32 wanted, %0, 0;\n"
      " @wanted st.global.v4.b32 [%1], {%2, %3, %4, %5};\n}" ::"r"(static_cast<int>(wanted)),
      "l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
}

// Words that other blocks are about to write. PTX ISA 8.0, section 9.7.8.8.
__device__ __forceinline__ longlong2 load_volatile(const longlong2* p) {
  longlong2 v;
  asm volatile("ld.volatile.global.v2.s64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(p) : "memory");
  return v;
}

// ---- copies of single words and of 16 bytes, in groups -------------------------------------------------------------

// Four bytes into shared memory, or zeros where they do not exist.
__device__ __forceinline__ void copy_word_async(std::uint32_t destination, const void* source, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(destination), "l"(source), "r"(exists ? 4 : 0)
               : "memory");
}
// 16 bytes to shared memory, past the first-level cache.
__device__ __forceinline__ void copy_16_bytes(std::uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// ---- bulk copies, of boxes of tensor_map.hpp and of bytes ----------------------------------------------------------

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

// ---- small asynchronous copies to shared memory
// ----------------------------------------------------------------------

// One element; zeros if there is none, and then nothing is read.
template <class T>
__device__ __forceinline__ void copy_async(void* to, const T* from, bool exists) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(sizeof(T)),
               "r"(exists ? static_cast<int>(sizeof(T)) : 0)
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

__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// The copies since the last call are one group; all groups but the last `Groups` have arrived.
__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups>
__device__ __forceinline__ void wait_for_copies_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

// From here on the compiler takes x for any number: it neither computes it anew nor makes copies of what it came from.
template <class Word>
__device__ __forceinline__ void keep(Word& x) {
  static_assert(sizeof(Word) == 4);
  asm volatile("" : "+r"(x));
}

// ---- products of small byte matrices by a warp (PTX ISA 8.0, 9.7.13.4) ----------------------------------------------

// d = c + a b: 16 x 32 signed by 32 x 8 unsigned bytes, in the layout of mma.m16n8k32. By all lanes together.
__device__ __forceinline__ void mma_bytes(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                          const int (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// The same with 16 bytes of depth.
__device__ __forceinline__ void mma_bytes(int (&d)[4], const std::uint32_t (&a)[2], std::uint32_t b,
                                          const int (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// d = d + a b in fp64: 16 x 16 by 16 x 8, a chain of fused multiply-adds.
__device__ __forceinline__ void mma_doubles(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
}

__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
// Orders nothing but initialised barriers (fence_barrier_init).
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
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

// Before 9.0 there is none, and launch() asks for none.
__device__ __forceinline__ void wait_for_previous_kernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace vernier::cuda
