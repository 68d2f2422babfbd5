// The product of |A| and |B| on Hopper (bound_engine_cuda.hpp), in a persistent launch like that of the residues.
#include <algorithm>

#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "engine/bound/bound_engine_cuda.hpp"
#include "engine/sm90_pipeline.cuh"
#include "number/bound_byte.hpp"

namespace vernier::cuda {
namespace {

// For codes both warpgroups work on one tile, so that a thread has room for sums beside the accumulators. For minima
// alone they take turns: one multiplies while the other looks at its entries.
using BoundTile = TileShape<128, 128, true>;
using MinimaTile = TileShape<128, 128, false>;
constexpr int bound_threads = 384, bound_band = 8;
constexpr int chunk_boxes = bound_chunk_k / box_row_bytes;

struct BoundSides {
  DeviceBoundSide row, column;
};

// Which tiles a block takes.
struct TileWalk {
  int first, step, rank;
};

// The least over lanes that differ in these bits.
template <int... Distances>
__device__ __forceinline__ float least_of_lanes(float x) {
  ((x = fminf(x, __shfl_xor_sync(~0u, x, Distances))), ...);
  return x;
}

__device__ __forceinline__ void lower(unsigned* minimum, float x) {
  if (x < bound_no_partner) atomicMin(minimum, __float_as_uint(x));
}

// What one thread knows of its two columns.
struct ThreadColumns {
  float weight[2], norm[2], share[2], least[2];

  __device__ __forceinline__ ThreadColumns(const DeviceBoundSide& side, std::int64_t first) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::int64_t j = first + 8 * h;
      weight[h] = __ldg(side.inverse_weights + j);
      norm[h] = __ldg(side.inverse_norms + j);
      share[h] = __ldg(side.zero_shares + j);
      least[h] = bound_no_partner;
    }
  }
};

// A thread's four pairs of rows in a unit: what the epilogue reads of them, all before it is needed.
struct ThreadRows {
  float2 weight[4], norm[4], share[4];

  __device__ __forceinline__ ThreadRows(const DeviceBoundSide& side, std::int64_t first) {
    const auto pair = [&](const float* x, int g) { return __ldg(reinterpret_cast<const float2*>(x + first + 8 * g)); };
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      weight[g] = pair(side.inverse_weights, g);
      norm[g] = pair(side.inverse_norms, g);
      share[g] = pair(side.zero_shares, g);
    }
  }
};

// Entries (row, column) and (row + 1, column), and the same 8 columns further. Returns their codes; rows: the least
// ratios of the two rows.
template <bool Codes>
__device__ __forceinline__ std::uint32_t take_entries(const float* s, float2 weights, float2 norms, float2 shares,
                                                      ThreadColumns& columns, float (&rows)[2]) {
  const float weight[2] = {weights.x, weights.y}, norm[2] = {norms.x, norms.y}, share[2] = {shares.x, shares.y};
  std::uint32_t codes = 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int r = e % 2, h = e / 2;
    const float of_zero = bound_of_zero(share[r], columns.share[h]);
    rows[r] = fminf(rows[r], bound_ratio(s[e], columns.weight[h], of_zero));
    columns.least[h] = fminf(columns.least[h], bound_ratio(s[e], weight[r], of_zero));
    if constexpr (Codes) codes |= static_cast<std::uint32_t>(bound_code(s[e] * norm[r] * columns.norm[h])) << (8 * e);
  }
  return codes;
}

// x[q] of all lanes with the same lane % 4 -> the least x[lane / 4] of these.
__device__ __forceinline__ float least_of_eight(const float (&x)[8], int lane) {
  float four[4], two[2];
  const bool upper = lane & 16, middle = lane & 8, lower = lane & 4;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    four[i] = fminf(upper ? x[i + 4] : x[i], __shfl_xor_sync(~0u, upper ? x[i] : x[i + 4], 16));
#pragma unroll
  for (int i = 0; i < 2; ++i)
    two[i] = fminf(middle ? four[i + 2] : four[i], __shfl_xor_sync(~0u, middle ? four[i] : four[i + 2], 8));
  return fminf(lower ? two[1] : two[0], __shfl_xor_sync(~0u, lower ? two[0] : two[1], 4));
}

