// What a block of the split product keeps in shared memory, stages of operands in a ring and what its form adds; and
// what a consumer warpgroup does with the stages: the orders of the schemes (split/product/sm90_split.hpp).
#pragma once

#include "cuda/ptx.cuh"
#include "cuda/staged_rows.cuh"
#include "cuda/wgmma.cuh"
#include "number/two_sum.hpp"
#include "split/product/sm90_epilogue.cuh"

namespace vernier::cuda {

// C by way of shared memory: old values arrive by bulk copies while the tile is multiplied, new ones leave while the
// next one is. From registers, a tile of 128 x 128 waited for eight round trips to memory: 5.6 us, as long as the
// products of k = 256 take.

// The tile in shared memory, in pieces of 32 rows by all columns: a line of 128 bytes a column, its quads swizzled as
// bulk tensor copies do it.
template <int Rows, int Columns>
struct StagedTile {
  static constexpr int piece_rows = 32, pieces = Rows / piece_rows, piece_bytes = Columns * 128;
  static constexpr int tile_bytes = pieces * piece_bytes, exponents_bytes = (Rows + Columns) * 4;
  static constexpr int bytes = tile_bytes + exponents_bytes;

  char* base;                 // aligned to 1024
  std::uint32_t full, ready;  // barriers: old values and exponents are there; new values are
  int first_row = 0, first_column = 0;

  __device__ __forceinline__ const int* row_exponents() const {
    return reinterpret_cast<const int*>(base + tile_bytes);
  }
  __device__ __forceinline__ const int* column_exponents() const { return row_exponents() + Rows; }

  __device__ __forceinline__ float* at(int row, int column) const {
    const int quad = row % piece_rows / 4 ^ column % 8;
    return reinterpret_cast<float*>(base + row / piece_rows * piece_bytes + column * 128 + quad * 16) + row % 4;
  }
  __device__ float* entry(int row, int column) const { return at(row - first_row, column - first_column); }

  // By one thread: the last tile's new values are on their way, or nothing is.
  __device__ __forceinline__ void load(const SplitArguments& g, const CUtensorMap& map) const {
    cuda::wait_for_stores_to_read();
    cuda::barrier_expect(full, bytes);
    const std::uint32_t to = cuda::shared_address(base);
    for (int i = 0; i < pieces; ++i)
      cuda::load_box(to + i * piece_bytes, &map, full, (first_row + i * piece_rows) * 4, first_column, 0);
    // The last cluster may reach beyond the columns of C: then any exponents do.
    const int column = first_column < g.b.count ? first_column : 0;
    cuda::load_bytes(to + tile_bytes, g.a_plane.unscale + first_row, Rows * 4, full);
    cuda::load_bytes(to + tile_bytes + Rows * 4, g.b_plane.unscale + column, Columns * 4, full);
  }
  __device__ __forceinline__ void store(const CUtensorMap& map) const {
    for (int i = 0; i < pieces; ++i)
      cuda::store_box(&map, cuda::shared_address(base) + i * piece_bytes, (first_row + i * piece_rows) * 4,
                      first_column, 0);
    cuda::close_stores();
  }
};

// As store_tile; column and row are those of the tile.
template <int Rows, int Columns>
__device__ __forceinline__ void update_tile(const SplitArguments& g, const Scalars& scalars,
                                            const StagedTile<Rows, Columns>& tile, float (&t)[Rows / 2], int column,
                                            int row) {
  // Lanes of odd columns take two groups of eight rows in turn the other way round: then no two of a half warp meet in
  // a bank.
  const bool odd = column % 2 != 0;
  const int turn = odd ? 16 : 0;
  int least = 0, most = 0, up[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) up[h] = tile.column_exponents()[column + 8 * h];
#pragma unroll
  for (int i = 0; i < Rows / 8; ++i) {
    const int2 e = *reinterpret_cast<const int2*>(tile.row_exponents() + row + 8 * i);
    least = min(least, min(e.x, e.y)), most = max(most, max(e.x, e.y));
  }
  const bool ordinary = least + min(up[0], up[1]) >= -126 && most + max(up[0], up[1]) <= 127;
  const auto update = [&](auto kind) {
    constexpr bool is_ordinary = decltype(kind)::value;
#pragma unroll
    for (int i = 0; i < Rows / 8; ++i) {
      const int my_row = row + 8 * i ^ turn;
      const int2 uq = *reinterpret_cast<const int2*>(tile.row_exponents() + my_row);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float2* c = reinterpret_cast<float2*>(tile.at(my_row, column + 8 * h));
        const float2 old = *c;
        const int other = 4 * (i ^ 2) + 2 * h, e0 = up[h] + uq.x, e1 = up[h] + uq.y;
        const float t0 = odd ? t[other] : t[4 * i + 2 * h], t1 = odd ? t[other + 1] : t[4 * i + 2 * h + 1];
        float2 v{scalars(is_ordinary ? t0 * float_power_of_two(e0) : unscale(t0, e0), old.x),
                 scalars(is_ordinary ? t1 * float_power_of_two(e1) : unscale(t1, e1), old.y)};
        if (!is_ordinary && e0 >= excluded_vector / 2) v.x = old.x;
        if (!is_ordinary && e1 >= excluded_vector / 2) v.y = old.y;
        *c = v;
      }
    }
  };
  if (ordinary)
    update(std::true_type{});
  else
    update(std::false_type{});
  if (__any_sync(~0u, most + max(up[0], up[1]) >= excluded_vector / 2))
    conventional_entries(g, scalars, 0, tile.first_column + column - threadIdx.x % 32 / 4,
                         tile.first_row + row - threadIdx.x % 4 * 2, Rows, tile);
}

