// What a scale leaves of an operand's vectors: how many elements are no integers, and what that may cost an entry.
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "number/digit_sum.hpp"
#include "scheme/device_exact.hpp"
#include "scheme/vector_needs.hpp"

namespace vernier::cuda {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int strip = 32;             // vectors of a block
constexpr std::int64_t piece = 1024;  // elements of each

struct Found {
  int depth = 0;
  unsigned inexact = 0;

  template <class T>
  __device__ void add(T x, int scale) {
    if (x == 0 || !is_finite(x)) return;
    const ElementParts p = element_parts(x);
    const int lowest = p.exponent + __ffsll(static_cast<long long>(p.significand)) - 1;
    depth = max(depth, DeviceGrain::lowest_grain - lowest);
    inexact += lowest + scale < 0 ? 1 : 0;
  }
  __device__ void publish(DeviceGrain& grain) const {
    if (depth == 0) return;
    atomicMax(&grain.depth, depth);
    if (inexact != 0) atomicAdd(&grain.inexact, inexact);
  }
};

template <class T>
__global__ void __launch_bounds__(threads) count_grains(const Operand<T> x, const int* scales, DeviceGrain* grains) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * strip, begin = blockIdx.y * piece;
  const std::int64_t end = min(begin + piece, x.k);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (x.k_contiguous) {
    for (int i = warp; i < strip; i += warps) {
      const std::int64_t v = first + i;
      if (v >= x.vectors) return;
      Found found;
      const int scale = scales[v];
#pragma unroll 8
      for (std::int64_t l = begin + lane; l < end; l += 32) found.add(*x.at(v, l), scale);
      found.depth = __reduce_max_sync(~0u, found.depth);
      found.inexact = __reduce_add_sync(~0u, found.inexact);
      if (lane == 0) found.publish(grains[v]);
    }
    return;
  }
  __shared__ DeviceGrain together[strip];
  if (threadIdx.x < strip) together[threadIdx.x] = {};
  __syncthreads();
  const std::int64_t v = first + lane;
  if (v < x.vectors) {
    Found found;
    const int scale = scales[v];
#pragma unroll 8
    for (std::int64_t l = begin + warp; l < end; l += warps) found.add(*x.at(v, l), scale);
    found.publish(together[lane]);
  }
  __syncthreads();
  if (warp == 0 && v < x.vectors) Found{together[lane].depth, together[lane].inexact}.publish(grains[v]);
}

// log2 of the 2-norm from which on all elements are integers, in steps of 1/32 upwards, times 32 (ExactVector).
__device__ int exact_log2_32(const VectorStatistics& v, int grain) {
  const double norm = log2(static_cast<double>(v.squares)) / 2 - quantum_bits;
  return max(0, static_cast<int>(ceil(32 * (norm + v.exponent - grain) + 0.01)));
}

__global__ void __launch_bounds__(threads) set_errors(const DeviceVectorErrors task, DeviceSample* sample) {
  const std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (v >= task.vectors) return;
  const VectorStatistics& s = task.statistics[v];
  const DeviceGrain grain = task.grains[v];
  const VectorError e = vector_error(s, task.scales[v], grain.inexact);
  task.errors[v] = task.side == 0 ? with_partner_rounding(e) : e;
  if (sample == nullptr) return;
  if (s.nonfinite) atomicAdd(&sample->nonfinite[task.side], 1u);
  if (!s.zero()) atomicMax(&sample->exact_log2_32[task.side], exact_log2_32(s, grain.exponent()));
}

__global__ void __launch_bounds__(threads) set_exact_scales(std::int64_t vectors, const VectorStatistics* statistics,
                                                            const DeviceGrain* grains, int budget_16, int* scales) {
  const std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (v >= vectors) return;
  const VectorStatistics& s = statistics[v];
  scales[v] = s.zero() ? 0 : exact_exponent(s, grains[v].exponent(), budget_16) - s.exponent;
}

unsigned blocks_for(std::int64_t count) { return static_cast<unsigned>(divide_up(count, std::int64_t{threads})); }

}  // namespace

template <class T>
void count_grains_on_device(const Operand<T>& x, const int* scales, DeviceGrain* grains, cudaStream_t stream) {
  check(cudaMemsetAsync(grains, 0, static_cast<std::size_t>(x.vectors) * sizeof(DeviceGrain), stream), "grains");
  const dim3 grid(static_cast<unsigned>(divide_up(x.vectors, std::int64_t{strip})),
                  static_cast<unsigned>(divide_up(x.k, piece)));
  launch("count_grains", count_grains<T>, {.grid = grid, .block = dim3(threads)}, stream, x, scales, grains);
}

void set_errors_on_device(const DeviceVectorErrors& task, DeviceSample* sample, cudaStream_t stream) {
  launch("set_errors", set_errors, {.grid = dim3(blocks_for(task.vectors)), .block = dim3(threads)}, stream, task,
         sample);
}

void set_exact_scales_on_device(std::int64_t vectors, const VectorStatistics* statistics, const DeviceGrain* grains,
                                int budget_16, int* scales, cudaStream_t stream) {
  launch("set_exact_scales", set_exact_scales, {.grid = dim3(blocks_for(vectors)), .block = dim3(threads)}, stream,
         vectors, statistics, grains, budget_16, scales);
}

template void count_grains_on_device(const Operand<double>&, const int*, DeviceGrain*, cudaStream_t);
template void count_grains_on_device(const Operand<float>&, const int*, DeviceGrain*, cudaStream_t);

}  // namespace vernier::cuda