// 64 columns by 128 rows of a warpgroup.
template <bool Codes>
__device__ __forceinline__ void take_tile(const float (&s)[BoundTile::registers], const Sm90Task& task,
                                          const BoundSides& sides, int first_column, int first_row, int thread) {
  constexpr int units = BoundTile::rows / unit_rows;
  const int warp = thread / 32, lane = thread % 32, across = first_column / unit_columns;
  if (across >= task.units_across) return;
  ThreadColumns columns(sides.column, first_column + warp * 16 + lane / 4);
  float least[units];  // of row lane / 8 * 8 + lane % 4 * 2 + lane / 4 % 2 of each unit
#pragma unroll
  for (int u = 0; u < units; ++u) {
    const int down = first_row / unit_rows + u;
    if (down >= task.units_down) break;
    const ThreadRows rows(sides.row, first_row + u * unit_rows + lane % 4 * 2);
    std::uint32_t codes[4];
    float ratios[8];
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      float two[2] = {bound_no_partner, bound_no_partner};
      codes[g] = take_entries<Codes>(&s[16 * u + 4 * g], rows.weight[g], rows.norm[g], rows.share[g], columns, two);
      ratios[2 * g] = two[0];
      ratios[2 * g + 1] = two[1];
    }
    least[u] = least_of_eight(ratios, lane);
    if constexpr (!Codes) continue;
    const std::int64_t unit = static_cast<std::int64_t>(across) * task.units_down + down;
    reinterpret_cast<uint4*>(task.out + unit * unit_bytes)[thread] = make_uint4(codes[0], codes[1], codes[2], codes[3]);
  }
  const int row = first_row + lane / 8 * 8 + lane % 4 * 2 + lane / 4 % 2;
#pragma unroll
  for (int u = 0; u < units; ++u)
    if (first_row / unit_rows + u < task.units_down) lower(sides.row.minima + row + u * unit_rows, least[u]);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float column = least_of_lanes<1, 2>(columns.least[h]);
    if (lane % 4 == 0) lower(sides.column.minima + first_column + warp * 16 + lane / 4 + 8 * h, column);
  }
}

// A warpgroup's sums of one tile: chunks of k in the tensor units, their sums in float.
__device__ __forceinline__ void sum_tile(float (&sums)[1][BoundTile::registers], const Stages& stages,
                                         std::uint32_t step, int k_blocks, int group, int thread) {
  float chunk[1][BoundTile::registers];
#pragma unroll
  for (float& s : sums[0]) s = 0;
  for (int kb = 0; kb < k_blocks; kb += chunk_boxes) {
    multiply_tile<BoundTile>(chunk, stages, step + kb, min(chunk_boxes, k_blocks - kb), group, thread, [] {});
#pragma unroll
    for (int i = 0; i < BoundTile::registers; ++i) sums[0][i] = __fadd_rz(sums[0][i], chunk[0][i]);
  }
}

// The tiles of a block, for codes.
__device__ __forceinline__ void take_tiles(BoundTile, const Stages& stages, const Sm90Task& task,
                                           const BoundSides& sides, TileWalk walk, int group, int thread) {
  using T = BoundTile;
  float sums[1][T::registers];
  std::uint32_t step = 0;
  for (T::Jobs jobs(task.grid, walk.first, walk.step); !jobs.done(); jobs.advance()) {
    const TileJob job = jobs.job();
    const int k_blocks = k_blocks_of<T>(task, job);
    sum_tile(sums, stages, step, k_blocks, group, thread);
    step += k_blocks;
    take_tile<true>(sums[0], task, sides, (job.x * T::cluster + walk.rank) * T::columns + group * T::group_columns,
                    job.y * T::rows, thread);
  }
}

