// What persistent products on Hopper share: the walk of clusters over tiles of C, the stages that one thread fills, and
// the loop over k that multiplies them.
//
// A block has a warpgroup that feeds and two that multiply. Operands are rows of bytes along k in both matrices; a
// stage holds 128 bytes of k of the tile's columns of B ("x", the M side of wgmma, so that a thread's accumulators are
// neighbours in a column of C) and of its rows of A ("y"). A cluster of two blocks loads what both need once, and sends
// it to both.
#pragma once

#include <cstdint>

#include "cuda/pace.cuh"
#include "cuda/tensor_map.hpp"
#include "cuda/wgmma.cuh"
#include "engine/filled_pieces.hpp"
#include "engine/panel_cuda.hpp"
#include "engine/sm90_tiles.hpp"
#include "engine/tile_jobs.cuh"

namespace vernier::cuda {

// Columns and rows of C, blocks of a cluster side by side and on top of each other (sm90_tiles.hpp).
template <int Columns, int Rows, int ClusterColumns, int ClusterRows, bool Cooperative>
struct TileShape {
  static constexpr bool cooperative = Cooperative;
  static constexpr int columns = Columns, rows = Rows;
  static constexpr int cluster_columns = ClusterColumns, cluster_rows = ClusterRows;
  static constexpr int group_columns = cooperative ? columns / 2 : columns;  // that one warpgroup accumulates
  static constexpr int blocks = group_columns / 64;                          // of 64 columns: one wgmma each
  static constexpr int registers = rows / 2;                                 // accumulators of such a block
  static constexpr int x_bytes = columns * box_row_bytes, y_bytes = rows * box_row_bytes;
  static constexpr int stage_bytes = x_bytes + y_bytes;
  static constexpr int stages = 230000 / stage_bytes;
  static constexpr int shared_bytes = stages * stage_bytes + 1024;  // with room to align the stages to 1024
  // What one block of the cluster loads of x and y: blocks on top of each other share columns, those side by side rows.
  static constexpr int x_box = columns / cluster_rows, y_box = rows / cluster_columns;
  static constexpr int cluster = cluster_columns * cluster_rows;
  using Jobs = TileJobs<columns * cluster_columns, rows * cluster_rows>;
  static_assert(cluster == 2);
};

struct Sm90Task {
  TileGrid grid;  // of clusters' tiles
  int k_blocks;
  int units_across, units_down;  // product_units
  int products;                  // planes of one modulus
  bool accumulate;
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
  constexpr int across = T::columns * T::cluster_columns / static_cast<int>(piece_vectors),
                down = T::rows * T::cluster_rows / static_cast<int>(piece_vectors);
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

// Of a block in its cluster.
struct Sm90Rank {
  int x, y;
};

// One thread of the block: fills the stages.
template <class T>
__device__ __forceinline__ void feed(const CUtensorMap& map_x, const CUtensorMap& map_y, const Stages& stages,
                                     const Sm90Task& task, int first, int step, bool closed, Sm90Rank rank) {
  const auto [rank_x, rank_y] = rank;
  const auto share_x = static_cast<std::uint16_t>((T::cluster_rows == 2 ? 3 : 1) << rank_x);
  const auto share_y = static_cast<std::uint16_t>((T::cluster_columns == 2 ? 3 : 1) << rank_y);
  int slot = 0, phase = 0, turn = 0;
  Pacer pacer(task.pace);
  for (typename T::Jobs jobs(task.grid, first, step); !jobs.done() && (turn == 0 || !closed); jobs.advance(), ++turn) {
    const TileJob job = jobs.job();
    const int x = (job.x * T::cluster_columns + rank_x) * T::columns + rank_y * T::x_box;
    const int y = (job.y * T::cluster_rows + rank_y) * T::rows + rank_x * T::y_box;
    const auto load = [&](int kb) {
      barrier_wait(stages.empty_barrier(slot), phase ^ 1);
      const std::uint32_t full = stages.full_barrier(slot), to = stages.data + slot * T::stage_bytes;
      const std::uint32_t to_x = to + rank_y * T::x_box * box_row_bytes,
                          to_y = to + T::x_bytes + rank_x * T::y_box * box_row_bytes;
      barrier_expect(full, T::stage_bytes);
      if constexpr (T::cluster_rows == 2)
        load_box_multicast(to_x, &map_x, full, kb * box_row_bytes, x, job.plane, share_x);
      else
        load_box(to_x, &map_x, full, kb * box_row_bytes, x, job.plane);
      if constexpr (T::cluster_columns == 2)
        load_box_multicast(to_y, &map_y, full, kb * box_row_bytes, y, job.plane, share_y);
      else
        load_box(to_y, &map_y, full, kb * box_row_bytes, y, job.plane);
      if (++slot == T::stages) slot = 0, phase ^= 1;
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
  int slot = static_cast<int>(step % T::stages), last = 0;
  std::uint32_t phase = step / T::stages & 1;
  const auto release = [&](int s) {
    if (thread < T::cluster) barrier_arrive_remote(stages.empty_barrier(s), thread);
  };
  for (int kb = 0; kb < k_blocks; ++kb) {
    barrier_wait(stages.full_barrier(slot), phase);
    const std::uint32_t stage = stages.data + slot * T::stage_bytes;
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
    last = slot;
    if (++slot == T::stages) slot = 0, phase ^= 1;
  }
  pin(acc);
  wgmma_wait<0>();
  pin(acc);
  release(last);
}

}  // namespace vernier::cuda
