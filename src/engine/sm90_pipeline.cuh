// What persistent products on Hopper share: the walk of clusters over tiles of C, the stages that one thread fills, and
// the loop over k that multiplies them.
//
// A block has a warpgroup that feeds and two that multiply. Operands are rows of bytes along k in both matrices; a
// stage holds 128 bytes of k of the tile's columns of B ("x", the M side of wgmma, so that a thread's accumulators are
// neighbours in a column of C) and of its rows of A ("y"). A cluster of two blocks side by side loads the rows that
// both need once, and sends them to both.
#pragma once

#include <cstdint>

#include "cuda/pace.cuh"
#include "cuda/staged_rows.cuh"
#include "cuda/tensor_map.hpp"
#include "cuda/wgmma.cuh"
#include "engine/filled_pieces.hpp"
#include "engine/panel_cuda.hpp"
#include "engine/sm90_tiles.hpp"
#include "engine/tile_jobs.cuh"

namespace vernier::cuda {

// Columns and rows of C (sm90_tiles.hpp).
template <int Columns, int Rows, bool Cooperative, bool Symmetric = false>
struct TileShape {
  static constexpr bool cooperative = Cooperative;
  static constexpr int columns = Columns, rows = Rows;
  static constexpr int group_columns = cooperative ? columns / 2 : columns;  // that one warpgroup accumulates
  static constexpr int blocks = group_columns / 64;                          // of 64 columns: one wgmma each
  static constexpr int registers = rows / 2;                                 // accumulators of such a block
  static constexpr int x_bytes = columns * box_row_bytes, y_bytes = rows * box_row_bytes;
  static constexpr int stage_bytes = x_bytes + y_bytes;
  static constexpr int stages = 230000 / stage_bytes;
  static constexpr int shared_bytes = stages * stage_bytes + 1024;  // with room to align the stages to 1024
  static constexpr int cluster = 2;                                 // blocks
  static constexpr int x_box = columns, y_box = rows / cluster;     // what one of them loads
  using Jobs = TileJobs<columns * cluster, rows, Symmetric>;
};

struct Sm90Task {
  TileGrid grid;  // of clusters' tiles
  int k_blocks;
  int units_across, units_down;  // product_units
  int products;                  // planes of one modulus
  bool accumulate, seldom;
  std::int8_t* out;
  Gate gate;
  Pace pace;
  FilledPieces filled;  // then blocks do not keep pace
};

// Blocks of k that the tile of a cluster needs, 32 of them: bit b of word w.
template <class T>
__device__ __forceinline__ std::uint32_t wanted_blocks(const Sm90Task& task, const TileJob& job, int w) {
  const auto some = [&](const std::uint32_t* filled, int first, int groups, std::int64_t vectors) {
    const int end = min(first + groups, static_cast<int>(piece_groups(vectors)));
    std::uint32_t bits = 0;
#pragma unroll 1  // registers are scarce on both sides
    for (int g = first; g < end; ++g) bits |= filled[g * task.filled.words + w];
    return bits;
  };
  constexpr int across = T::columns * T::cluster / static_cast<int>(piece_vectors),
                down = T::rows / static_cast<int>(piece_vectors);
  return some(task.filled.columns, job.x * across, across, task.grid.n) &
         some(task.filled.rows, job.y * down, down, task.grid.m);
}

// How many; one, of zeros, where there are none. By a warp.
template <class T>
__device__ __forceinline__ int k_blocks_of(const Sm90Task& task, const TileJob& job) {
  if (!task.filled.known()) return task.k_blocks;
  const int lane = threadIdx.x % 32, blocks = lane < task.filled.words ? __popc(wanted_blocks<T>(task, job, lane)) : 0;
  return max(1, __reduce_add_sync(~0u, blocks));
}

struct Stages {
  std::uint32_t data, full, empty;  // shared-memory addresses: of the first stage and of the barriers

