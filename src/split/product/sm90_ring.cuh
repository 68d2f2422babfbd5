// What a block of the split product keeps in shared memory: stages of operands in a ring, and what its form adds.
#pragma once

#include "cuda/ptx.cuh"
#include "split/product/sm90_epilogue.cuh"
#include "split/product/sm90_staged.cuh"
#include "split/product/sm90_wgmma_float.cuh"

namespace vernier::cuda {

constexpr int tile_columns = 128, consumer_columns = 64;
constexpr int producer_warpgroup = 2, block_threads = 384;
constexpr int ring_bytes = 229376;  // 224 of the 227 KiB of shared memory

// A cluster of Sharing blocks: neighbouring tiles of P that share one tile of Q, each loading its part of that. Or,
// with Halves, two blocks that take one half of k each of one tile; each then finishes the columns of one warpgroup.
// Staged: C by way of shared memory (sm90_staged.cuh). RunLines: lines of k that a run has, of two parts.
template <int Rows_, int Sharing_, bool Folded_, Low Input_, bool Halves_ = false, bool Staged_ = false,
          int RunLines_ = Folded_ ? 2 : 1>
struct SplitConfig {
  static constexpr int Rows = Rows_, Sharing = Sharing_, Cluster = Halves_ ? 2 : Sharing_, RunLines = RunLines_;
  static constexpr bool Folded = Folded_, Halves = Halves_, Staged = Staged_;
  static constexpr Low Input = Input_;
  static constexpr int run_k = Rows == 128 ? 32 : 16;  // of three parts: bf16x6_sep, bf16x6_short
  static_assert(RunLines == 1 || RunLines == 2);       // planes have an even number of lines
  static_assert(!Halves || (Sharing == 1 && !Folded && !Staged && RunLines == 1));
  static constexpr bool SplitsLater = Sharing == 2 && !Staged && Input != Low::bf16;
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

// Position in the ring of stages.
template <int Stages>
struct RingPosition {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == Stages) stage = 0, parity ^= 1;
  }
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

}  // namespace vernier::cuda
