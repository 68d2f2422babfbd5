// A few rows and columns and the entries where they cross, for the choice of moduli.
#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "number/digit_sum.hpp"
#include "residue/exact/exact_cuda.hpp"

namespace vernier::cuda {
namespace {

constexpr int sample_threads = 256;

template <class T>
struct SampleTask {
  Operand<T> operand[2];
  const VectorStatistics* statistics[2];
  const DeviceLowestBits* lowest_bits[2];
  DeviceSample* sample;
};

__device__ double block_sum(double x) {
  __shared__ double parts[sample_threads / 32];
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  double sum = 0;
  for (int w = 0; w < sample_threads / 32; ++w) sum += parts[w];
  __syncthreads();
  return sum;
}

// x / 2^exponent, 0 for what is not finite.
template <class T>
__device__ double scaled(T x, int exponent) {
  return is_finite(x) ? ldexp(static_cast<double>(x), -exponent) : 0;
}

// Blocks 0 .. 63: an entry each. The next 16: a vector each.
template <class T>
__global__ void __launch_bounds__(sample_threads) take_sample(const __grid_constant__ SampleTask<T> task) {
  const Operand<T>&a = task.operand[0], &b = task.operand[1];
  DeviceSample& out = *task.sample;
  if (blockIdx.x < sampled_side * sampled_side) {
    const int r = blockIdx.x / sampled_side, c = blockIdx.x % sampled_side;
    if (r >= sample_size(a.vectors) || c >= sample_size(b.vectors)) return;
    const std::int64_t i = sampled_vector(r, a.vectors), j = sampled_vector(c, b.vectors);
    const int row_exponent = task.statistics[0][i].exponent, column_exponent = task.statistics[1][j].exponent;
    double sum = 0;
#pragma unroll 4
    for (std::int64_t l = threadIdx.x; l < a.k; l += sample_threads)
      sum += scaled(*a.at(i, l), row_exponent) * scaled(*b.at(j, l), column_exponent);
    sum = block_sum(sum);
    if (threadIdx.x == 0) out.dot[r][c] = sum;
    return;
  }
  const int index = static_cast<int>(blockIdx.x) - sampled_side * sampled_side;
  const int side = index / sampled_side, s = index % sampled_side;
  const Operand<T>& x = task.operand[side];
  if (s >= sample_size(x.vectors)) return;
  const std::int64_t v = sampled_vector(s, x.vectors);
  const VectorStatistics& statistics = task.statistics[side][v];
  double squares = 0;
  for (std::int64_t l = threadIdx.x; l < x.k; l += sample_threads) {
    const T value = *x.at(v, l);
    if (value == 0 || !is_finite(value)) continue;
    const double y = scaled(value, statistics.exponent);
    squares += y * y;
    const ElementParts p = element_parts(value);
    const int needed = statistics.exponent - (p.exponent + __ffsll(static_cast<long long>(p.significand)) - 1);
    atomicAdd(&out.needed[side][s][min(max(needed, 0), sampled_exponents - 1)], 1u);
  }
  squares = block_sum(squares);
  if (threadIdx.x != 0) return;
  out.squares[side][s] = squares;
  out.statistics[side][s] = statistics;
  out.lowest_bit[side][s] = task.lowest_bits[side][v].exponent();
}

}  // namespace

template <class T>
void sample_on_device(const Operand<T>& a, const Operand<T>& b, const VectorStatistics* rows,
                      const VectorStatistics* columns, const DeviceLowestBits* row_lowest_bits,
                      const DeviceLowestBits* column_lowest_bits, DeviceSample* sample, cudaStream_t stream) {
  const SampleTask<T> task{{a, b}, {rows, columns}, {row_lowest_bits, column_lowest_bits}, sample};
  launch("take_sample", take_sample<T>,
         {.grid = dim3(sampled_side * sampled_side + 2 * sampled_side), .block = dim3(sample_threads)}, stream, task);
}

VERNIER_REAL_INSTANCES(sample_on_device)

}  // namespace vernier::cuda
