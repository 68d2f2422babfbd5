// The product of split operands by mma.sync: a block takes tiles of C in turn, and all its warps copy and multiply.
//
// Supports any m, n, k and any C, of one product. Assumes planes as split/plane.hpp describes them. A step is 32 k
// (fp16, bf16) or 16 (tf32): 64 bytes of each part. A stage in shared memory holds a step of the tile's columns of
// op(B) ("x", the M side of the instructions, so that a thread's sums are neighbours in a column of C) and of its rows
// of op(A) ("y").
//
// As in sm90_kernels.cu, products of part 0 stay inside the engine for one run and are added outside to nearest. With
// two parts a run is a step, so that its registers serve one 16 columns after another.
#pragma once

#include <cstdint>

#include "cuda/matrix_fragments.cuh"
#include "cuda/ptx.cuh"
#include "cuda/staged_rows.cuh"
#include "number/two_sum.hpp"
#include "split/product/sm90_split.hpp"

namespace vernier::cuda {

// ---- how operands come to shared memory -----------------------------------------------------------------------------

// Stages in shared memory that all threads of a block fill by cp.async and all warps read, without a barrier at which
// all of them meet: a warp waits for what it reads, and before it fills a stage, for those that still read it.
//
// Two barriers a stage: all threads' copies are there; all threads have read them.
template <int Stages>
struct StageBarriers {
  static constexpr int bytes = 16 * Stages;
  std::uint32_t at;  // in shared memory

  __device__ __forceinline__ std::uint32_t full(int slot) const { return at + 8 * slot; }
  __device__ __forceinline__ std::uint32_t read(int slot) const { return at + 8 * (Stages + slot); }

  // By all threads; before any is used.
  __device__ __forceinline__ void begin(int threads) const {
    if (threadIdx.x == 0)
#pragma unroll
      for (int barrier = 0; barrier < 2 * Stages; ++barrier) begin_barrier(full(barrier), threads);
    __syncthreads();
  }
  // Behind a __syncthreads() after the last use.
  __device__ __forceinline__ void end() const {
    if (threadIdx.x == 0)
#pragma unroll
      for (int barrier = 0; barrier < 2 * Stages; ++barrier) end_barrier(full(barrier));
  }
  // Each thread for itself: one lane behind a __syncwarp() is no faster (docs/decisions.md).
  __device__ __forceinline__ void leave(int slot) const { arrive_at(read(slot)); }
};

// RunHalves: halves of a step that a run has.
template <FloatWord Word_, int RunHalves_ = 2>
struct MmaSplitConfig {
  static constexpr FloatWord Word = Word_;
  static constexpr int parts = Word == FloatWord::bf16 ? 3 : 2, RunHalves = RunHalves_;
  static constexpr int warps_across = 2, warps_down = 4, threads = 32 * warps_across * warps_down;
  static constexpr int warp_tiles = parts == 3 ? 2 : 4;  // of 16 columns
  static constexpr int warp_columns = 16 * warp_tiles, warp_rows = 32;
  static constexpr int columns = warps_across * warp_columns, rows = warps_down * warp_rows;
  // Two parts of a vector's step are one line, in memory and in a stage; three lie apart.
  static constexpr int row = parts == 2 ? 128 : staged_row, vector_bytes = parts * staged_row;
  static constexpr int x_bytes = columns * vector_bytes, y_bytes = rows * vector_bytes;
  static constexpr int stage_bytes = x_bytes + y_bytes, stages = parts == 3 ? 2 : 3;
  static constexpr int barriers = stages * stage_bytes, shared_bytes = barriers + StageBarriers<stages>::bytes;
  static_assert(shared_bytes + 4 * (columns + rows) + 1024 <= 100 * 1024);  // of GPUs of 8.6, 8.9 and 12.0
};

// The lines of one operand.
struct MmaSplitVectors {
  const std::byte* lines;
  int count, pitch;  // vectors; bytes of each
};

// One thread's share of the copies of a step of a tile's vectors, from vector `first` on. Those beyond the matrix are
// its last one: what becomes of them nobody stores. All addresses are computed anew: registers are for sums.
template <class Config, int Vectors>
__device__ __forceinline__ void copy_step(const MmaSplitVectors& x, int first, int step, std::uint32_t to) {
  constexpr int chunks = Config::parts * staged_row / 16, copies = Vectors * chunks / Config::threads;
  static_assert(Vectors * chunks % Config::threads == 0);
#pragma unroll
  for (int i = 0; i < copies; ++i) {
    const int at = threadIdx.x + i * Config::threads, vector = at / chunks, chunk = at % chunks;
    const int place = Config::parts == 2 ? staged_byte<128>(vector, chunk)
                                         : chunk / 4 * (Vectors * staged_row) + staged_byte(vector, chunk % 4);
    copy_16_bytes(to + place, x.lines + static_cast<std::int64_t>(min(first + vector, x.count - 1)) * x.pitch +
                                  step * (Config::parts * staged_row) + chunk * 16);
  }
}

// The operands of tile (x, y) on their way through the stages, and where a warp finds its own. A stage is filled as
// many steps ahead as there are others.
template <class Config>
class MmaSplitStages {
 public:
  __device__ __forceinline__ MmaSplitStages(std::uint32_t stages, const MmaSplitVectors& columns, int x,
                                            const MmaSplitVectors& rows, int y, int steps)
      : columns_(columns), rows_(rows), x_(x), y_(y), steps_(steps), stages_(stages) {
    barriers().begin(Config::threads);
#pragma unroll 1
    for (int s = 0; s + 1 < Config::stages; ++s) fill();
  }