constexpr int tile_columns = 128, consumer_columns = 64;
constexpr int producer_warpgroup = 2, block_threads = 384;
constexpr int ring_bytes = 229376;  // 224 of the 227 KiB of shared memory

// A cluster of Sharing blocks: neighbouring tiles of P that share one tile of Q, each loading its part of that. Or,
// with Halves, two blocks that take one half of k each of one tile; each then finishes the columns of one warpgroup.
// Staged: C by way of shared memory (StagedTile). RunLines: lines of k that a run has, of two parts.
template <int Rows_, int Sharing_, bool Folded_, Low Input_, bool Halves_ = false, bool Staged_ = false,
          int RunLines_ = Folded_ ? 2 : 1>
struct SplitConfig {
  static constexpr int Rows = Rows_, Sharing = Sharing_, Cluster = Halves_ ? 2 : Sharing_, RunLines = RunLines_;
  static constexpr bool Folded = Folded_, Halves = Halves_, Staged = Staged_;
  static constexpr Low Input = Input_;
  static constexpr int run_k = Rows == 128 ? 32 : 16;  // of three parts: bf16x6_sep, bf16x6_short
  static_assert(RunLines == 1 || RunLines == 2);       // planes have an even number of lines
  static_assert(!Halves || (Sharing == 1 && !Folded && !Staged && RunLines == 1));
  static constexpr SplitForm form = Input == Low::fp16 ? (Folded ? SplitForm::half_unshifted : SplitForm::half_shifted)
                                                       : (Folded ? SplitForm::tf32_unshifted : SplitForm::tf32_shifted);
  // Long products are those of tiles that pairs of blocks share.
  static constexpr bool Paces = Sharing == 2 && !Staged;
  // Tiles of P side by side. Tiles that do not keep pace reuse fewer: tf32, n = 16384, 69.9 ms against 75.2.
  static constexpr int group_of(bool paced) { return Folded && Input == Low::tf32 && !paced ? 8 : 16; }
  using Staging = StagedTile<Rows, tile_columns>;
  static constexpr int p_bytes = tile_columns * split_line_bytes, q_bytes = Rows * split_line_bytes;
  static constexpr int stage_bytes = p_bytes + q_bytes;
  static constexpr int sums_bytes = Halves ? consumer_columns * Rows * 4 : 0;  // of a warpgroup of the other block
  static constexpr int stages = (ring_bytes - sums_bytes - (Staged ? Staging::tile_bytes : 0)) / stage_bytes;
  // In this order behind the ring: the staged tile, barriers (two more than the ring's), sums, exponents.
  static constexpr int staging_at = stages * stage_bytes;
  static constexpr int barriers_at = staging_at + (Staged ? Staging::bytes : 0);
  static constexpr int more_barriers_at = barriers_at + 16 * stages, sums_at = more_barriers_at + 16;
  static constexpr int exponents_at = sums_at + sums_bytes;
  static constexpr int shared_bytes = exponents_at + (Staged ? 0 : 2 * sizeof(TileExponents<Rows>)) + 1024;
  static_assert(shared_bytes <= 227 * 1024);
};

