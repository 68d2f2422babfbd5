// The product of split operands: a persistent kernel of one producer thread and two consumer warpgroups (sm_90a).
//
// Supports any m, n, k and any C. Assumes planes as base/split_plane.hpp describes them, of an even number of lines.
//
// wgmma's first operand are the columns of op(B) (P), its second the rows of op(A) (Q): a thread's neighbouring
// accumulators are then neighbours in a column of C, and C is stored from registers in whole sectors.
//
// The engine cuts when it adds. So products of part 0 stay inside for one run of two lines of k, from zero, and are
// added to an outside sum in fp32, to nearest (docs/accuracy.md).
#pragma once

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "cuda/tensor_map.hpp"
#include "engine/sm90_split_epilogue.cuh"
#include "engine/sm90_wgmma_float.cuh"

namespace vernier::sm90 {

using namespace vernier::cuda;

constexpr int consumers = 2, consumer_columns = 64, run_lines = 2;
constexpr int producer_warpgroup = 2, block_threads = 384;
constexpr int ring_bytes = 229376;  // 224 of the 227 KiB of shared memory

// A cluster of Sharing blocks: neighbouring tiles of P that share one tile of Q, each loading its part of that.
// Halves: the two consumers share a tile of 64 columns, each takes one half of k; else each takes 64 of 128 columns.
template <int Rows_, int Sharing_, bool Folded_, bool Tf32_, bool Halves_ = false>
struct SplitConfig {
  static constexpr int Rows = Rows_, Sharing = Sharing_;
  static constexpr bool Folded = Folded_, Tf32 = Tf32_, Halves = Halves_;
  static constexpr int Columns = Halves ? consumer_columns : consumers * consumer_columns;
  static constexpr int p_bytes = Columns * split_line_bytes, q_bytes = Rows * split_line_bytes;
  static constexpr int stage_bytes = p_bytes + q_bytes;
  static constexpr int exchange_bytes = Halves ? consumer_columns * Rows * 4 : 0;  // one consumer's half of the sums
  static constexpr int stages = (ring_bytes - exchange_bytes) / stage_bytes;
  static constexpr int stride = Halves ? consumers : 1;       // from one of a consumer's stages to its next
  static constexpr int readers = Halves ? 4 : 4 * consumers;  // warps that read a stage
  static constexpr int shared_bytes = stages * stage_bytes + exchange_bytes + 1024 + 16 * stages;
  static_assert(stages % stride == 0);
};

// Tiles in units of clusters: groups of P tiles, inside a group Q is the slow index.
struct TileOrder {
  int p_tiles, q_tiles, group;

  __device__ int count() const { return p_tiles * q_tiles; }
  __device__ void place(int t, int& p, int& q) const {
    const int g = t / (group * q_tiles), first = g * group, width = min(group, p_tiles - first);
    const int rest = t - g * group * q_tiles;
    q = rest / width;
    p = first + rest % width;
  }
};

// Position in the ring of stages.
template <int Stages, int Stride = 1>
struct RingPosition {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    stage += Stride;
    if (stage >= Stages) stage -= Stages, parity ^= 1;
  }
};

template <class Config>
struct Ring {
  std::uint32_t base;

  __device__ std::uint32_t p(int stage) const { return base + stage * Config::stage_bytes; }
  __device__ std::uint32_t q(int stage) const { return p(stage) + Config::p_bytes; }
  __device__ std::uint32_t exchange() const { return p(Config::stages); }
  __device__ std::uint32_t full(int stage) const { return exchange() + Config::exchange_bytes + 8 * stage; }
  __device__ std::uint32_t empty(int stage) const { return full(stage) + 8 * Config::stages; }
};

// No vector has an element too small for its parts, or three quarters of every vector are large (docs/accuracy.md).
__device__ __forceinline__ bool statistics_permit(const SplitArguments& g) {
  bool tiny = false, steep = false;
  const auto look = [&](const std::uint32_t* status, const FloatVectors& x) {
    for (std::int64_t v = threadIdx.x; v < x.count; v += block_threads) {
      const std::uint32_t word = status[v];
      tiny = tiny || (word & tiny_element) != 0;
      steep = steep || 4 * static_cast<std::int64_t>(word & ~tiny_element) < 3 * x.k;
    }
  };
  look(g.status_p, g.p);
  look(g.status_q, g.q);
  const bool any_tiny = __syncthreads_or(tiny), any_steep = __syncthreads_or(steep);
  return !any_tiny || !any_steep;
}