  __device__ __forceinline__ std::uint32_t x_part() const {
    const int across = threadIdx.x / 32 % Config::warps_across;
    return stage(used_.stage) + across * Config::warp_columns * Config::row;
  }
  __device__ __forceinline__ std::uint32_t y_part() const {
    const int down = threadIdx.x / 32 / Config::warps_across;
    return stage(used_.stage) + Config::x_bytes + down * Config::warp_rows * Config::row;
  }

  __device__ __forceinline__ void fill() {
    if (step_ == steps_) return;
    wait_at(barriers().read(filled_.stage), filled_.parity ^ 1);
    const std::uint32_t to = stage(filled_.stage);
    copy_step<Config, Config::columns>(columns_, x_ * Config::columns, step_, to);
    copy_step<Config, Config::rows>(rows_, y_ * Config::rows, step_, to + Config::x_bytes);
    arrive_with_copies(barriers().full(filled_.stage));
    filled_.advance();
    ++step_;
  }
  __device__ __forceinline__ void wait() const { wait_at(barriers().full(used_.stage), used_.parity); }
  __device__ __forceinline__ void leave() {
    barriers().leave(used_.stage);
    used_.advance();
  }
  // By all threads: nobody reads a stage any more.
  __device__ __forceinline__ void end() const {
    __syncthreads();
    barriers().end();
  }

 private:
  using Barriers = StageBarriers<Config::stages>;

  __device__ __forceinline__ Barriers barriers() const { return {stages_ + Config::barriers}; }
  __device__ __forceinline__ std::uint32_t stage(int slot) const { return stages_ + slot * Config::stage_bytes; }

  const MmaSplitVectors &columns_, &rows_;
  int x_, y_, steps_, step_ = 0;  // the step that is filled next
  std::uint32_t stages_;
  RingPlace<Config::stages> filled_, used_;
};

// ---- the product ---------------------------------------------------------------------------------------------------

// Sums of a warp: [16 columns][8 rows][as mma_floats() leaves them].
template <class Config>
struct MmaSplitSums {
  static constexpr int tiles = Config::warp_tiles, parts = Config::parts;
  using Tile = float[4][4];
  using X = std::uint32_t[parts][2][4];     // [part][half][matrix], of 16 columns
  using Y = std::uint32_t[parts][2][2][4];  // [part][half][16 rows][matrix]

