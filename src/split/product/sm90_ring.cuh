// What a block of the split product keeps in shared memory: stages of operands in a ring, and what its form adds.
#pragma once

#include "cuda/ptx.cuh"
#include "cuda/staged_rows.cuh"
#include "cuda/wgmma.cuh"
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

}  // namespace vernier::cuda
