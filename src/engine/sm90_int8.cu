// Products of residues on Hopper: one persistent launch over (plane, tile of C); a plane is a modulus, or one of
// several products modulo p (sm90_pipeline.cuh). Sums are reduced modulo p in registers and leave as bytes.
//
// k <= 65536: sums of 255 * 255 stay below 2^32, and the 32-bit sums are read as unsigned.
#include <algorithm>
#include <string>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "engine/int8_engine_cuda.hpp"
#include "engine/sm90_int8.hpp"
#include "engine/sm90_pipeline.cuh"
#include "engine/store_residues.cuh"

namespace vernier::cuda {

template <Sm90Variant Variant, bool Symmetric = false>
struct TileOf
    : TileShape<sm90_tiles[Variant].columns, sm90_tiles[Variant].rows, sm90_tiles[Variant].cooperative, Symmetric> {
  static constexpr Sm90Tile tile = sm90_tiles[Variant];
};

struct Sm90Reductions {
  ByteReduction<1> of[max_moduli];
};

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
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const int rank = static_cast<int>(blockIdx.x % 2);
  const int first = blockIdx.x / 2, step = gridDim.x / 2;
  const Stages stages = begin_stages<T>(map_x, map_y);
  // A gate that is open most often is looked at after the first tile only, so that nobody waits for it.
  const bool closed = task.gate.closed();
  if (task.seldom && closed) return;

  if (group == 2) {
    give_registers<40>();
    if (threadIdx.x == 256) feed<T>(map_x, map_y, stages, task, first, step, closed, rank);
  } else {
    take_registers<232>();
    const int thread = threadIdx.x % 128, half = T::cooperative ? group : 0;
    int acc[T::blocks][T::registers];
    typename T::Jobs jobs(task.grid, first, step);
    std::uint32_t next = 0;  // stage
    for (int turn = 0; !jobs.done() && (turn == 0 || !closed); ++turn) {
      const TileJob job = jobs.job();
      jobs.advance();
      const int k_blocks = k_blocks_of<T>(task, job);
      const std::uint32_t begin = next;
      next += k_blocks;
      if (!T::cooperative && turn % 2 != group) continue;
      // A wait by parity cannot tell "not yet" from "two phases ago": no warpgroup may look at a stage before the other
      // has seen all of its own.
      if (!T::cooperative && turn > 0) named_barrier_sync(1 + group, 256);
      multiply_tile<T>(acc, stages, begin, k_blocks, half, thread, [&] {
        if (!T::cooperative && !jobs.done() && !closed) named_barrier_arrive(2 - group, 256);
      });
      store_tile<T>(acc, reductions.of[job.plane / task.products], task, job.plane,
                    (job.x * T::cluster + rank) * T::columns + half * T::group_columns, job.y * T::rows, thread);
    }
  }
  end_stages();
}