  Tile sum[tiles], corrections[tiles];
  Tile rest[parts == 3 ? tiles : 1];  // what an addition outside lost, where that is kept

  __device__ __forceinline__ static void clear(Tile& t) {
#pragma unroll
    for (int i = 0; i < 16; ++i) t[i / 4][i % 4] = 0;
  }
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
      clear(sum[t]), clear(corrections[t]);
      if constexpr (parts == 3) clear(rest[t]);
    }
  }

  // Part a of op(A) times part b of op(B), half h of a step. From zero: without what d holds.
  __device__ __forceinline__ static void half(Tile& d, const X& x, const Y& y, int a, int b, int h,
                                              bool from_zero = false) {
    constexpr float zero[4] = {};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const std::uint32_t* rows = y[a][h][r / 2] + r % 2 * 2;
      if (from_zero)
        mma_floats<Config::Word>(d[r], x[b][h], rows[0], rows[1], zero);
      else
        mma_floats<Config::Word>(d[r], x[b][h], rows[0], rows[1], d[r]);
    }
  }
  __device__ __forceinline__ static void product(Tile& d, const X& x, const Y& y, int a, int b, int first, int halves) {
#pragma unroll
    for (int h = first; h < first + halves; ++h) half(d, x, y, a, b, h);
  }

  // Two parts: the run from zero, the corrections inside over all of k. Both take turns, since an instruction that adds
  // to a sum waits for the one before.
  __device__ __forceinline__ void separate(int t, const X& x, const Y& y) {
    Tile run;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      half(run, x, y, 0, 0, h, h == 0);
      half(corrections[t], x, y, 1, 0, h);
    }
    product(corrections[t], x, y, 0, 1, 0, 2);
    add_run(t, run);
  }
  __device__ __forceinline__ void add_run(int t, const Tile& run) {
#pragma unroll
    for (int i = 0; i < 16; ++i) sum[t][i / 4][i % 4] = __fadd_rn(sum[t][i / 4][i % 4], run[i / 4][i % 4]);
  }

  // Three parts: a run begins with what the addition before lost.
  __device__ __forceinline__ void compensated(int t, const X& x, const Y& y) {
    constexpr int run = Config::RunHalves;
#pragma unroll
    for (int h = 0; h < 2; h += run) {
      product(rest[t], x, y, 0, 0, h, run);
      product(corrections[t], x, y, 1, 1, h, run);
      product(corrections[t], x, y, 2, 0, h, run);
      product(corrections[t], x, y, 0, 2, h, run);
      product(corrections[t], x, y, 1, 0, h, run);
      product(corrections[t], x, y, 0, 1, h, run);
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        float& s = sum[t][i / 4][i % 4];
        run == 2 ? fast_two_sum(s, rest[t][i / 4][i % 4]) : two_sum(s, rest[t][i / 4][i % 4]);
      }
    }
  }

  // Of a lane in a stage: part p, half h.
  __device__ __forceinline__ static int of_x(int p, int h) {
    return parts == 2 ? staged_x<128>(2 * p + h) : p * (Config::columns * staged_row) + staged_x(h);
  }
  __device__ __forceinline__ static int of_y(int p, int h) {
    return parts == 2 ? staged_y<128>(2 * p + h) : p * (Config::rows * staged_row) + staged_y(h);
  }

  // Of 16 columns.
  __device__ __forceinline__ static void load(X& x, std::uint32_t from) {
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
      for (int h = 0; h < 2; ++h) load_matrices(x[p][h], from + of_x(p, h));
  }

  // Of the 32 rows of part p.
  __device__ __forceinline__ static void load(Y& y, int p, int h, std::uint32_t y_part) {
#pragma unroll
    for (int r = 0; r < 2; ++r) load_matrices(y[p][h][r], y_part + of_y(p, h) + r * 16 * Config::row);
  }
  __device__ __forceinline__ static void load(Y& y, std::uint32_t y_part) {
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
      for (int h = 0; h < 2; ++h) load(y, p, h, y_part);
  }

  // Three parts: a step whose vectors of the warp lie at x and y in the stage. No registers are left for fragments
  // ahead.
  __device__ __forceinline__ void add_step(std::uint32_t x_part, std::uint32_t y_part) {
    Y y;
    load(y, y_part);
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
      X x;
      load(x, x_part + t * 16 * Config::row);
      compensated(t, x, y);
    }
  }

  // Two parts: all of a step but the last 16 columns, whose x comes last; x[0] and y are there.
  __device__ __forceinline__ void add_first(X (&x)[2], const Y& y, std::uint32_t x_part) {
#pragma unroll
    for (int t = 0; t + 1 < tiles; ++t) {
      load(x[(t + 1) % 2], x_part + (t + 1) * 16 * Config::row);
      separate(t, x[t % 2], y);
    }
  }

  // The last 16 columns, while fragments of the next step come to where those of this one are not needed any more.
  __device__ __forceinline__ void add_last(X (&x)[2], Y& y, std::uint32_t next_x, std::uint32_t next_y) {
    constexpr int t = tiles - 1;
    static_assert(tiles % 2 == 0);
    Tile run;
    load(x[0], next_x);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      half(run, x[1], y, 0, 0, h, h == 0);
      half(corrections[t], x[1], y, 1, 0, h);
      load(y, 1, h, next_y);
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      half(corrections[t], x[1], y, 0, 1, h);
      load(y, 0, h, next_y);
    }
    add_run(t, run);
  }

  // Everything in `sum`.
  __device__ __forceinline__ void join() {
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        float& s = sum[t][i / 4][i % 4];
        const float c = corrections[t][i / 4][i % 4];
        if constexpr (parts == 3)
          s = compensated_end(s, rest[t][i / 4][i % 4], c);
        else
          s = __fmaf_rn(c, 1.0f / 2048, s);
      }
  }
};

