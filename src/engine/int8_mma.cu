#include <algorithm>

#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/tensor_map.hpp"
#include "engine/int8_mma_bulk.cuh"

namespace vernier::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(T::threads, T::tile.blocks)
    mma_residue_products(const __grid_constant__ MmaReductions reductions, const __grid_constant__ MmaTask task) {
  extern __shared__ __align__(128) std::uint8_t stages[];
  wait_for_previous_kernels();
  allow_next_kernel();
  if (!task.gate.closed()) multiply_tiles<T>(shared_address(stages), reductions, task);
}

// Compiled for GPUs before 9.0 too, which do not launch it.
template <class T, bool Between>
__global__ void __launch_bounds__(T::threads, T::tile.blocks)
    mma_bulk_products(const __grid_constant__ CUtensorMap columns, const __grid_constant__ CUtensorMap rows,
                      const __grid_constant__ MmaReductions reductions, const __grid_constant__ MmaTask task) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) std::uint8_t swizzled_stages[];
  begin_bulk_tiles<T>(columns, rows, shared_address(swizzled_stages));
  wait_for_previous_kernels();
  allow_next_kernel();
  if (!task.gate.closed())
    multiply_bulk_tiles<T, Between>(columns, rows, shared_address(swizzled_stages), reductions, task);
#endif
}

template <MmaVariant Variant>
void multiply(const DeviceInt8Product& p, cudaStream_t stream) {
  using T = MmaTileOf<Variant>;
  MmaTask task = mma_task(T::tile, p);
  const std::int64_t places = std::int64_t{T::tile.blocks} * current_device().multiprocessors;
  halve_last_round(task, T::tile, places);
  const auto blocks = std::min<std::int64_t>(task.grid.jobs, places);
  constexpr std::int64_t least = 10000;  // for pace, by measurement
  const std::int64_t rounds = divide_up(task.grid.jobs, blocks);
  if (T::tile.keeps_pace() && !task.grid.wanted.any() && pace_pays(rounds, task.steps, least))
    task.pace = start_pace(p.steps, static_cast<int>(blocks), rounds, task.steps, stream);
  MmaReductions reductions{};
  for (int q = 0; q < p.moduli; ++q)
    reductions.of[q] = make_byte_reduction<1>(modulus_of(p.list, p.first + q),
                                              p.factor[static_cast<std::size_t>(p.first + q)], {}, ByteForm::symmetric);
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>(blocks)),
                          .block = dim3(T::threads),
                          .shared_bytes = static_cast<std::size_t>(T::tile.shared_bytes()),
                          .overlap_previous = true};
  [[maybe_unused]] const std::int64_t planes = p.moduli * p.products;
  if constexpr (T::tile.bulk())
    launch("mma_bulk_products",
           residues_between(T::tile, task) ? mma_bulk_products<T, T::tile.blocks == 1> : mma_bulk_products<T, false>,
           shape, stream, map_of_planes(p.columns, p.pitch, p.n, planes, T::columns),
           map_of_planes(p.rows, p.pitch, p.m, planes, T::rows / 2), reductions, task);
  else
    launch("mma_residue_products", mma_residue_products<T>, shape, stream, reductions, task);
}

class MmaInt8Engine final : public DeviceInt8Engine {
 public:
  std::string_view name() const override { return "mma_int8"; }
  std::string_view description() const override { return "mma.sync on bytes, from compute capability 8.0 on"; }
  std::string missing() const override { return too_old(80); }
  ByteForm form() const override { return ByteForm::natural; }
  std::int64_t longest_k() const override { return 65536; }
  bool sums_in_memory() const override { return false; }

  void multiply(const DeviceInt8Product& p, cudaStream_t stream) const override {
    const MmaDevice here{current_device().multiprocessors, takes_later_kernels()};
    multiply_mma(choose_mma_tile(p.m, p.n, p.pitch, p.moduli * p.products, here), p, stream);
  }
};

}  // namespace

void multiply_mma(MmaVariant variant, const DeviceInt8Product& p, cudaStream_t stream) {
  switch (variant) {
    case mma_128x256:
      return multiply<mma_128x256>(p, stream);
    case mma_128x128:
      return multiply<mma_128x128>(p, stream);
    case bulk_128x256:
      return multiply<bulk_128x256>(p, stream);
    case bulk_128x128:
      return multiply<bulk_128x128>(p, stream);
  }
}

const DeviceInt8Engine& mma_int8_engine() {
  static const MmaInt8Engine engine;
  return engine;
}

}  // namespace vernier::cuda
