// One warpgroup and its operands: how every instruction whose k is 32 bytes is run.
//
// Shared memory holds 64 rows of A and 8 of B (columns), 128 bytes each in the 128-byte swizzle of wgmma: four k slices
// of 32 bytes, which are four independent products for wgmma (64 x 8 results) or for four warps' mma.sync (16 x 8
// results each).
#pragma once

#include <cuda_runtime.h>

#include "cuda/ptx.cuh"
#include "model/hardware/dot.hpp"
#include "model/spec.hpp"

namespace vernier::model::gpu {

// The matrix instructions of Hopper, one small function each. K is 32 bytes of operand for all of them, and a warp's
// fragments depend on bytes only: register r of A holds bytes 4t ... 4t+3 (+ 16 for r >= 2) of row g (+ 8 for odd r),
// where g = lane / 4 and t = lane % 4; d holds (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1), two to a register if they
// are fp16.

#define VERNIER_MMA32(NAME, ASM)                                                                              \
  __device__ inline void NAME(std::uint32_t(&d)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[2]) { \
    asm volatile(ASM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                 \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                         \
  }
#define VERNIER_MMA32F(NAME, ASM)                                                                              \
  __device__ inline void NAME(std::uint32_t(&w)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[2]) {  \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])}; \
    asm volatile(ASM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                  \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                          \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                  \
  }
