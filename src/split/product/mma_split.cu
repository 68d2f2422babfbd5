#include "split/product/mma_split_bulk.cuh"

#include <algorithm>

#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "split/product/sm90_conventional.cuh"
#include "split/product/sm90_epilogue.cuh"
#include "split/product/sm90_order.cuh"

namespace vernier::cuda {
namespace {

// What undoes the scales of a tile: its columns, then its rows.
template <class Config>
__device__ __forceinline__ void fetch_exponents(const SplitArguments& g, const TilePlace& at, std::int32_t* exponents) {
  const int columns = static_cast<int>(g.b.count), rows = static_cast<int>(g.a.count);
  for (int i = threadIdx.x; i < Config::columns + Config::rows; i += Config::threads) {
    const bool of_column = i < Config::columns;
    const int v = of_column ? at.p * Config::columns + i : at.q * Config::rows + i - Config::columns;
    const std::int32_t* from = of_column ? g.b_plane.unscale + static_cast<std::int64_t>(at.product) * columns
                                         : g.a_plane.unscale + static_cast<std::int64_t>(at.product) * rows;
    exponents[i] = unscale_of(from, v, of_column ? columns : rows);
  }
}

// By way of shared memory, each thread its own: a loop that is not unrolled has the code once.
template <class Config>
__device__ __forceinline__ void store_sums(const SplitArguments& g, const TilePlace& at, MmaSplitSums<Config>& sums,
                                           float* parked, const std::int32_t* exponents) {
  static_assert(Config::warp_tiles * 16 * Config::threads * 4 <= Config::shared_bytes);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column = warp % Config::warps_across * Config::warp_columns + lane / 4,
            row = warp / Config::warps_across * Config::warp_rows + lane % 4 * 2;
  const Scalars scalars = scalars_of(g);
  parked += threadIdx.x;
#pragma unroll
  for (int t = 0; t < Config::warp_tiles; ++t)
#pragma unroll
    for (int i = 0; i < 16; ++i) parked[(16 * t + i) * Config::threads] = sums.sum[t][i / 4][i % 4];
#pragma unroll 1
  for (int t = 0; t < Config::warp_tiles; ++t) {
    float entries[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) entries[i] = parked[(16 * t + i) * Config::threads];
    store_tile<Config::warp_rows>(g, scalars, entries, at.product, at.p * Config::columns + column + 16 * t,
                                  at.q * Config::rows + row, exponents + column + 16 * t,
                                  exponents + Config::columns + row);
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::threads, 1)
    multiply_split_tiles(const __grid_constant__ SplitArguments g, const __grid_constant__ TileOrder order,
                         const __grid_constant__ MmaSplitVectors columns,
                         const __grid_constant__ MmaSplitVectors rows) {
  extern __shared__ __align__(16) char raw[];
  __shared__ __align__(8) std::int32_t exponents[Config::columns + Config::rows];
  wait_for_previous_kernels();
  allow_next_kernel();
  if (made_before(g) || decide(g) != Decision::split) return;
  const int steps = scalars_of(g).alpha == 0 ? 0 : g.lines * 2 / Config::parts;
  TilePlace at;
  for (int tile = blockIdx.x; order.place(tile, at); tile += gridDim.x) {
    MmaSplitSums<Config> sums;
    multiply_split_tile<Config>(shared_address(raw), columns, at.p, rows, at.q, steps, sums,
                                [&] { fetch_exponents<Config>(g, at, exponents); });
    keep(tile);  // its place is computed anew: registers are for sums
    order.place(tile, at);
    store_sums<Config>(g, at, sums, reinterpret_cast<float*>(raw), exponents);
    __syncthreads();  // before the next tile's operands and exponents
  }
}

// Compiled for GPUs before 9.0 too, which do not launch it.
template <class Config>
__global__ void __launch_bounds__(Config::threads, 1)
    multiply_split_bulk(const __grid_constant__ SplitArguments g, const __grid_constant__ TileOrder order,
                        const __grid_constant__ CUtensorMap columns, const __grid_constant__ CUtensorMap rows) {
#if __CUDA_ARCH__ >= 900
  using Bulk = BulkSplit<Config>;
  extern __shared__ __align__(1024) char swizzled[];
  BulkSplitStages<Config> stages(shared_address(swizzled), columns, rows);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (made_before(g) || decide(g) != Decision::split) return;
  const int steps = scalars_of(g).alpha == 0 ? 0 : g.lines * 2 / Config::parts;
  auto* exponents = reinterpret_cast<std::int32_t*>(swizzled + Bulk::exponents);
  TilePlace at, next;
  int tile = blockIdx.x;
  if (order.place(tile, at)) stages.begin_tile(at.p, at.q, steps);
  for (; order.place(tile, at); tile += gridDim.x) {
    fetch_exponents<Config>(g, at, exponents);
    MmaSplitSums<Config> sums;
    sums.clear();
    multiply_steps_ahead<Config>(stages, steps, sums);
    sums.join();
    keep(tile);  // its place is computed anew: registers are for sums
    order.place(tile, at);
    __syncthreads();  // exponents are there, and nobody reads stages any more
    if (order.place(tile + gridDim.x, next)) stages.begin_tile(next.p, next.q, steps);
    store_sums<Config>(g, at, sums, reinterpret_cast<float*>(swizzled + Bulk::parked), exponents);
    __syncthreads();  // before those of the next tile
  }
#endif
}

// What the last of judged attempts leaves, behind it.
__global__ void __launch_bounds__(conventional_threads, 1)
    multiply_conventional_tiles(const __grid_constant__ SplitArguments g) {
  extern __shared__ __align__(16) char raw[];
  if (*g.gate.verdict == conventional_mark) conventional_product(g, scalars_of(g), raw);
}

template <class Config>
void launch_tiles(const SplitProduct& x, const SplitArguments& g, const TileOrder& order, LaunchShape shape,
                  cudaStream_t stream) {
  const std::int64_t pitch = x.a_plane.line_count * split_line_bytes;
  if constexpr (Config::parts == 2) {
    if (takes_later_kernels()) {
      const auto map = [&](const SplitPlane& plane, std::int64_t count, int vectors) {
        return map_of_planes(plane.lines, pitch, count, 1, vectors);
      };
      shape.shared_bytes = BulkSplit<Config>::shared_bytes;
      return launch("multiply_split_bulk", multiply_split_bulk<Config>, shape, stream, g, order,
                    map(x.b_plane, g.b.count, Config::columns), map(x.a_plane, g.a.count, Config::rows));
    }
  }
  const auto vectors = [&](const SplitPlane& plane, std::int64_t count) {
    return MmaSplitVectors{plane.lines, static_cast<int>(count), static_cast<int>(pitch)};
  };
  launch("multiply_split_tiles", multiply_split_tiles<Config>, shape, stream, g, order, vectors(x.b_plane, g.b.count),
         vectors(x.a_plane, g.a.count));
}

template <class Config>
void multiply(const SplitProduct& x, cudaStream_t stream) {
  constexpr int group = 16;
  const SplitArguments g = arguments_of(x, group, {});
  const int multiprocessors = multiprocessors_for(x);
  const TileOrder order{g.products, static_cast<int>(divide_up(g.b.count, std::int64_t{Config::columns})),
                        static_cast<int>(divide_up(g.a.count, std::int64_t{Config::rows})), g.group};
  const std::int64_t tiles = std::int64_t{order.products} * order.p_tiles * order.q_tiles;
  launch_tiles<Config>(x, g, order,
                       {.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles, multiprocessors))),
                        .block = dim3(Config::threads),
                        .shared_bytes = Config::shared_bytes,
                        .overlap_previous = true},
                       stream);
  if (!x.gate.judged || !x.gate.last) return;
  launch("multiply_conventional_tiles", multiply_conventional_tiles,
         {.grid = dim3(static_cast<unsigned>(multiprocessors)),
          .block = dim3(conventional_threads),
          .shared_bytes = sizeof(ConventionalTile<8>)},
         stream, g);
}

// The last of judged attempts is followed by a kernel of its own for the conventional product. What is said of steps,
// previous kernels and parts of the tiles in SplitProduct they do not take.
template <class Config>
constexpr SplitKernel kernel_of(const char* scheme) {
  constexpr SplitForm forms[] = {SplitForm::half_shifted, SplitForm::bf16_three, SplitForm::tf32_shifted};
  constexpr int form = Config::Word == FloatWord::fp16 ? 0 : Config::Word == FloatWord::bf16 ? 1 : 2;
  return {scheme, forms[form], {Config::columns, Config::rows}, multiply<Config>};
}

}  // namespace

constinit const SplitKernel mma_half = kernel_of<MmaSplitConfig<FloatWord::fp16>>("halfhalf_sep"),
                            mma_tf32 = kernel_of<MmaSplitConfig<FloatWord::tf32>>("tf32tf32_sep"),
                            mma_bf16 = kernel_of<MmaSplitConfig<FloatWord::bf16>>("bf16x6_sep"),
                            mma_bf16_short = kernel_of<MmaSplitConfig<FloatWord::bf16, 1>>("bf16x6_short");

}  // namespace vernier::cuda
