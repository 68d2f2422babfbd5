// The entries that rounding and the look at what it lost leave open, and those of NaN and infinity.
#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "engine/panel.hpp"
#include "product/exact/exact_block.hpp"
#include "product/exact/exact_sum.hpp"
#include "product/scalars.hpp"
#include "product/specials.cuh"

namespace vernier::cuda {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int window = 16;  // digits that each thread has of its own: ordinary data span no more
constexpr int most_digits = 144;

struct AccumulateMemory {
  std::int64_t own[window][threads];  // of each thread: no two add to the same word
  std::int64_t total[most_digits];
  std::int64_t result[result_digits];
};

// Adds the products of one entry, digits first .. last - 1, to the threads' own digits.
template <class T>
__device__ void add_products(const Operand<T>& a, const Operand<T>& b, std::int64_t i, std::int64_t j,
                             const DigitRange& range, int first, int last, AccumulateMemory& memory) {
  constexpr int together = 8;  // loads on their way at a time
  for (std::int64_t begin = threadIdx.x; begin < a.k; begin += together * threads) {
    T x[together], y[together];
#pragma unroll
    for (int u = 0; u < together; ++u) {
      const std::int64_t l = begin + u * threads;
      x[u] = l < a.k ? *a.at(i, l) : T{0};
      y[u] = l < a.k ? *b.at(j, l) : T{0};
    }
#pragma unroll
    for (int u = 0; u < together; ++u) {
      if (x[u] == 0 || y[u] == 0) continue;
      const ElementParts p = element_parts(x[u]), q = element_parts(y[u]);
      add_to_digits(p.negative != q.negative, static_cast<Uint128>(p.significand) * q.significand,
                    p.exponent + q.exponent - range.lowest, first, last,
                    [&](int d) -> std::int64_t& { return memory.own[d - first][threadIdx.x]; });
    }
  }
}

// One entry a block, from all its products: exact sums in the threads' own digits, then of all threads.
template <class T>
__global__ void __launch_bounds__(threads) accumulate_entries(const __grid_constant__ DeviceExactBlock<T> task) {
  extern __shared__ __align__(16) std::byte shared[];
  auto& memory = *reinterpret_cast<AccumulateMemory*>(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  wait_for_previous_kernels();
  const unsigned long long open = task.counts->open, last_entry = task.m * task.n - 1;
  const bool looked = task.refines(open);
  const unsigned long long count = looked ? task.counts->after_refining : open;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    task.counts->total_open += open;
    task.counts->total_summed += count;
  }
  for (unsigned long long e = blockIdx.x; e < count; e += gridDim.x) {
    const std::int64_t entry = task.open[looked ? last_entry - e : e], j = entry / task.m, i = entry - j * task.m;
    const DigitRange range = product_digits<T>(task.side.a.statistics[i], task.side.b.statistics[j]);
    for (int first = 0; first < range.digits; first += window) {
      const int last = min(first + window, range.digits);
      for (int d = 0; d < last - first; ++d) memory.own[d][threadIdx.x] = 0;
      add_products(task.side.a.x, task.side.b.x, i, j, range, first, last, memory);
      __syncthreads();
      for (int d = warp; d < last - first; d += warps) {
        std::int64_t sum = 0;
#pragma unroll
        for (int t = 0; t < threads; t += 32) sum += memory.own[d][t + lane];
#pragma unroll
        for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
        if (lane == 0) memory.total[first + d] = sum;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      T* c = task.to.c + i + j * task.to.ldc;
      *c = rounded_digits(
          range, [&](int d) -> std::int64_t& { return memory.total[d]; }, value_of(task.to.alpha),
          value_of(task.to.beta), c, [&](int d) -> std::int64_t& { return memory.result[d]; }, task.rounding);
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(threads) special_entries(const __grid_constant__ DeviceExactBlock<T> task) {
  const T alpha = value_of(task.to.alpha), beta = value_of(task.to.beta);
  if (alpha == 0) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; at < task.m * task.n;
       at += step) {
    const std::int64_t j = at / task.m, i = at - j * task.m;
    const unsigned terms = special_terms(task.side.a, i, task.side.b, j);
    if (terms == 0) continue;  // the vectors are finite: where one is not, every entry has such a term
    T* c = task.to.c + i + j * task.to.ldc;
    *c = combined_special(sum_of_special_terms<T>(terms), alpha, beta, c);
  }
}

}  // namespace

template <class T>
void accumulate_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  static_assert(sizeof(AccumulateMemory) <= 48 * 1024);
  constexpr int blocks_of_a_multiprocessor = 5;
  const std::int64_t most = std::int64_t{blocks_of_a_multiprocessor} * current_device().multiprocessors;
  launch("accumulate_entries", accumulate_entries<T>,
         {.grid = dim3(static_cast<unsigned>(std::min(most, block.m * block.n))),
          .block = dim3(threads),
          .shared_bytes = sizeof(AccumulateMemory),
          .overlap_previous = true},
         stream, block);
}

template <class T>
void special_entries_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  constexpr std::int64_t most = 4096;
  const auto blocks = static_cast<unsigned>(std::min(most, divide_up(block.m * block.n, std::int64_t{threads})));
  launch("special_entries", special_entries<T>, {.grid = dim3(blocks), .block = dim3(threads)}, stream, block);
}

VERNIER_REAL_INSTANCES(accumulate_on_device, special_entries_on_device)

}  // namespace vernier::cuda