namespace {

constexpr int threads = 384;
constexpr int band = 8;           // 2, 4 and 16 were as fast or slower (docs/decisions.md)
constexpr int unequal_turn = 37;  // a cluster otherwise meets the same few tiles of every plane

template <class T>
LaunchShape shape_of(int clusters) {
  return {.grid = dim3(static_cast<unsigned>(clusters * T::cluster)),
          .block = dim3(threads),
          .shared_bytes = T::shared_bytes,
          .cluster = dim3(T::cluster),
          .overlap_previous = true};
}

template <class T>
int clusters_at_once() {
  const int count = resident_clusters("residue_products", reinterpret_cast<const void*>(residue_products<T>),
                                      shape_of<T>(current_device().multiprocessors / T::cluster));
  if (count == 0)
    fail(Status::device_error, "residue_products: no cluster of {} blocks fits the device beside what runs there",
         T::cluster);
  return count;
}

template <Sm90Variant Variant, bool Symmetric = false>
void multiply(const DeviceInt8Product& p, cudaStream_t stream) {
  using T = TileOf<Variant, Symmetric>;
  const Sm90Grid grid = sm90_grid(T::tile, p.m, p.n, p.moduli * p.products);
  const ProductUnits units = product_units(p.m, p.n);
  const auto clusters = static_cast<int>(std::min<std::int64_t>(grid.jobs, clusters_at_once<T>()));
  const Pace pace =
      start_pace(p.steps, clusters * T::cluster, divide_up(grid.jobs, clusters), p.pitch / box_row_bytes, stream);
  const Sm90Task task{.grid = {.jobs = static_cast<int>(grid.jobs),
                               .across = static_cast<int>(grid.across),
                               .down = static_cast<int>(grid.down),
                               .band = band,
                               .m = p.m,
                               .n = p.n,
                               .wanted = p.wanted,
                               .turn = p.filled.known() ? unequal_turn : 0,
                               .asymmetric = p.asymmetric},
                      .k_blocks = static_cast<int>(p.pitch / box_row_bytes),
                      .units_across = static_cast<int>(units.across),
                      .units_down = static_cast<int>(units.down),
                      .products = p.products,
                      .accumulate = p.accumulate,
                      .seldom = p.seldom || p.gate.value != 0,
                      .out = p.out,
                      .gate = p.gate,
                      .pace = pace,
                      .filled = p.filled};
  Sm90Reductions reductions{};
  for (int q = 0; q < p.moduli; ++q)
    reductions.of[q] = make_byte_reduction<1>(modulus_of(p.list, p.first + q),
                                              p.factor[static_cast<std::size_t>(p.first + q)], {}, ByteForm::symmetric);
  const std::int64_t planes = p.moduli * p.products;
  launch("residue_products", residue_products<T>, shape_of<T>(clusters), stream,
         map_of_planes(p.columns, p.pitch, p.n, planes, T::x_box),
         map_of_planes(p.rows, p.pitch, p.m, planes, T::y_box), reductions, task);
}

class Sm90Int8Engine final : public DeviceInt8Engine {
 public:
  std::string_view name() const override { return "sm90_int8"; }
  std::string_view description() const override { return "Hopper: wgmma on bytes, fed by bulk tensor copies"; }
  std::string missing() const override {
    const std::string none = missing_device();
    if (!none.empty()) return none;
    if (kernels_of_any_gpu()) return "another value of VERNIER_GPU_KERNELS";
    return current_device().hopper() ? "" : "a GPU of compute capability 9.0 is needed";
  }
  ByteForm form() const override { return ByteForm::natural; }
  std::int64_t longest_k() const override { return 65536; }
  bool sums_in_memory() const override { return false; }

  void multiply(const DeviceInt8Product& p, cudaStream_t stream) const override {
    const int clusters = clusters_at_once<TileOf<cooperative_128x256>>(), planes = p.moduli * p.products;
    const auto k = static_cast<std::int64_t>(p.filled_share * static_cast<double>(p.pitch));
    const Sm90Variant variant = p.asymmetric != nullptr && p.m == p.n
                                    ? cooperative_128x256
                                    : choose_sm90_tile(p.m, p.n, std::max(k, device_pitch_unit), planes, clusters);
    DeviceInt8Product product = p;
    if (p.wanted.any() || p.filled.known() ||
        !sm90_keeps_pace(sm90_tiles[variant], p.m, p.n, p.pitch, planes, clusters))
      product.steps = nullptr;
    multiply_sm90(variant, product, stream);
  }
};

}  // namespace

void multiply_sm90(Sm90Variant variant, const DeviceInt8Product& p, cudaStream_t stream) {
  switch (variant) {
    case alternating_128x128:
      return multiply<alternating_128x128>(p, stream);
    case alternating_128x192:
      return multiply<alternating_128x192>(p, stream);
    case cooperative_128x256:  // squares by pairs of blocks
      return p.asymmetric != nullptr && p.m == p.n ? multiply<cooperative_128x256, true>(p, stream)
                                                   : multiply<cooperative_128x256>(p, stream);
  }
}

const DeviceInt8Engine& sm90_int8_engine() {
  static const Sm90Int8Engine engine;
  return engine;
}

}  // namespace vernier::cuda