template <class Config>
struct Ring {
  std::uint32_t base;

  __device__ std::uint32_t p(int stage) const { return base + stage * Config::stage_bytes; }
  __device__ std::uint32_t q(int stage) const { return p(stage) + Config::p_bytes; }
  __device__ std::uint32_t full(int stage) const { return base + Config::barriers_at + 8 * stage; }
  __device__ std::uint32_t empty(int stage) const { return full(stage) + 8 * Config::stages; }
  __device__ std::uint32_t told() const { return base + Config::more_barriers_at; }  // the sums below have arrived
  __device__ std::uint32_t sums() const { return base + Config::sums_at; }
  __device__ typename Config::Staging staging(char* begin) const {  // begin: of the ring
    const std::uint32_t full = base + Config::more_barriers_at;
    return {begin + Config::staging_at, full, full + 8};
  }
};

// ---- a consumer ----------------------------------------------------------------------------------------------------

// One consumer warpgroup: 64 columns by Rows rows of C.
template <class Config>
struct Consumer {
  static constexpr int accumulators = Config::Rows / 2;
  using Accumulators = float[accumulators];

  const Ring<Config>& ring;
  std::uint64_t p, q;  // operands in stage 0
  RingPlace<Config::stages> next;
  int released = 0;  // the stage to give back next

  __device__ Consumer(const Ring<Config>& r, int warpgroup)
      : ring(r), p(wgmma_operand(r.p(0) + warpgroup * consumer_columns * split_line_bytes)), q(wgmma_operand(r.q(0))) {}

  __device__ __forceinline__ void arrived() { barrier_wait(ring.full(next.stage), next.parity); }

  // Every block that filled a part of the stage hears of it, from every warp.
  __device__ __forceinline__ void release() {
    const int lane = threadIdx.x % 32;
    if constexpr (Config::Sharing == 1) {
      if (lane == 0) barrier_arrive(ring.empty(released));
    } else {
      if (lane < Config::Sharing) barrier_arrive_remote(ring.empty(released), lane);
    }
    if (++released == Config::stages) released = 0;
  }

  // Part a of op(A) times part b of op(B) over one line: two steps of 32 bytes. Part 1 begins 64 bytes into a line.
  __device__ __forceinline__ void product(Accumulators& d, int stage, int a, int b, int keep) const {
    const auto offset = static_cast<std::uint64_t>(static_cast<std::uint32_t>(stage * (Config::stage_bytes / 16)));
    const std::uint64_t first = p + offset + 4 * b, second = q + offset + 4 * a;
    wgmma<Config::Rows, Config::Input>(d, first, second, keep);
    wgmma<Config::Rows, Config::Input>(d, first + 2, second + 2, 1);
  }

  static __device__ __forceinline__ void add(Accumulators& sum, Accumulators& run) {
    pin(run);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = __fadd_rn(sum[i], run[i]);
  }

