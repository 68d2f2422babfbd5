#include <algorithm>
#include <map>
#include <mutex>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "cuda/hopper.hpp"
#include "cuda/launch.hpp"
#include "engine/sm90_int8.hpp"
#include "engine/sm90_int8_kernel.cuh"

namespace vernier::cuda {
namespace {

constexpr int threads = 384;
constexpr int band = 8;  // 2, 4 and 16 were as fast or slower (docs/decisions.md)

template <class T>
LaunchShape shape_of(int clusters) {
  return {.grid = dim3(static_cast<unsigned>(clusters * T::cluster)),
          .block = dim3(threads),
          .shared_bytes = T::shared_bytes,
          .cluster = dim3(T::cluster),
          .overlap_previous = true};
}

// Clusters that the current device runs at once: asked once for each device.
template <class T>
int clusters_at_once() {
  static std::mutex mutex;
  static std::map<int, int> known;
  const Device& device = current_device();
  const std::lock_guard lock(mutex);
  int& count = known[device.number];
  if (count == 0)
    count =
        resident_clusters("residue_products", residue_products<T>, shape_of<T>(device.multiprocessors / T::cluster));
  if (count == 0) fail(Status::device_error, "residue_products: {} runs no cluster of its blocks", device.name);
  return count;
}

CUtensorMap map_of(const std::uint8_t* planes, std::int64_t vectors, const DeviceInt8Product& p, int box_rows) {
  return make_tensor_map({.base = planes,
                          .row_bytes = p.pitch,
                          .rows = vectors,
                          .planes = p.moduli * p.products,
                          .row_stride = p.pitch,
                          .plane_stride = vectors * p.pitch,
                          .box_rows = box_rows});
}

template <Sm90Variant Variant>
void multiply(const DeviceInt8Product& p, cudaStream_t stream) {
  using T = TileOf<Variant>;
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
                               .wanted = p.wanted},
                      .k_blocks = static_cast<int>(p.pitch / box_row_bytes),
                      .units_across = static_cast<int>(units.across),
                      .units_down = static_cast<int>(units.down),
                      .products = p.products,
                      .accumulate = p.accumulate,
                      .out = p.out,
                      .gate = p.gate,
                      .pace = pace};
  Sm90Reductions reductions{};
  for (int q = 0; q < p.moduli; ++q)
    reductions.of[q] = make_byte_reduction<1>(modulus_of(p.list, p.first + q),
                                              p.factor[static_cast<std::size_t>(p.first + q)], {}, ByteForm::symmetric);
  launch("residue_products", residue_products<T>, shape_of<T>(clusters), stream, map_of(p.columns, p.n, p, T::x_box),
         map_of(p.rows, p.m, p, T::y_box), reductions, task);
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
  int least_capability() const override { return 90; }
  ByteForm form() const override { return ByteForm::natural; }
  std::int64_t longest_k() const override { return 65536; }
  bool sums_in_memory() const override { return false; }

  void multiply(const DeviceInt8Product& p, cudaStream_t stream) const override {
    const int clusters = clusters_at_once<TileOf<cooperative_256x192>>(), planes = p.moduli * p.products;
    const Sm90Variant variant = choose_sm90_tile(p.m, p.n, p.pitch, planes, clusters);
    DeviceInt8Product product = p;
    if (p.wanted.any() || !sm90_keeps_pace(sm90_tiles[variant], p.m, p.n, p.pitch, planes, clusters))
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
    case cooperative_256x192:
      return multiply<cooperative_256x192>(p, stream);
    case cooperative_128x256:
      return multiply<cooperative_128x256>(p, stream);
  }
}

const DeviceInt8Engine& sm90_int8_engine() {
  static const Sm90Int8Engine engine;
  return engine;
}

}  // namespace vernier::cuda
