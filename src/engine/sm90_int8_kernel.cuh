// Products of residues on Hopper: one persistent launch over (plane, tile of C); a plane is a modulus, or one of
// several products modulo p.
//
// A block has a warpgroup that feeds and two that multiply. Operands are rows of bytes along k in both matrices; a
// stage holds 128 bytes of k of the tile's columns of B ("x", the M side of wgmma, so that a thread's accumulators are
// neighbours in a column of C) and of its rows of A ("y"). A cluster of two blocks loads what both need once, and sends
// it to both. Sums are reduced modulo p in registers and leave as bytes.
//
// k <= 65536: sums of 255 * 255 stay below 2^32, and the 32-bit sums are read as unsigned.
#pragma once

#include "cuda/pace.cuh"
#include "cuda/ptx.cuh"
#include "cuda/tensor_map.hpp"
#include "engine/int8_engine_cuda.hpp"
#include "engine/sm90_tiles.hpp"
#include "engine/sm90_wgmma_int8.cuh"
#include "engine/store_residues.cuh"
#include "engine/tile_jobs.cuh"

namespace vernier::cuda {

template <Sm90Variant Variant>
struct TileOf {
  static constexpr Sm90Tile tile = sm90_tiles[Variant];
  static constexpr bool cooperative = tile.cooperative;
  static constexpr int columns = tile.columns, rows = tile.rows;
  static constexpr int cluster_columns = tile.cluster_columns, cluster_rows = tile.cluster_rows;
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
};

struct Sm90Reductions {
  ByteReduction<1> of[max_moduli];
};

// Keeps the compiler from moving accumulators across a point.
template <int Blocks, int Registers>
__device__ __forceinline__ void pin(int (&d)[Blocks][Registers]) {
#pragma unroll
  for (int b = 0; b < Blocks; ++b)
#pragma unroll
    for (int i = 0; i < Registers; ++i) asm volatile("" : "+r"(d[b][i])::"memory");
}

struct Stages {
  std::uint32_t data, full, empty;  // shared-memory addresses: of the first stage and of the barriers

  __device__ __forceinline__ std::uint32_t full_barrier(int slot) const { return full + 8 * slot; }
  __device__ __forceinline__ std::uint32_t empty_barrier(int slot) const { return empty + 8 * slot; }
};

// One thread of the block: fills the stages.
template <class T>
__device__ __forceinline__ void feed(const CUtensorMap& map_x, const CUtensorMap& map_y, const Stages& stages,
                                     const Sm90Task& task, int first, int step, bool closed, int rank_x, int rank_y) {
  const auto share_x = static_cast<std::uint16_t>((T::cluster_rows == 2 ? 3 : 1) << rank_x);
  const auto share_y = static_cast<std::uint16_t>((T::cluster_columns == 2 ? 3 : 1) << rank_y);
  int slot = 0, phase = 0, turn = 0;
  Pacer pacer(task.pace);
  for (typename T::Jobs jobs(task.grid, first, step); !jobs.done() && (turn == 0 || !closed); jobs.advance(), ++turn) {
    const TileJob job = jobs.job();
    const int x = (job.x * T::cluster_columns + rank_x) * T::columns + rank_y * T::x_box;
    const int y = (job.y * T::cluster_rows + rank_y) * T::rows + rank_x * T::y_box;
    for (int kb = 0; kb < task.k_blocks; ++kb) {
      pacer.before(kb);
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
    }
  }
  pacer.end();
}

// A warpgroup: sums of the stages step .. step + k_blocks - 1. A stage is given back to both blocks of the cluster once
// the products after it are under way. last_started() is called when the last products have been issued.
template <class T, class LastStarted>
__device__ __forceinline__ void multiply_tile(int (&acc)[T::blocks][T::registers], const Stages& stages,
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

template <class T>
__device__ __forceinline__ void store_tile(const int (&acc)[T::blocks][T::registers], const ByteReduction<1>& r,
                                           const Sm90Task& task, int plane, int first_column, int first_row,
                                           int thread) {
#pragma unroll
  for (int b = 0; b < T::blocks; ++b) {
    const int across = first_column / unit_columns + b;
    if (across >= task.units_across) break;
    const std::int64_t column = static_cast<std::int64_t>(plane) * task.units_across + across;
#pragma unroll
    for (int chunk = 0; chunk < T::rows / unit_rows; ++chunk) {
      const int down = first_row / unit_rows + chunk;
      if (down >= task.units_down) break;
      uint4* to = reinterpret_cast<uint4*>(task.out + (column * task.units_down + down) * unit_bytes) + thread;
      if (task.accumulate)
        store_residues<true>(&acc[b][16 * chunk], r, to);
      else
        store_residues<false>(&acc[b][16 * chunk], r, to);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(384, 1)
    residue_products(const __grid_constant__ CUtensorMap map_x, const __grid_constant__ CUtensorMap map_y,
                     const __grid_constant__ Sm90Reductions reductions, const __grid_constant__ Sm90Task task) {
  extern __shared__ std::uint8_t dynamic[];
  __shared__ std::uint64_t full[T::stages], empty[T::stages];
  const Stages stages{(shared_address(dynamic) + 1023) & ~1023u, shared_address(full), shared_address(empty)};
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const int rank = static_cast<int>(blockIdx.x % 2);
  const int rank_x = rank % T::cluster_columns, rank_y = rank / T::cluster_columns;
  const int first = blockIdx.x / 2, step = gridDim.x / 2;
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
  // A gate that 0 opens is looked at after the first tile only, so that nobody waits for it.
  const bool closed = task.gate.closed();
  if (task.gate.value != 0 && closed) return;

  if (group == 2) {
    give_registers<40>();
    if (threadIdx.x == 256) feed<T>(map_x, map_y, stages, task, first, step, closed, rank_x, rank_y);
  } else {
    take_registers<232>();
    const int thread = threadIdx.x % 128, half = T::cooperative ? group : 0;
    int acc[T::blocks][T::registers];
    typename T::Jobs jobs(task.grid, first, step);
    for (int turn = 0; !jobs.done() && (turn == 0 || !closed); ++turn) {
      const TileJob job = jobs.job();
      jobs.advance();
      if (!T::cooperative && turn % 2 != group) continue;
      // A wait by parity cannot tell "not yet" from "two phases ago": no warpgroup may look at a stage before the other
      // has seen all of its own.
      if (!T::cooperative && turn > 0) named_barrier_sync(1 + group, 256);
      multiply_tile<T>(acc, stages, static_cast<std::uint32_t>(turn) * task.k_blocks, task.k_blocks, half, thread, [&] {
        if (!T::cooperative && !jobs.done() && !closed) named_barrier_arrive(2 - group, 256);
      });
      store_tile<T>(acc, reductions.of[job.plane / task.products], task, job.plane,
                    (job.x * T::cluster_columns + rank_x) * T::columns + half * T::group_columns,
                    (job.y * T::cluster_rows + rank_y) * T::rows, thread);
    }
  }
  __syncwarp();
  cluster_arrive();  // the other block may still signal this one's barriers
  cluster_wait();
}

}  // namespace vernier::cuda
