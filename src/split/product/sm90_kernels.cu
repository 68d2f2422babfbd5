// The product of split operands: a persistent kernel of one producer thread and two consumer warpgroups (sm_90a).
//
// Supports any m, n, k and any C. Assumes planes as split/plane.hpp describes them: an even number of lines, or of
// three parts a multiple of three.
//
// wgmma's first operand are the columns of op(B) (P), its second the rows of op(A) (Q): a thread's neighbouring
// accumulators are then neighbours in a column of C, and C is stored from registers in whole sectors.
//
// The engine cuts when it adds. So products of part 0 stay inside for one run, RunLines lines of k, from zero,
// and are added to an outside sum in fp32, to nearest (docs/accuracy.md).
#include "cuda/launch.hpp"
#include "cuda/pace.cuh"
#include "cuda/ptx.cuh"
#include "cuda/tensor_map.hpp"
#include "engine/panel.hpp"
#include "split/product/sm90_conventional.cuh"
#include "split/product/sm90_epilogue.cuh"
#include "split/product/sm90_order.cuh"
#include "split/product/sm90_ring.cuh"

namespace vernier::cuda {

// Most blocks of narrow tiles have one, and begin before the split has ended.
template <class Config>
using TilesOf = Tiles<Config::Cluster, Config::Rows == 64>;

template <class Config>
__device__ __forceinline__ void produce(const CUtensorMap& map_p, const CUtensorMap& map_q, const Ring<Config>& ring,
                                        const SplitArguments& g, const TilesOf<Config>& tiles, int lines, int rank) {
  constexpr int share = Config::Rows / Config::Sharing;
  const int side = Config::Halves ? 0 : rank, begin = Config::Halves ? rank * lines : 0;
  RingPlace<Config::stages> at{0, 1};
  [[maybe_unused]] Pacer pacer(g.pace);
  tiles.for_each([&](const TilePlace& place) {
    const int row_p = place.product * static_cast<int>(g.b.count) + (place.p * Config::Sharing + side) * tile_columns;
    const int row_q = place.product * static_cast<int>(g.a.count) + place.q * Config::Rows + side * share;
    for (int line = begin; line < begin + lines; ++line, at.advance()) {
      if constexpr (Config::Paces) pacer.before(line - begin);
      barrier_wait(ring.empty(at.stage), at.parity);
      const std::uint32_t full = ring.full(at.stage);
      const int byte = line * split_line_bytes;
      barrier_expect(full, Config::stage_bytes);
      load_box(ring.p(at.stage), &map_p, full, byte, row_p, 0);
      if constexpr (Config::Sharing == 1)
        load_box(ring.q(at.stage), &map_q, full, byte, row_q, 0);
      else
        load_box_multicast(ring.q(at.stage) + side * share * split_line_bytes, &map_q, full, byte, row_q, 0,
                           (1 << Config::Sharing) - 1);
    }
  });
  if constexpr (Config::Paces) pacer.end();
}

// By one thread: tiles of C come and go.
template <class Config>
__device__ __forceinline__ void move_tiles(const SplitArguments& g, const CUtensorMap& map_c,
                                           typename Config::Staging tile, const TilesOf<Config>& tiles, int rank) {
  std::uint32_t parity = 0;
  tiles.for_each([&](const TilePlace& at) {
    tile.first_column = (at.p * Config::Sharing + rank) * tile_columns, tile.first_row = at.q * Config::Rows;
    tile.load(g, map_c);
    barrier_wait(tile.ready, parity);
    tile.store(map_c);
    parity ^= 1;
  });
  wait_for_stores();
}

// What the other block of the cluster has summed of this warpgroup's columns over its half of k is added; or, in the
// warpgroup whose columns the other block finishes, sent there.
// sums: ring.sums() as a pointer.
template <class Config>
__device__ __forceinline__ void join_halves(const Ring<Config>& ring, const char* sums, float (&sum)[Config::Rows / 2],
                                            bool finishes, int rank) {
  constexpr int pitch = 128 * sizeof(float4);
  const int mine = threadIdx.x % 128 * sizeof(float4);
  if (finishes) {
    barrier_wait_cluster(ring.told(), 0);
#pragma unroll
    for (int i = 0; i < Config::Rows / 8; ++i) {
      const float4 other = *reinterpret_cast<const float4*>(sums + mine + i * pitch);
      sum[4 * i] = __fadd_rn(sum[4 * i], other.x), sum[4 * i + 1] = __fadd_rn(sum[4 * i + 1], other.y);
      sum[4 * i + 2] = __fadd_rn(sum[4 * i + 2], other.z), sum[4 * i + 3] = __fadd_rn(sum[4 * i + 3], other.w);
    }
  } else {
    const std::uint32_t there = address_in_block(ring.sums() + mine, 1 - rank);
    const std::uint32_t told = address_in_block(ring.told(), 1 - rank);
#pragma unroll
    for (int i = 0; i < Config::Rows / 8; ++i)
      store_async(there + i * pitch,
                  {__float_as_uint(sum[4 * i]), __float_as_uint(sum[4 * i + 1]), __float_as_uint(sum[4 * i + 2]),
                   __float_as_uint(sum[4 * i + 3])},
                  told);
  }
}

template <class Config>
__global__ void __launch_bounds__(block_threads, 1)
    multiply_split_kernel(const __grid_constant__ CUtensorMap map_p, const __grid_constant__ CUtensorMap map_q,
                          const __grid_constant__ CUtensorMap map_c, const __grid_constant__ SplitArguments g) {
  constexpr int sharing = Config::Sharing, cluster = Config::Cluster;
  extern __shared__ __align__(16) char raw[];
  if (made_before(g)) return;
  const Ring<Config> ring{(shared_address(raw) + 1023) & ~1023u};
  char* begin = raw + (ring.base - shared_address(raw));
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const int rank = cluster > 1 ? cluster_rank() : 0;

  if (threadIdx.x == 0) {
    for (int s = 0; s < Config::stages; ++s) {
      barrier_init(ring.full(s), 1);
      barrier_init(ring.empty(s), 8 * sharing);
    }
    if constexpr (Config::Halves) {
      barrier_init(ring.told(), 1);
      barrier_expect(ring.told(), Config::sums_bytes);
    }
    if constexpr (Config::Staged) {
      barrier_init(ring.staging(begin).full, 1);
      barrier_init(ring.staging(begin).ready, 8);
      prefetch_tensor_map(&map_c);
    }
    fence_barrier_init();
    prefetch_tensor_map(&map_p);
    prefetch_tensor_map(&map_q);
  }
  if constexpr (cluster > 1) {
    cluster_arrive();
    cluster_wait();
  } else {
    __syncthreads();
  }
  const auto pieces = [](std::int64_t count, int size) { return static_cast<int>((count + size - 1) / size); };
  const TilesOf<Config> tiles({g.products, pieces(g.b.count, tile_columns * sharing), pieces(g.a.count, Config::Rows),
                               (g.group + sharing - 1) / sharing,
                               g.triangle ? tile_columns * sharing / Config::Rows : 0, g.first_tile, g.end_tile});
  if (!g.beside_previous) wait_for_previous_kernels();
  const Decision decision = decide(g);
  if (g.beside_previous && decision != Decision::split) wait_for_previous_kernels();
  if (decision == Decision::leave) return;
  const Scalars scalars = scalars_of(g);
  if constexpr (Config::Input == Low::bf16)  // the last attempt of every chain
    if (decision == Decision::conventional) {
      static_assert(sizeof(ConventionalTile<8>) <= ring_bytes && block_threads == conventional_threads);
      return conventional_product(g, scalars, raw);
    }
  const int lines = scalars.alpha == 0 ? 0 : Config::Halves ? g.lines / 2 : g.lines;

  if (warpgroup == producer_warpgroup) {
    give_registers<40>();
    if (threadIdx.x == producer_warpgroup * 128) produce<Config>(map_p, map_q, ring, g, tiles, lines, rank);
    if constexpr (Config::Staged)
      if (threadIdx.x == producer_warpgroup * 128 + 32) move_tiles<Config>(g, map_c, ring.staging(begin), tiles, rank);
  } else {
    take_registers<232>();
    Consumer<Config> consumer(ring, warpgroup);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int my_column = warp * 16 + lane / 4, my_row = lane % 4 * 2;  // in the warpgroup's part of the tile
    [[maybe_unused]] std::uint32_t parity = 0;
    tiles.for_each([&](const TilePlace& at) {
      const int column = (at.p * sharing + (sharing > 1 ? rank : 0)) * tile_columns + warpgroup * consumer_columns;
      const int row = at.q * Config::Rows;
      float sum[Config::Rows / 2];
      const auto multiply = [&] {
        if constexpr (Config::Input == Low::bf16)
          consumer.compensated(sum, lines);
        else if constexpr (Config::Folded)
          consumer.folded(sum, lines);
        else
          consumer.separate(sum, lines);
      };
      if constexpr (Config::Staged) {
        multiply();
        auto tile = ring.staging(begin);
        tile.first_column = column - warpgroup * consumer_columns, tile.first_row = row;
        barrier_wait(tile.full, parity);
        parity ^= 1;
        update_tile(g, scalars, tile, sum, warpgroup * consumer_columns + my_column, my_row);
        fence_async_shared();
        __syncwarp();
        if (lane == 0) barrier_arrive(tile.ready);
      } else {
        auto& exponents = reinterpret_cast<TileExponents<Config::Rows>*>(begin + Config::exponents_at)[warpgroup];
        const bool finishes = !Config::Halves || warpgroup == rank;
        named_barrier_sync(1 + warpgroup, 128);  // the exponents before have been read
        exponents.fetch(g, at.product, column, row);
        multiply();
        if constexpr (Config::Halves) join_halves<Config>(ring, begin + Config::sums_at, sum, finishes, rank);
        wait_for_copies();
        named_barrier_sync(1 + warpgroup, 128);
        if (finishes)
          store_tile<Config::Rows>(g, scalars, sum, at.product, column + my_column, row + my_row,
                                   exponents.column(my_column), exponents.row(my_row));
      }
    });
  }
  if constexpr (cluster > 1) {  // no block leaves while a neighbour may still write into it
    cluster_arrive();
    cluster_wait();
  }
  if (g.beside_previous) wait_for_previous_kernels();  // who waits for this kernel waits for both
}

template <class Config>
void launch_split_product(const SplitProduct& x, cudaStream_t stream) {
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
  const std::int64_t columns = x.b.of_product(), rows = x.a.of_product(), products = x.b.count / columns;
  const std::int64_t all =
      products * divide_up(columns, tile_columns * Config::Sharing) * divide_up(rows, Config::Rows);
  const std::int64_t clusters = std::min<std::int64_t>(all, x.end_tile) - x.first_tile;
  if (clusters <= 0) return;
  // Sums of halves have a place for one tile.
  const std::int64_t running =
      Config::Halves ? clusters
                     : std::min<std::int64_t>(clusters, std::max(1, multiprocessors_for(x) / Config::Cluster));
  const auto grid = static_cast<unsigned>(Config::Cluster * running);
  const Pace pace = start_pace(Config::Paces ? x.steps : nullptr, static_cast<int>(grid), divide_up(clusters, running),
                               x.a_plane.line_count, stream);
  CUtensorMap map_c = {};
  if constexpr (Config::Staged)
    map_c = make_tensor_map({.base = x.c,
                             .row_bytes = x.a.count * 4,
                             .rows = x.b.count,
                             .planes = 1,
                             .row_stride = x.ldc * 4,
                             .plane_stride = x.ldc * 4 * x.b.count,
                             .box_rows = tile_columns});
  launch("multiply_split_kernel", multiply_split_kernel<Config>,
         {.grid = grid,
          .block = block_threads,
          .shared_bytes = Config::shared_bytes,
          .cluster = Config::Cluster,
          .overlap_previous = true},
         stream, map(x.b_plane, x.b.count, tile_columns), map(x.a_plane, x.a.count, Config::Rows / Config::Sharing),
         map_c, arguments_of(x, Config::group_of(x.steps != nullptr), pace));
}

// What a kernel is to those that choose between them.
template <class Config>
constexpr SplitKernel kernel_of(const char* scheme) {
  constexpr SplitForm form = Config::Input == Low::bf16 ? SplitForm::bf16_three : Config::form;
  return {scheme,
          form,
          {tile_columns, Config::Rows, Config::Sharing, Config::Halves ? 2 : 1},
          launch_split_product<Config>};
}

constinit const SplitKernel half_128x128 = kernel_of<SplitConfig<128, 2, false, Low::fp16>>("halfhalf_sep"),
                            half_long_128x128 =
                                kernel_of<SplitConfig<128, 2, false, Low::fp16, false, false, 2>>("halfhalf_long"),
                            half_128x64 = kernel_of<SplitConfig<64, 1, false, Low::fp16>>("halfhalf_sep"),
                            half_folded_128x192 = kernel_of<SplitConfig<192, 2, true, Low::fp16>>("halfhalf_fold");

void update_split(const SplitProduct& product, cudaStream_t stream) {
  launch_split_product<SplitConfig<128, 2, false, Low::fp16, false, true>>(product, stream);
}

constinit const SplitKernel bf16_128x128 = kernel_of<SplitConfig<128, 2, false, Low::bf16>>("bf16x6_sep"),
                            bf16_128x64 = kernel_of<SplitConfig<64, 1, false, Low::bf16>>("bf16x6_short");

constinit const SplitKernel tf32_128x128 = kernel_of<SplitConfig<128, 2, false, Low::tf32>>("tf32tf32_sep"),
                            tf32_halves_128x128 =
                                kernel_of<SplitConfig<128, 1, false, Low::tf32, true>>("tf32tf32_sep"),
                            tf32_folded_128x192 = kernel_of<SplitConfig<192, 2, true, Low::tf32>>("tf32tf32_fold");

}  // namespace vernier::cuda
