// What the elements that a scale leaves no integers may cost an entry, and scales by that.
#include <algorithm>

#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "residue/exact/exact_cuda.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier::cuda {
namespace {

constexpr int threads = 256;

// log2 of the 2-norm from which on all elements are integers, in steps of 1/32 upwards, times 32 (ExactVector).
__device__ int exact_log2_32(const VectorStatistics& v, int lowest_bit) {
  const double norm = log2(static_cast<double>(v.squares)) / 2 - quantum_bits;
  return max(0, static_cast<int>(ceil(32 * (norm + v.exponent - lowest_bit) + 0.01)));
}

// blockIdx.y: rows or columns.
__global__ void __launch_bounds__(threads)
    set_errors(const DeviceVectorErrors rows, const DeviceVectorErrors columns, DeviceSample* sample) {
  const int side = static_cast<int>(blockIdx.y);
  const DeviceVectorErrors& task = side == 0 ? rows : columns;
  const std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  wait_for_previous_kernels();
  allow_next_kernel();
  if (v >= task.vectors) return;
  const VectorStatistics& s = task.statistics[v];
  const DeviceLowestBits lowest_bit = task.lowest_bits[v];
  const VectorError e = vector_error(s, task.scales[v], lowest_bit.inexact);
  task.errors[v] = round_error(side == 0 ? with_partner_rounding(e) : e, task.scales[v]);
  if (sample == nullptr) return;
  if (s.nonfinite) atomicAdd(&sample->nonfinite[side], 1u);
  if (!s.zero()) atomicMax(&sample->exact_log2_32[side], exact_log2_32(s, lowest_bit.exponent()));
}

__global__ void __launch_bounds__(threads)
    set_exact_scales(std::int64_t vectors, const VectorStatistics* statistics, const DeviceLowestBits* lowest_bits,
                     int budget_16, int* scales) {
  const std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (v >= vectors) return;
  const VectorStatistics& s = statistics[v];
  scales[v] = s.zero() ? 0 : exact_exponent(s, lowest_bits[v].exponent(), budget_16) - s.exponent;
}

unsigned blocks_for(std::int64_t count) { return static_cast<unsigned>(divide_up(count, std::int64_t{threads})); }

}  // namespace

void set_errors_on_device(const DeviceVectorErrors& rows, const DeviceVectorErrors& columns, DeviceSample* sample,
                          cudaStream_t stream) {
  const dim3 grid(blocks_for(std::max(rows.vectors, columns.vectors)), 2);
  launch("set_errors", set_errors, {.grid = grid, .block = dim3(threads), .overlap_previous = true}, stream, rows,
         columns, sample);
}

void set_exact_scales_on_device(std::int64_t vectors, const VectorStatistics* statistics,
                                const DeviceLowestBits* lowest_bits, int budget_16, int* scales, cudaStream_t stream) {
  launch("set_exact_scales", set_exact_scales, {.grid = dim3(blocks_for(vectors)), .block = dim3(threads)}, stream,
         vectors, statistics, lowest_bits, budget_16, scales);
}

}  // namespace vernier::cuda