// ... for minima alone, every second of them by each warpgroup. All of k is summed in the tensor units: that is lower.
__device__ __forceinline__ void take_tiles(MinimaTile, const Stages& stages, const Sm90Task& task,
                                           const BoundSides& sides, TileWalk walk, int group, int thread) {
  using T = MinimaTile;
  float sums[T::blocks][T::registers];
  T::Jobs jobs(task.grid, walk.first, walk.step);
  for (int turn = 0; !jobs.done(); ++turn) {
    const TileJob job = jobs.job();
    jobs.advance();
    if (turn % 2 != group) continue;
    if (turn > 0) named_barrier_sync(1 + group, 256);  // as residue_products
    multiply_tile<T>(sums, stages, static_cast<std::uint32_t>(turn) * task.k_blocks, task.k_blocks, 0, thread, [&] {
      if (!jobs.done()) named_barrier_arrive(2 - group, 256);
    });
#pragma unroll
    for (int b = 0; b < T::blocks; ++b)
      take_tile<false>(sums[b], task, sides, (job.x * T::cluster + walk.rank) * T::columns + 64 * b, job.y * T::rows,
                       thread);
  }
}

template <class T>
__global__ void __launch_bounds__(bound_threads, 1)
    bound_products(const __grid_constant__ CUtensorMap map_x, const __grid_constant__ CUtensorMap map_y,
                   const __grid_constant__ Sm90Task task, const __grid_constant__ BoundSides sides) {
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0), rank = static_cast<int>(blockIdx.x % 2);
  const int first = blockIdx.x / 2, step = gridDim.x / 2;
  const Stages stages = begin_stages<T>(map_x, map_y);
  if (task.gate.closed()) return;
  if (group == 2) {
    give_registers<40>();
    if (threadIdx.x == 256) feed<T>(map_x, map_y, stages, task, first, step, false, rank);
  } else {
    take_registers<232>();
    take_tiles(T{}, stages, task, sides, {first, step, rank}, group, static_cast<int>(threadIdx.x % 128));
  }
  end_stages();
}

CUtensorMap map_of(const std::uint8_t* vectors, std::int64_t count, const DeviceBoundProduct& p, int box_rows) {
  return make_tensor_map({.base = vectors,
                          .row_bytes = p.k,
                          .rows = count,
                          .planes = 1,
                          .row_stride = p.pitch,
                          .plane_stride = count * p.pitch,
                          .box_rows = box_rows});
}

}  // namespace

void multiply_bound_on_device(const DeviceBoundProduct& p, cudaStream_t stream) {
  using T = BoundTile;
  const ProductUnits units = product_units(p.m, p.n);
  const std::int64_t across = divide_up(p.n, T::columns * T::cluster), down = divide_up(p.m, T::rows);
  const int clusters =
      static_cast<int>(std::min<std::int64_t>(across * down, current_device().multiprocessors / T::cluster));
  const Sm90Task task{.grid = {.jobs = static_cast<int>(across * down),
                               .across = static_cast<int>(across),
                               .down = static_cast<int>(down),
                               .band = bound_band,
                               .m = p.m,
                               .n = p.n,
                               .wanted = {},
                               .turn = 0},
                      .k_blocks = static_cast<int>(divide_up(p.k, box_row_bytes)),
                      .units_across = static_cast<int>(units.across),
                      .units_down = static_cast<int>(units.down),
                      .products = 1,
                      .accumulate = false,
                      .seldom = false,
                      .out = reinterpret_cast<std::int8_t*>(p.codes),
                      .gate = p.gate,
                      .pace = {},
                      .filled = p.codes != nullptr ? p.filled : FilledPieces{}};
  launch("bound_products", p.codes != nullptr ? bound_products<BoundTile> : bound_products<MinimaTile>,
         {.grid = dim3(static_cast<unsigned>(clusters * T::cluster)),
          .block = dim3(bound_threads),
          .shared_bytes = T::shared_bytes,
          .cluster = dim3(T::cluster),
          .overlap_previous = true},
         stream, map_of(p.columns, p.n, p, T::x_box), map_of(p.rows, p.m, p, T::y_box), task,
         BoundSides{p.row, p.column});
}

}  // namespace vernier::cuda