  // Corrections follow each main product on the tensor cores, and a run is added outside while the last of them still
  // execute: the queue never empties.
  __device__ __forceinline__ void separate(Accumulators& sum, int lines) {
    Accumulators run, corrections;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0, corrections[i] = 0;
    for (int line = 0; line < lines; line += Config::RunLines) {
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) {
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
    pin(corrections);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = __fmaf_rn(corrections[i], 1.0f / 2048, sum[i]);
  }

  // Separate, run by run: 32 k, of three half lines, or 16. What rounding takes of an addition outside stays in the
  // run's registers, where the next run begins. Three lines hold two steps of 32 k; what each warp waits for and gives
  // back is written out for both, or the compiler would let no products overlap.
  __device__ __forceinline__ void compensated(Accumulators& sum, int lines) {
    Accumulators run, corrections;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0, run[i] = 0, corrections[i] = 0;
    // One that the compiler does not know.
    const float one = __uint_as_float(0x3f800000u | static_cast<std::uint32_t>(lines) >> 31);
    int half = 2 * next.stage;  // of the ring: where part 0 of a step lies
    for (int line = 0; line < lines; line += 3) {
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        std::uint64_t part[3];
#pragma unroll
        for (int i = 0; i < 3; ++i) {
          part[i] = static_cast<std::uint32_t>(half / 2 * (Config::stage_bytes / 16) + half % 2 * 4);
          if (++half == 2 * Config::stages) half = 0;
        }
        for (int i = odd; i < 2; ++i) arrived(), next.advance();
#pragma unroll
        for (int l = 0; l < 32; l += Config::run_k) {
          wgmma_fence();
          product_of_run(run, part[0], part[0], l);
          wgmma_commit();
          wgmma_wait<1>();  // the corrections of the run before
          if (l == 0 && line + odd > 0) release();
          if (l == 0 && line > 0 && odd == 0) release();
          wgmma_fence();
          product_of_run(corrections, part[1], part[1], l);
          product_of_run(corrections, part[2], part[0], l);
          product_of_run(corrections, part[0], part[2], l);
          product_of_run(corrections, part[1], part[0], l);
          product_of_run(corrections, part[0], part[1], l);
          wgmma_commit();
          wgmma_wait<1>();  // the main products of this run
          pin(run);
#pragma unroll
          for (int i = 0; i < accumulators; ++i) carry(sum[i], run[i], one);
        }
      }
    }
    wgmma_wait<0>();
    if (lines > 0) release(), release();
    pin(corrections);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = compensated_end(sum[i], run[i], corrections[i]);
  }

  // Wide tiles leave no registers for new sums beside the old ones. Times one, each is written after the last use of
  // the old one, and goes where that was.
  static __device__ __forceinline__ void carry(float& sum, float& run, float one) {
    if constexpr (Config::Rows == 128) {
      float s = sum;
      fast_two_sum(s, run);
      sum = __fmul_rn(s, one);
    } else {
      two_sum(sum, run);
    }
  }

  // a, b: where the parts lie behind stage 0, in units of 16 bytes; l: the k of the step at which the run begins.
  __device__ __forceinline__ void product_of_run(Accumulators& d, std::uint64_t a, std::uint64_t b, int l) const {
#pragma unroll
    for (int i = l / 8; i < (l + Config::run_k) / 8; i += 2)
      wgmma<Config::Rows, Config::Input>(d, p + b + i, q + a + i, 1);
  }

  // The corrections of a run first, line by line, then its main products: small numbers are cut less among small ones.
  // All corrections of a line before the next is waited for: with two of four, stages run short (197 against 223
  // TFLOP/s at n = 8192). One warpgroup adds while the other multiplies; with runs of one line it does so too often
  // (189 against 234).
  __device__ __forceinline__ void folded(Accumulators& sum, int lines) {
    Accumulators run;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0;
    for (int line = 0; line < lines; line += Config::RunLines) {
      int stage[Config::RunLines];
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) {
        stage[r] = next.stage;
        arrived();
        wgmma_fence();
        product(run, stage[r], 1, 0, r > 0);
        product(run, stage[r], 0, 1, 1);
        next.advance();
      }
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) product(run, stage[r], 0, 0, 1);
      wgmma_commit();
      wgmma_wait<0>();
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) release();
      add(sum, run);
    }
  }
};

}  // namespace vernier::cuda
