// Operands to slices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/turn.cuh"
#include "engine/panel.hpp"
#include "number/ieee754.hpp"
#include "slice/slices_cuda.hpp"

namespace vernier::cuda {
namespace {

static_assert(longest_slice_k == std::int64_t{65535} * turned_side);
constexpr int threads = slice_sum_width;
constexpr int warps = threads / 32;

// Copies op(X) with k contiguous, as doubles, zeros for what is not finite, by tiles of 32 x 32.
template <class T>
__global__ void copy_turned(const Operand<T> x, double* left, VectorStatistics* statistics) {
  const std::int64_t v0 = std::int64_t{blockIdx.x} * turned_side, l0 = std::int64_t{blockIdx.y} * turned_side;
  move_tile<double>(
      x.k_contiguous ? v0 : l0, x.k_contiguous ? l0 : v0, !x.k_contiguous,
      [&](std::int64_t line, std::int64_t place) {
        const std::int64_t v = x.k_contiguous ? line : place, l = x.k_contiguous ? place : line;
        if (v >= x.vectors || l >= x.k) return 0.0;
        const T value = *x.at(v, l);
        if (is_finite(value)) return static_cast<double>(value);
        statistics[v].nonfinite = true;
        return 0.0;
      },
      [&](std::int64_t v, std::int64_t l, double value) {
        if (v < x.vectors && l < x.k) left[v * x.k + l] = value;
      });
}

__global__ void __launch_bounds__(threads) reset_source(const SliceSource s) {
  const std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (v < s.vectors) {
    s.statistics[v] = VectorStatistics{};
    s.units[v] = SliceSource::most_negative;
  }
  if (v == 0) *s.exponent = SliceSource::most_negative;
}

// The sum over the block, in the order of slice_unit.hpp; in thread 0.
__device__ double ordered_block_sum(double x, double (&parts)[threads]) {
  parts[threadIdx.x] = x;
  __syncthreads();
#pragma unroll
  for (int d = threads / 2; d >= 32; d /= 2) {
    if (threadIdx.x < d) parts[threadIdx.x] += parts[threadIdx.x + d];
    __syncthreads();
  }
  double sum = threadIdx.x < 32 ? parts[threadIdx.x] : 0;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  __syncthreads();
  return sum;
}

// The largest magnitude in the block, as bits; in all threads.
__device__ unsigned long long block_largest(unsigned long long x, unsigned long long (&parts)[warps]) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x = max(x, __shfl_xor_sync(~0u, x, d));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < warps; ++w) x = max(x, parts[w]);
  __syncthreads();
  return x;
}

// Exponents of each vector's largest and smallest elements, and of the largest of all. A block a vector.
__global__ void __launch_bounds__(threads) measure_source(const SliceSource s) {
  __shared__ unsigned long long parts[warps];
  const std::int64_t v = blockIdx.x;
  unsigned long long largest = 0, smallest = ~0ull;
  for (std::int64_t l = threadIdx.x; l < s.k; l += threads) {
    const unsigned long long bits = magnitude_bits(s.left[v * s.k + l]);
    largest = max(largest, bits);
    smallest = min(smallest, bits - 1);
  }
  largest = block_largest(largest, parts);
  smallest = ~block_largest(~smallest, parts);
  if (threadIdx.x != 0 || largest == 0) return;
  VectorStatistics& st = s.statistics[v];
  st.exponent = exponent_of<double>(largest);
  st.lowest = exponent_of<double>(smallest + 1);
  st.sum = 1;
  atomicMax(s.exponent, st.exponent);
}

__global__ void __launch_bounds__(threads) add_weights_of_blocks(const SliceSource s) {
  const std::int64_t l = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (l >= s.k) return;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * slice_sum_vectors;
  const std::int64_t end = min(begin + slice_sum_vectors, s.vectors);
  const int shift = -*s.exponent;
  double sum = 0;
#pragma unroll 8
  for (std::int64_t v = begin; v < end; ++v) sum += ldexp(fabs(s.left[v * s.k + l]), shift);
  s.weight_blocks[blockIdx.y * s.k + l] = sum;
}

__global__ void __launch_bounds__(threads) add_weights(const SliceSource s, int blocks) {
  const std::int64_t l = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (l >= s.k) return;
  double sum = 0;
  for (int b = 0; b < blocks; ++b) sum += s.weight_blocks[b * s.k + l];
  s.weights[l] = *s.exponent == SliceSource::most_negative ? 0 : sum;
}

template <SliceFormat Format>
__device__ __forceinline__ void store_digit(void* digits, std::int64_t at, double digit) {
  if constexpr (Format == SliceFormat::fp16)
    static_cast<__half*>(digits)[at] = __float2half_rn(static_cast<float>(digit));
  else if constexpr (Format == SliceFormat::bf16)
    static_cast<__nv_bfloat16*>(digits)[at] = __float2bfloat16_rn(static_cast<float>(digit));
  else if constexpr (Format == SliceFormat::int8)
    static_cast<std::int8_t*>(digits)[at] = static_cast<std::int8_t>(static_cast<int>(digit));
  else
    static_cast<double*>(digits)[at] = digit;
}

struct SplitMemory {
  double parts[threads];
  unsigned long long largest[warps];
};

// sum of |r| 2^-exponent weight
__device__ double weighted_sum(const double* r, std::int64_t k, int exponent, const double* weights,
                               SplitMemory& memory) {
  double sum = 0;
  for (std::int64_t l = threadIdx.x; l < k; l += threads) sum += ldexp(fabs(r[l]), -exponent) * weights[l];
  return ordered_block_sum(sum, memory.parts);
}