VERNIER_MMA32F(mma_f16_f32, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
VERNIER_MMA32F(mma_bf16_f32, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
VERNIER_MMA32F(mma_tf32_f32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
VERNIER_MMA32F(mma_e4m3_f32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
VERNIER_MMA32F(mma_e5m2_f32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32")
VERNIER_MMA32(mma_s8_s32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
VERNIER_MMA32(mma_s8_s32_satfinite, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite")
#define VERNIER_MMA16(NAME, ASM)                                                                              \
  __device__ inline void NAME(std::uint32_t(&d)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[2]) { \
    asm volatile(ASM " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                                             \
                 : "+r"(d[0]), "+r"(d[1])                                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                         \
  }
VERNIER_MMA16(mma_f16_f16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
VERNIER_MMA16(mma_e4m3_f16, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16")
VERNIER_MMA16(mma_e5m2_f16, "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16")

// Sparse instructions: A holds two of every four elements, and four bits of metadata a group say which two.
#define VERNIER_MMA_SPARSE(NAME, ASM)                                                                          \
  __device__ inline void NAME(std::uint32_t(&w)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[4],    \
                              std::uint32_t metadata) {                                                        \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])}; \
    asm volatile(ASM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"                \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),     \
                   "r"(metadata));                                                                             \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                  \
  }
VERNIER_MMA_SPARSE(mma_sp_f16_f32, "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
VERNIER_MMA_SPARSE(mma_sp_bf16_f32, "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32")

// a and b of wgmma are operands in shared memory (cuda::wgmma_operand).
#define VERNIER_WGMMA32F(NAME, ASM, TAIL)                                                                      \
  __device__ inline void NAME(std::uint32_t(&w)[4], std::uint64_t a, std::uint64_t b) {                        \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])}; \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM                 \
                 " {%0,%1,%2,%3}, %4, %5, p, 1, 1" TAIL                                                        \
                 ";\n"                                                                                         \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"                      \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
                 : "l"(a), "l"(b)                                                                              \
                 : "memory");                                                                                  \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                  \
  }
#define VERNIER_WGMMA_SPARSE(NAME, ASM)                                                                         \
  __device__ inline void NAME(std::uint32_t(&w)[4], std::uint64_t a, std::uint64_t b, std::uint32_t metadata) { \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])};  \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM                  \
                 " {%0,%1,%2,%3}, %4, %5, %6, 0, p, 1, 1, 0, 0;\n"                                              \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"                       \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                               \
                 : "l"(a), "l"(b), "r"(metadata)                                                                \
                 : "memory");                                                                                   \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                   \
  }
#define VERNIER_WGMMA16(NAME, ASM, TAIL)                                                       \
  __device__ inline void NAME(std::uint32_t(&d)[4], std::uint64_t a, std::uint64_t b) {        \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM \
                 " {%0,%1}, %2, %3, p, 1, 1" TAIL                                              \
                 ";\n"                                                                         \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"      \
                 : "+r"(d[0]), "+r"(d[1])                                                      \
                 : "l"(a), "l"(b)                                                              \
                 : "memory");                                                                  \
  }
#define VERNIER_WGMMA32S(NAME, ASM)                                                            \
  __device__ inline void NAME(std::uint32_t(&d)[4], std::uint64_t a, std::uint64_t b) {        \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM \
                 " {%0,%1,%2,%3}, %4, %5, p;\n"                                                \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"      \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                              \
                 : "l"(a), "l"(b)                                                              \
                 : "memory");                                                                  \
  }
VERNIER_WGMMA32F(wgmma_f16_f32, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", ", 0, 0")
VERNIER_WGMMA32F(wgmma_bf16_f32, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", ", 0, 0")
VERNIER_WGMMA_SPARSE(wgmma_sp_f16_f32, "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16")
VERNIER_WGMMA_SPARSE(wgmma_sp_bf16_f32, "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16")
VERNIER_WGMMA32F(wgmma_tf32_f32, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", "")
VERNIER_WGMMA32F(wgmma_e4m3_f32, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", "")
VERNIER_WGMMA32F(wgmma_e5m2_f32, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2", "")
VERNIER_WGMMA16(wgmma_f16_f16, "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", ", 0, 0")
VERNIER_WGMMA16(wgmma_e4m3_f16, "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", "")
VERNIER_WGMMA16(wgmma_e5m2_f16, "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e5m2", "")
VERNIER_WGMMA32S(wgmma_s8_s32, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8")
VERNIER_WGMMA32S(wgmma_s8_s32_satfinite, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite")

inline constexpr int rows_a = 64, rows_b = 8, slices = 4;

struct Tile {
  std::uint32_t a[rows_a * 32];
  std::uint32_t b[rows_b * 32];
  std::uint32_t metadata[slices];  // of sparse instructions: 16 bits, for groups 0 to 3 and for groups 4 to 7
};

// An instruction by its function, with what is needed to run it: is it a warpgroup's, is it sparse, what is its engine.
#define VERNIER_ANY_INSTRUCTION(NAME, WARPGROUP, SPARSE, ENGINE) \
  struct NAME##_instruction {                                    \
    static constexpr bool warpgroup = WARPGROUP;                 \
    static constexpr bool sparse = SPARSE;                       \
    static constexpr Engine engine = ENGINE;                     \
    template <class... Args>                                     \
    __device__ static void run(Args&&... args) {                 \
      NAME(args...);                                             \
    }                                                            \
  };
#define VERNIER_INSTRUCTION(NAME, WARPGROUP, ENGINE) VERNIER_ANY_INSTRUCTION(NAME, WARPGROUP, false, ENGINE)

// Word w (0 ... 7) of slice s of a row: the 16-byte chunks of a row are permuted by the row's number.
__device__ inline int place(int row, int s, int w) { return row * 32 + (((s * 2 + w / 4) ^ (row & 7)) * 4) + w % 4; }

// Half of a group of four 16-bit elements of B whose code picks the two elements of `stored`; what the code leaves out
// holds other numbers.
__device__ inline std::uint32_t sparse_word(std::uint32_t stored, std::uint32_t code, std::uint32_t half) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t position = 2 * half + i;
    const std::uint32_t x = (code & 3) == position    ? stored & 0xffff
                            : (code >> 2) == position ? stored >> 16
                                                      : (stored ^ 0x9a31) & 0xffff;
    word |= x << (16 * i);
  }
  return word;
}

// B of a sparse wgmma in shared memory, 64 bytes a row.
__device__ inline const std::uint32_t* widen(const Tile& tile, int s) {
  __shared__ __align__(1024) std::uint32_t wide[rows_b * 32];
  __syncthreads();
  const int row = threadIdx.x / 16, w = threadIdx.x % 16;
  wide[row * 32 + ((w / 4) ^ (row & 7)) * 4 + w % 4] =
      sparse_word(tile.b[place(row, s, w / 2)], tile.metadata[s] >> (w / 2 % 4 * 4) & 15, w % 2);
  cuda::fence_async_shared();
  __syncthreads();
  return wide;
}

template <class I>
__device__ void execute_sparse(const Tile& tile, int s, std::uint32_t (&d)[4]) {
  const std::uint32_t metadata = tile.metadata[s] * 0x10001;  // every thread: which ones are read does not matter
  if constexpr (I::warpgroup) {
    const std::uint32_t a = cuda::shared_address(tile.a);
    const std::uint32_t b = cuda::shared_address(widen(tile, s));
    I::run(d, cuda::wgmma_operand(a + 32 * s), cuda::wgmma_operand(b), metadata);
  } else {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = threadIdx.x / 32 * 16 + g;
    const std::uint32_t a[4] = {tile.a[place(row, s, t)], tile.a[place(row + 8, s, t)], tile.a[place(row, s, t + 4)],
                                tile.a[place(row + 8, s, t + 4)]};
    std::uint32_t b[4];
    for (int r = 0; r < 4; ++r) {
      const int group = 2 * r + t / 2;
      b[r] = sparse_word(tile.b[place(g, s, group)], metadata >> (group % 4 * 4) & 15, t % 2);
    }
    I::run(d, a, b, metadata);
  }
}

template <class I>
__device__ void execute(const Tile& tile, int s, std::uint32_t (&d)[4]) {
  if constexpr (I::sparse) {
    execute_sparse<I>(tile, s, d);
  } else if constexpr (I::warpgroup) {
    const std::uint32_t a = cuda::shared_address(tile.a);
    const std::uint32_t b = cuda::shared_address(tile.b);
    I::run(d, cuda::wgmma_operand(a + 32 * s), cuda::wgmma_operand(b + 32 * s));
  } else {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = threadIdx.x / 32 * 16 + g;
    const std::uint32_t a[4] = {tile.a[place(row, s, t)], tile.a[place(row + 8, s, t)], tile.a[place(row, s, t + 4)],
                                tile.a[place(row + 8, s, t + 4)]};
    const std::uint32_t b[2] = {tile.b[place(g, s, t)], tile.b[place(g, s, t + 4)]};
    I::run(d, a, b);
  }
}

// c and d of a thread, unpacked; fp16 results travel two to a register.
template <class I>
__device__ void execute_words(const Tile& tile, int s, const std::uint32_t (&c)[4], std::uint32_t (&d)[4]) {
  constexpr Engine E = I::engine;
  if constexpr (E.c == Format::fp16) {
    std::uint32_t w[4] = {c[0] | c[1] << 16, c[2] | c[3] << 16, 0, 0};
    execute<I>(tile, s, w);
    for (int i = 0; i < 4; ++i) d[i] = w[i / 2] >> (i % 2 * 16) & 0xffff;
  } else {
    for (int i = 0; i < 4; ++i) d[i] = c[i];
    execute<I>(tile, s, d);
  }
}

// One dot product in row 0, column 0 and slice 0 of a tile that is zero elsewhere; d to thread 0.
template <class I>
__device__ std::uint32_t evaluate(Tile& tile, const Dot& dot) {
  for (int i = threadIdx.x; i < rows_a * 32; i += 128) tile.a[i] = 0;
  for (int i = threadIdx.x; i < rows_b * 32; i += 128) tile.b[i] = 0;
  if (threadIdx.x < slices) tile.metadata[threadIdx.x] = dot.metadata;
  __syncthreads();
  if (threadIdx.x < 8) {
    tile.a[place(0, 0, threadIdx.x)] = dot.a[threadIdx.x];
    tile.b[place(0, 0, threadIdx.x)] = dot.b[threadIdx.x];
  }
  cuda::fence_async_shared();
  __syncthreads();
  const std::uint32_t c[4] = {threadIdx.x == 0 ? static_cast<std::uint32_t>(dot.c) : 0, 0, 0, 0};
  std::uint32_t d[4];
  execute_words<I>(tile, 0, c, d);
  return d[0];
}

}  // namespace vernier::model::gpu
