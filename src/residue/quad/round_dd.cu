#include "residue/quad/round_dd.cuh"

#include "cuda/device.hpp"
#include "residue/quad/left_dd.cuh"
#include "residue/quad/quad_gemm_cuda.hpp"

namespace vernier::cuda {

void round_dd_on_device(const DeviceDdBlock& block, cudaStream_t stream) {
  check(cudaMemsetAsync(block.counts, 0, sizeof(*block.counts), stream), "open entries");
  if (block.binary128) return round_binary128_on_device(block, stream);
  const auto settlers = static_cast<unsigned>(4 * current_device().multiprocessors);
  if (block.rule.exact) return round_exact_dd_on_device(block, settlers, stream);
  if (leading_limbs_serve(block.moduli) && !block.integers)
    return launch_round_dd<7, 14, EntryForm::dd, true>(block, settlers, stream);
  if (block.moduli <= 26) return launch_round_dd<6, 0>(block, settlers, stream);
  if (block.moduli <= 30) return launch_round_dd<7, 0>(block, settlers, stream);
  if (block.moduli <= 33) return launch_round_dd<8, 0>(block, settlers, stream);
  launch_round_dd<11, 0>(block, settlers, stream);
}

void scale_dd_on_device(std::int64_t m, std::int64_t n, double beta, dd* c, std::int64_t ldc, cudaStream_t stream) {
  if (beta == 1 || m == 0 || n == 0) return;
  launch("scale_dd", scale_dd,
         {.grid = dim3(static_cast<unsigned>(divide_up(m * n, std::int64_t{scale_dd_threads}))),
          .block = dim3(scale_dd_threads)},
         stream, m, n, beta, c, ldc);
}

void gather_left_entries(const DeviceDdBlock& block, std::int64_t first, std::int64_t count, LeftEntry* out,
                         cudaStream_t stream) {
  launch(
      "gather_left", gather_left,
      {.grid = dim3(static_cast<unsigned>(divide_up(count, std::int64_t{left_threads}))), .block = dim3(left_threads)},
      stream, block, product_units(block.m, block.n), first, count, out);
}

void scatter_left_entries(const DeviceDdBlock& block, std::int64_t count, const LeftEntry* from, cudaStream_t stream) {
  launch(
      "scatter_left", scatter_left,
      {.grid = dim3(static_cast<unsigned>(divide_up(count, std::int64_t{left_threads}))), .block = dim3(left_threads)},
      stream, block, count, from);
}

void round_exact_dd_on_device(const DeviceDdBlock& block, unsigned settle_blocks, cudaStream_t stream) {
  if (block.moduli <= 26) return launch_round_dd<6, 0, EntryForm::exact_dd>(block, settle_blocks, stream);
  if (block.moduli <= 33) return launch_round_dd<8, 0, EntryForm::exact_dd>(block, settle_blocks, stream);
  launch_round_dd<11, 0, EntryForm::exact_dd>(block, settle_blocks, stream);
}

}  // namespace vernier::cuda