// Two parts: a warp takes the last 16 columns of a step along, and multiplies them while it reads the next one.
template <class Config, class Stages>
__device__ __forceinline__ void multiply_steps_ahead(Stages& at, int steps, MmaSplitSums<Config>& sums) {
  typename MmaSplitSums<Config>::X x[2];
  typename MmaSplitSums<Config>::Y y;
  if (steps == 0) return;
  at.wait();
  sums.load(x[0], at.x_part());
  sums.load(y, at.y_part());
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    at.fill();
    sums.add_first(x, y, at.x_part());
    at.leave();
    if (step + 1 < steps) at.wait();
    sums.add_last(x, y, at.x_part(), at.y_part());
  }
}

template <class Config>
__device__ __forceinline__ void multiply_steps(MmaSplitStages<Config>& at, int steps, MmaSplitSums<Config>& sums) {
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    at.wait();
    at.fill();
    sums.add_step(at.x_part(), at.y_part());
    at.leave();
  }
}

// The sums of tile (x, y), by all threads of a block. stages: in shared memory, Config::shared_bytes. meanwhile():
// while the first operands are on their way.
template <class Config, class Meanwhile>
__device__ __forceinline__ void multiply_split_tile(std::uint32_t stages, const MmaSplitVectors& columns, int x,
                                                    const MmaSplitVectors& rows, int y, int steps,
                                                    MmaSplitSums<Config>& sums, const Meanwhile& meanwhile) {
  MmaSplitStages<Config> at(stages, columns, x, rows, y, steps);
  meanwhile();
  sums.clear();
  if constexpr (Config::parts == 3)
    multiply_steps(at, steps, sums);
  else
    multiply_steps_ahead<Config>(at, steps, sums);
  sums.join();
  at.end();
}

}  // namespace vernier::cuda