// Is this attempt made? strict: only because it is the last.
__device__ __forceinline__ bool open(const SplitArguments& g, bool& strict) {
  strict = false;
  const bool settled = g.gate.before != nullptr && *g.gate.before != 0;
  const bool fit = !settled && (!g.gate.judged || statistics_permit(g));
  if (g.gate.verdict != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *g.gate.verdict = settled || fit;
  strict = !fit;
  return !settled && (fit || g.gate.last);
}

template <class Config>
__device__ __forceinline__ void produce(const CUtensorMap& map_p, const CUtensorMap& map_q, const Ring<Config>& ring,
                                        const TileOrder& order, int lines, int rank) {
  constexpr int share = Config::Rows / Config::Sharing;
  RingPosition<Config::stages> at{0, 1};
  for (int t = blockIdx.x / Config::Sharing; t < order.count(); t += gridDim.x / Config::Sharing) {
    int p, q;
    order.place(t, p, q);
    const int row_p = (p * Config::Sharing + rank) * Config::Columns, row_q = q * Config::Rows + rank * share;
    for (int line = 0; line < lines; ++line, at.advance()) {
      barrier_wait(ring.empty(at.stage), at.parity);
      const std::uint32_t full = ring.full(at.stage);
      // Halves: consumers in turn, the second half of k begins after lines / 2 (copies beyond k bring zeros).
      const int byte = (Config::Halves ? line / 2 + line % 2 * (lines / 2) : line) * split_line_bytes;
      barrier_expect(full, Config::stage_bytes);
      load_box(ring.p(at.stage), &map_p, full, byte, row_p, 0);
      if constexpr (Config::Sharing == 1)
        load_box(ring.q(at.stage), &map_q, full, byte, row_q, 0);
      else
        load_box_multicast(ring.q(at.stage) + rank * share * split_line_bytes, &map_q, full, byte, row_q, 0,
                           (1 << Config::Sharing) - 1);
    }
  }
}

// One consumer warpgroup: 64 columns by Rows rows of C.
template <class Config>
struct Consumer {
  static constexpr int accumulators = Config::Rows / 2;
  using Accumulators = float[accumulators];

  const Ring<Config>& ring;
  std::uint64_t p, q;  // operands in stage 0
  RingPosition<Config::stages, Config::stride> next, released;

  __device__ Consumer(const Ring<Config>& r, int warpgroup)
      : ring(r),
        p(wgmma_operand(r.p(0) + (Config::Halves ? 0 : warpgroup * consumer_columns * split_line_bytes))),
        q(wgmma_operand(r.q(0))) {
    next.stage = released.stage = Config::Halves ? warpgroup : 0;
  }

  __device__ __forceinline__ void arrived() { barrier_wait(ring.full(next.stage), next.parity); }

  // Every block that filled a part of the stage hears of it, from every warp.
  __device__ __forceinline__ void release() {
    const int lane = threadIdx.x % 32;
    if constexpr (Config::Sharing == 1) {
      if (lane == 0) barrier_arrive(ring.empty(released.stage));
    } else {
      if (lane < Config::Sharing) barrier_arrive_remote(ring.empty(released.stage), lane);
    }
    released.advance();
  }

  // Part a of op(A) times part b of op(B) over one line: two steps of 32 bytes. Part 1 begins 64 bytes into a line.
  __device__ __forceinline__ void product(Accumulators& d, int stage, int a, int b, int keep) const {
    const auto offset = static_cast<std::uint64_t>(static_cast<std::uint32_t>(stage * (Config::stage_bytes / 16)));
    const std::uint64_t first = p + offset + 4 * b, second = q + offset + 4 * a;
    wgmma<Config::Rows, Config::Tf32>(d, first, second, keep);
    wgmma<Config::Rows, Config::Tf32>(d, first + 2, second + 2, 1);
  }

  static __device__ __forceinline__ void add(Accumulators& sum, Accumulators& run) {
    settle(run);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = __fadd_rn(sum[i], run[i]);
  }

  // Corrections follow each main product on the tensor cores, and a run is added outside while the last of them still
  // execute: the queue never empties.
  __device__ __forceinline__ void separate(Accumulators& sum, int lines) {
    Accumulators run, corrections;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0, corrections[i] = 0;
    for (int line = 0; line < lines; line += run_lines) {
#pragma unroll
      for (int r = 0; r < run_lines; ++r) {
        arrived();
        wgmma_fence();
        product(run, next.stage, 0, 0, r > 0);
        wgmma_commit();
        wgmma_wait<1>();  // the corrections of the line before
        if (line + r > 0) release();
        wgmma_fence();
        product(corrections, next.stage, 1, 0, 1);
        product(corrections, next.stage, 0, 1, 1);
        wgmma_commit();
        next.advance();
      }
      wgmma_wait<1>();  // the main products of this run
      add(sum, run);
    }
    wgmma_wait<0>();
    if (lines > 0) release();
    settle(corrections);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = __fmaf_rn(corrections[i], 1.0f / 2048, sum[i]);
  }

  // The corrections of a run first, line by line, then its main products: small numbers are cut less among small ones.
  // All corrections of a line before the next is waited for: with two of four, stages run short (197 against 243
  // TFLOP/s at n = 8192). One warpgroup adds while the other multiplies.
  __device__ __forceinline__ void folded(Accumulators& sum, int lines) {
    Accumulators run;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0;
    for (int line = 0; line < lines; line += run_lines) {
      int stage[run_lines];
#pragma unroll
      for (int r = 0; r < run_lines; ++r) {
        stage[r] = next.stage;
        arrived();
        wgmma_fence();
        product(run, stage[r], 1, 0, r > 0);
        product(run, stage[r], 0, 1, 1);
        next.advance();
      }
#pragma unroll
      for (int r = 0; r < run_lines; ++r) product(run, stage[r], 0, 0, 1);
      wgmma_commit();
      wgmma_wait<0>();
#pragma unroll
      for (int r = 0; r < run_lines; ++r) release();
      add(sum, run);
    }
  }
};

// The second consumer's half of the sums is added to the first one's. Two named barriers pass the buffer to and fro.
template <class Config>
__device__ __forceinline__ void join_halves(const Ring<Config>& ring, int warpgroup, bool first_tile,
                                            float (&sum)[Config::Rows / 2]) {
  constexpr int filled = 1, emptied = 2, threads = 256;
  const std::uint32_t mine = ring.exchange() + threadIdx.x % 128 * 4;
  if (warpgroup == 1) {
    if (!first_tile) named_barrier_sync(emptied, threads);
#pragma unroll
    for (int i = 0; i < Config::Rows / 2; ++i) store_shared(mine + 512 * i, sum[i]);
    named_barrier_arrive(filled, threads);
  } else {
    named_barrier_sync(filled, threads);
#pragma unroll
    for (int i = 0; i < Config::Rows / 2; ++i) sum[i] = __fadd_rn(sum[i], load_shared(mine + 512 * i));
    named_barrier_arrive(emptied, threads);
  }
}

template <class Config>
__global__ void __launch_bounds__(block_threads, 1)
    multiply_split_kernel(const __grid_constant__ CUtensorMap map_p, const __grid_constant__ CUtensorMap map_q,
                          const __grid_constant__ SplitArguments g) {
  constexpr int sharing = Config::Sharing;
  extern __shared__ char raw[];
  const Ring<Config> ring{(shared_address(raw) + 1023) & ~1023u};
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const int rank = sharing > 1 ? cluster_rank() : 0;

  if (threadIdx.x == 0) {
    for (int s = 0; s < Config::stages; ++s) {
      barrier_init(ring.full(s), 1);
      barrier_init(ring.empty(s), Config::readers * sharing);
    }
    fence_barrier_init();
    prefetch_tensor_map(&map_p);
    prefetch_tensor_map(&map_q);
  }
  if constexpr (sharing > 1) {
    cluster_arrive();
    cluster_wait();
  } else {
    __syncthreads();
  }
  allow_next_kernel();  // most often one that returns at once
  wait_for_previous_kernels();
  bool strict;
  if (!open(g, strict)) return;
  const Scalars scalars{g.alpha.pointer != nullptr ? *g.alpha.pointer : g.alpha.value,
                        g.beta.pointer != nullptr ? *g.beta.pointer : g.beta.value};
  const int lines = scalars.alpha == 0 ? 0 : Config::Halves ? (g.lines + 3) / 4 * 4 : g.lines;
  const auto tiles = [](std::int64_t count, int tile) { return static_cast<int>((count + tile - 1) / tile); };
  const TileOrder order{tiles(g.p.count, Config::Columns * sharing), tiles(g.q.count, Config::Rows),
                        (g.group + sharing - 1) / sharing};

  if (warpgroup == producer_warpgroup) {
    give_registers<40>();
    if (threadIdx.x == producer_warpgroup * 128) produce<Config>(map_p, map_q, ring, order, lines, rank);
  } else {
    take_registers<232>();
    Consumer<Config> consumer(ring, warpgroup);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    for (int t = blockIdx.x / sharing; t < order.count(); t += gridDim.x / sharing) {
      float sum[Config::Rows / 2];
      const int my_lines = Config::Halves ? lines / 2 : lines;
      if constexpr (Config::Folded)
        consumer.folded(sum, my_lines);
      else
        consumer.separate(sum, my_lines);
      if constexpr (Config::Halves) {
        join_halves<Config>(ring, warpgroup, t == blockIdx.x, sum);
        if (warpgroup == 1) continue;
      }
      int p, q;
      order.place(t, p, q);
      const int first_column = (p * sharing + rank) * Config::Columns + warpgroup * consumer_columns;
      const int column = first_column + warp * 16 + lane / 4;
      store_tile<Config::Rows>(g, scalars, strict, sum, column, q * Config::Rows + lane % 4 * 2);
    }
  }
  if constexpr (sharing > 1) {  // no block leaves while a neighbour may still write into it
    cluster_arrive();
    cluster_wait();
  }
}

template <class Config>
void launch_split_product(const SplitProduct& x, int multiprocessors, cudaStream_t stream) {
  const auto map = [](const SplitPlane& plane, std::int64_t vectors, int box_rows) {
    const std::int64_t bytes = plane.line_count * split_line_bytes;
    return make_tensor_map({.base = plane.lines,
                            .row_bytes = bytes,
                            .rows = vectors,
                            .planes = 1,
                            .row_stride = bytes,
                            .plane_stride = bytes * vectors,
                            .box_rows = box_rows});
  };
  const SplitArguments g{.p = x.b,
                         .q = x.a,
                         .unscale_p = x.b_plane.unscale,
                         .unscale_q = x.a_plane.unscale,
                         .status_p = x.b_plane.status,
                         .status_q = x.a_plane.status,
                         .alpha = x.alpha,
                         .beta = x.beta,
                         .c = x.c,
                         .ldc = x.ldc,
                         .lines = static_cast<int>(x.a_plane.line_count),
                         .group = Config::Halves ? 32 : 16,
                         .pairs_aligned = x.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(x.c) % 8 == 0,
                         .gate = x.gate};
  constexpr int columns = Config::Columns * Config::Sharing;
  const std::int64_t clusters = ((x.b.count + columns - 1) / columns) * ((x.a.count + Config::Rows - 1) / Config::Rows);
  const auto grid =
      static_cast<unsigned>(Config::Sharing * std::min<std::int64_t>(clusters, multiprocessors / Config::Sharing));
  launch("multiply_split_kernel", multiply_split_kernel<Config>,
         {.grid = grid,
          .block = block_threads,
          .shared_bytes = Config::shared_bytes,
          .cluster = Config::Sharing,
          .overlap_previous = true},
         stream, map(x.b_plane, x.b.count, Config::Columns), map(x.a_plane, x.a.count, Config::Rows / Config::Sharing),
         g);
}

}  // namespace vernier::sm90