  __device__ __forceinline__ std::uint32_t full_barrier(int slot) const { return full + 8 * slot; }
  __device__ __forceinline__ std::uint32_t empty_barrier(int slot) const { return empty + 8 * slot; }
};

// By all threads of a block, which go on once the kernels before have ended.
template <class T>
__device__ __forceinline__ Stages begin_stages(const CUtensorMap& map_x, const CUtensorMap& map_y) {
  extern __shared__ std::uint8_t dynamic[];
  __shared__ std::uint64_t full[T::stages], empty[T::stages];
  const Stages stages{(shared_address(dynamic) + 1023) & ~1023u, shared_address(full), shared_address(empty)};
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::stages; ++s) {
      barrier_init(stages.full_barrier(s), 1);
      barrier_init(stages.empty_barrier(s), (T::cooperative ? 2 : 1) * T::cluster);
    }
    fence_barrier_init();
    prefetch_tensor_map(&map_x);
    prefetch_tensor_map(&map_y);
  }
  cluster_arrive();
  cluster_wait();
  wait_for_previous_kernels();
  allow_next_kernel();
  return stages;
}

// At the end: the other block may still signal this one's barriers.
__device__ __forceinline__ void end_stages() {
  __syncwarp();
  cluster_arrive();
  cluster_wait();
}

// One thread of block `rank` of a cluster: fills the stages.
template <class T>
__device__ __forceinline__ void feed(const CUtensorMap& map_x, const CUtensorMap& map_y, const Stages& stages,
                                     const Sm90Task& task, int first, int step, bool closed, int rank) {
  constexpr std::uint16_t both = 3;
  RingPlace<T::stages> at;
  int turn = 0;
  Pacer pacer(task.pace);
  for (typename T::Jobs jobs(task.grid, first, step); !jobs.done() && (turn == 0 || !closed); jobs.advance(), ++turn) {
    const TileJob job = jobs.job();
    const int x = (job.x * T::cluster + rank) * T::columns, y = job.y * T::rows + rank * T::y_box;
    const auto load = [&](int kb) {
      barrier_wait(stages.empty_barrier(at.stage), at.parity ^ 1);
      const std::uint32_t full = stages.full_barrier(at.stage), to = stages.data + at.stage * T::stage_bytes;
      barrier_expect(full, T::stage_bytes);
      load_box(to, &map_x, full, kb * box_row_bytes, x, job.plane);
      load_box_multicast(to + T::x_bytes + rank * T::y_box * box_row_bytes, &map_y, full, kb * box_row_bytes, y,
                         job.plane, both);
      at.advance();
    };
    if (task.filled.known()) {
      bool none = true;
      for (int w = 0; w < task.filled.words; ++w)
        for (std::uint32_t left = wanted_blocks<T>(task, job, w); left != 0; left &= left - 1, none = false)
          load(32 * w + __ffs(static_cast<int>(left)) - 1);
      if (none) load(0);
      continue;
    }
    for (int kb = 0; kb < task.k_blocks; ++kb) {
      pacer.before(kb);
      load(kb);
    }
  }
  pacer.end();
}

// A warpgroup: sums of the stages step .. step + k_blocks - 1. A stage is given back to both blocks of the cluster once
// the products after it are under way. last_started() is called when the last products have been issued.
template <class T, class Sum, class LastStarted>
__device__ __forceinline__ void multiply_tile(Sum (&acc)[T::blocks][T::registers], const Stages& stages,
                                              std::uint32_t step, int k_blocks, int half, int thread,
                                              LastStarted last_started) {
  RingPlace<T::stages> at{static_cast<int>(step % T::stages), step / T::stages & 1};
  int last = 0;
  const auto release = [&](int s) {
    if (thread < T::cluster) barrier_arrive_remote(stages.empty_barrier(s), thread);
  };
  for (int kb = 0; kb < k_blocks; ++kb) {
    barrier_wait(stages.full_barrier(at.stage), at.parity);
    const std::uint32_t stage = stages.data + at.stage * T::stage_bytes;
    const std::uint64_t x = wgmma_operand(stage + half * (T::x_bytes / 2)), y = wgmma_operand(stage + T::x_bytes);
    pin(acc);
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < box_row_bytes / 32; ++kk)
#pragma unroll
      for (int b = 0; b < T::blocks; ++b)
        wgmma_bytes(acc[b], x + 2 * kk + b * (64 * box_row_bytes / 16), y + 2 * kk, kb | kk);
    wgmma_commit();
    if (kb == k_blocks - 1) last_started();
    pin(acc);
    wgmma_wait<1>();
    if (kb > 0) release(last);
    last = at.stage;
    at.advance();
  }
  pin(acc);
  wgmma_wait<0>();
  pin(acc);
  release(last);
}

}  // namespace vernier::cuda
