// What a scale leaves of an operand's vectors: how many elements are no integers, and what that may cost an entry.
#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "residue/exact/exact_cuda.hpp"
#include "residue/exact/lowest_bits.cuh"
#include "residue/scale/vector_needs.hpp"

namespace vernier::cuda {
namespace {

constexpr int threads = 256, warps = threads / 32;

template <class T>
__global__ void __launch_bounds__(threads)
    count_lowest_bits(const Operand<T> x, const int* scales, DeviceLowestBitsLists lowest_bits) {
  const std::int64_t pieces = divide_up(x.k, lowest_bits_k), strip = blockIdx.x / pieces;
  const std::int64_t first = strip * lowest_bits_vectors, begin = (blockIdx.x - strip * pieces) * lowest_bits_k;
  const std::int64_t end = min(begin + lowest_bits_k, x.k);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int each = 32;  // elements of a thread together: a bit each
  wait_for_previous_kernels();
  if (x.k_contiguous) {
    static_assert(lowest_bits_k == each * 32);
    for (int i = warp; i < lowest_bits_vectors; i += warps) {
      const std::int64_t v = first + i;
      if (v >= x.vectors) return;
      FoundLowestBits found;
      const int scale = scales[v];
#pragma unroll 8
      for (int u = 0; u < each; ++u) {
        const std::int64_t l = begin + lane + 32 * u;
        found.add(l < end ? *x.at(v, l) : T{0}, scale, u);
      }
      publish_warp_lowest_bits(found, lowest_bits, v, lane, [&](int u) { return begin + lane + 32 * u; });
    }
    return;
  }
  __shared__ int depths[lowest_bits_vectors];
  if (threadIdx.x < lowest_bits_vectors) depths[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t v = first + lane;
  if (v < x.vectors) {
    const int scale = scales[v];
    for (std::int64_t l0 = begin + warp; l0 < end; l0 += each * warps) {
      FoundLowestBits found;
#pragma unroll 8
      for (int u = 0; u < each; ++u) {
        const std::int64_t l = l0 + u * warps;
        found.add(l < end ? *x.at(v, l) : T{0}, scale, u);
      }
      atomicMax(&depths[lane], found.depth());
      publish_lowest_bits(found, lowest_bits, v, [&](int u) { return l0 + u * warps; });
    }
  }
  __syncthreads();
  if (warp == 0 && v < x.vectors && depths[lane] != 0) atomicMax(&lowest_bits.counts[v].depth, depths[lane]);
}

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

template <class T>
void count_lowest_bits_on_device(const Operand<T>& x, const int* scales, const DeviceLowestBitsLists& lowest_bits,
                                 cudaStream_t stream) {
  const std::int64_t blocks = lowest_bits_blocks(x.vectors, x.k);
  launch("count_lowest_bits", count_lowest_bits<T>,
         {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(threads), .overlap_previous = true}, stream, x,
         scales, lowest_bits);
}

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

#define VERNIER_INSTANTIATE(T) template struct Instances<count_lowest_bits_on_device<T>>;
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier::cuda
