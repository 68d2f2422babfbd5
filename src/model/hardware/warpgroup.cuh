// One warpgroup and its operands: how every instruction whose k is 32 bytes is run.
//
// Shared memory holds 64 rows of A and 8 of B (columns), 128 bytes each in the 128-byte swizzle of wgmma: four k slices
// of 32 bytes, which are four independent products for wgmma (64 x 8 results) or for four warps' mma.sync (16 x 8
// results each).
#pragma once

#include "cuda/ptx.cuh"
#include "model/hardware/dot.hpp"
#include "model/hardware/instructions.cuh"
#include "model/spec.hpp"

namespace vernier::model::gpu {

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