__device__ void raise(double* to, double x) {  // to = max(to, x), x >= 0
  atomicMax(reinterpret_cast<unsigned long long*>(to), __double_as_longlong(x));
}

// slices_at_once slices of one vector a block. The vector stays in shared memory where it fits.
template <SliceFormat Format>
__global__ void __launch_bounds__(threads) split_vectors(const SliceTask task, bool resident) {
  extern __shared__ double own[];
  __shared__ SplitMemory memory;
  const SliceSource& s = task.source;
  const std::int64_t v = blockIdx.x, k = s.k;
  double* left = s.left + v * k;
  double* r = resident ? own : left;
  unsigned long long largest = 0;
  for (std::int64_t l = threadIdx.x; l < k; l += threads) {
    const double x = left[l];
    if (resident) r[l] = x;
    largest = max(largest, static_cast<unsigned long long>(magnitude_bits(x)));
  }
  largest = block_largest(largest, memory.largest);
  const bool zero = s.statistics[v].zero();
  const int exponent = s.statistics[v].exponent;
  if (task.first && !zero) {
    const double whole = weighted_sum(r, k, exponent, task.weights, memory);
    if (threadIdx.x == 0) s.whole[v] = whole;
  }
  int unit = s.units[v];
  for (int i = 0; i < slices_at_once; ++i) {
    const std::int64_t to = (i * s.vectors + v) * task.pitch;
    if (largest != 0) unit = slice_unit(std::bit_cast<double>(static_cast<std::uint64_t>(largest)), task.bits);
    if (threadIdx.x == 0) task.exponents[i * s.vectors + v] = unit == SliceSource::most_negative ? 0 : unit;
    const TwoFactors down = two_factors(largest == 0 ? 0 : -unit), up = two_factors(largest == 0 ? 0 : unit);
    unsigned long long next = 0;
    double weighted = 0;
    for (std::int64_t l = threadIdx.x; l < task.pitch; l += threads) {
      double digit = 0;
      if (l < k && largest != 0) {
        const double x = r[l], scaled = x * down.first * down.second;
        digit = rint(scaled);
        if (digit != 0) {  // exact, as on the CPU
          r[l] = (scaled - digit) * up.first * up.second;
        }
        const double rest = fabs(r[l]);
        next = max(next, static_cast<unsigned long long>(magnitude_bits(rest)));
        weighted += ldexp(rest, -exponent) * task.weights[l];
      }
      store_digit<Format>(task.digits, to + l, digit);
    }
    largest = block_largest(next, memory.largest);
    weighted = ordered_block_sum(weighted, memory.parts);
    if (threadIdx.x == 0) {
      SliceState& state = task.states[i];
      if (largest != 0 && state.some_left == 0) atomicOr(&state.some_left, 1);
      if (!zero && s.whole[v] > 0) raise(&state.ratio, weighted / s.whole[v]);
    }
  }
  if (threadIdx.x == 0) s.units[v] = unit;
  if (resident)
    for (std::int64_t l = threadIdx.x; l < k; l += threads) left[l] = r[l];
}

template <SliceFormat Format>
void launch_split(const SliceTask& task, cudaStream_t stream) {
  constexpr std::size_t most_shared = 96 * 1024;  // two blocks a multiprocessor
  const std::size_t bytes = static_cast<std::size_t>(task.source.k) * sizeof(double);
  const bool resident = bytes <= most_shared;
  launch("split_vectors", split_vectors<Format>,
         {.grid = dim3(static_cast<unsigned>(task.source.vectors)),
          .block = dim3(threads),
          .shared_bytes = resident ? bytes : 0},
         stream, task, resident);
}

unsigned blocks_for(std::int64_t count, int each) {
  return static_cast<unsigned>(divide_up(count, std::int64_t{each}));
}

}  // namespace

template <class T>
void gather_slices_source(const Operand<T>& x, const SliceSource& s, cudaStream_t stream) {
  launch("reset_source", reset_source, {.grid = dim3(blocks_for(s.vectors, threads)), .block = dim3(threads)}, stream,
         s);
  launch("copy_turned", copy_turned<T>, {.grid = turned_tiles(s.vectors, s.k), .block = turning_threads()}, stream, x,
         s.left, s.statistics);
  launch("measure_source", measure_source, {.grid = dim3(static_cast<unsigned>(s.vectors)), .block = dim3(threads)},
         stream, s);
  const unsigned blocks = blocks_for(s.vectors, slice_sum_vectors), across = blocks_for(s.k, threads);
  launch("add_weights_of_blocks", add_weights_of_blocks, {.grid = dim3(across, blocks), .block = dim3(threads)}, stream,
         s);
  launch("add_weights", add_weights, {.grid = dim3(across), .block = dim3(threads)}, stream, s,
         static_cast<int>(blocks));
}

void split_on_device(const SliceTask& task, cudaStream_t stream) {
  switch (task.format) {
    case SliceFormat::fp16:
      return launch_split<SliceFormat::fp16>(task, stream);
    case SliceFormat::bf16:
      return launch_split<SliceFormat::bf16>(task, stream);
    case SliceFormat::int8:
      return launch_split<SliceFormat::int8>(task, stream);
    case SliceFormat::fp64:
      return launch_split<SliceFormat::fp64>(task, stream);
  }
}

VERNIER_REAL_INSTANCES(gather_slices_source)

}  // namespace vernier::cuda
