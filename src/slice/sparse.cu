// Lists of a slice's digits, slices turned, and products of the two.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "slice/sparse.hpp"

namespace vernier::cuda {
namespace {

constexpr int warp = 32, sparse_warps = 8, sparse_threads = warp * sparse_warps;

template <SliceFormat Format>
using Stored =
    std::conditional_t<Format == SliceFormat::fp16, __half,
                       std::conditional_t<Format == SliceFormat::bf16, __nv_bfloat16,
                                          std::conditional_t<Format == SliceFormat::int8, std::int8_t, double>>>;

template <SliceFormat Format>
__device__ __forceinline__ std::int32_t digit_at(const SliceView& slice, std::int64_t at) {
  const Stored<Format> x = static_cast<const Stored<Format>*>(slice.digits)[at];
  if constexpr (Format == SliceFormat::fp16)
    return static_cast<std::int32_t>(__half2float(x));
  else if constexpr (Format == SliceFormat::bf16)
    return static_cast<std::int32_t>(__bfloat162float(x));
  else
    return static_cast<std::int32_t>(x);
}

// A block a vector. The order within a vector is that of the threads, which integers do not mind.
template <SliceFormat Format>
__global__ void __launch_bounds__(sparse_threads)
    list_digits(const SliceView slice, const SparseSlice few, unsigned long long* used) {
  __shared__ std::int64_t begin;
  __shared__ int taken;
  const std::int64_t v = blockIdx.x;
  if (threadIdx.x == 0) {
    begin = static_cast<std::int64_t>(atomicAdd(used, static_cast<unsigned long long>(few.count[v])));
    few.begin[v] = begin;
    taken = 0;
  }
  __syncthreads();
  if (few.count[v] == 0) return;
  for (std::int64_t l = threadIdx.x; l < slice.k; l += sparse_threads) {
    const std::int32_t digit = digit_at<Format>(slice, v * slice.pitch + l);
    if (digit != 0) few.digits[begin + atomicAdd(&taken, 1)] = {static_cast<std::int32_t>(l), digit};
  }
}

template <SliceFormat Format>
using Turned = std::conditional_t<Format == SliceFormat::fp64, std::int32_t, std::int8_t>;

template <SliceFormat Format>
__global__ void __launch_bounds__(sparse_threads) turn_digits(const SliceView slice, const TurnedSlice turned) {
  using To = Turned<Format>;
  __shared__ To tile[warp][warp + 4 / sizeof(To)];
  const std::int64_t v0 = static_cast<std::int64_t>(blockIdx.x) * warp,
                     l0 = static_cast<std::int64_t>(blockIdx.y) * warp;
  for (int r = threadIdx.y; r < warp; r += sparse_warps) {
    const std::int64_t v = v0 + r, l = l0 + threadIdx.x;
    if (v < slice.vectors && l < slice.k)
      tile[r][threadIdx.x] = static_cast<To>(digit_at<Format>(slice, v * slice.pitch + l));
  }
  __syncthreads();
  for (int r = threadIdx.y; r < warp; r += sparse_warps) {
    const std::int64_t v = v0 + threadIdx.x, l = l0 + r;
    if (v < slice.vectors && l < slice.k) static_cast<To*>(turned.digits)[l * turned.pitch + v] = tile[threadIdx.x][r];
  }
}

// A tile of the product: 32 vectors of the list, a warp each in turn, by 128 of the other slice, four side by side a
// thread, which it reads at once.
constexpr int few_tile = warp, other_each = 4, other_tile = warp * other_each;

template <class Digit>
struct alignas(other_each * sizeof(Digit)) FourDigits {
  Digit of[other_each];
};

template <class Digit, class Sum>
__device__ void sum_vector(const SparseProduct& task, std::int64_t v, std::int64_t first, std::int64_t others,
                           Sum (&sums)[other_each]) {
  const int lane = threadIdx.x, count = task.few.count[v];
  const SparseSlice::Digit* digits = task.few.digits + task.few.begin[v];
  const Digit* other = static_cast<const Digit*>(task.other.digits) + first + lane * other_each;
  const bool exists = first + lane * other_each < others;
  for (int begin = 0; begin < count; begin += warp) {
    SparseSlice::Digit mine{static_cast<std::int32_t>(task.begin_k), 0};
    if (begin + lane < count) {
      const SparseSlice::Digit d = digits[begin + lane];
      if (d.index >= task.begin_k && d.index < task.begin_k + task.depth) mine = d;
    }
    const int here = min(warp, count - begin);
#pragma unroll 8
    for (int e = 0; e < here; ++e) {
      const std::int64_t row = __shfl_sync(~0u, mine.index, e) * task.other.pitch;
      const Sum digit = __shfl_sync(~0u, mine.digit, e);
      if (!exists) continue;
      const auto four = *reinterpret_cast<const FourDigits<Digit>*>(other + row);
#pragma unroll
      for (int c = 0; c < other_each; ++c) sums[c] += digit * four.of[c];
    }
  }
}

template <class Digit, class Sum, class Product>
__global__ void __launch_bounds__(sparse_threads) multiply_few(const __grid_constant__ SparseProduct task) {
  __shared__ Product tile[few_tile][other_tile + 1];
  const std::int64_t few = task.few_are_rows ? task.m : task.n, others = task.few_are_rows ? task.n : task.m;
  const std::int64_t v0 = static_cast<std::int64_t>(blockIdx.y) * few_tile;
  const std::int64_t w0 = static_cast<std::int64_t>(blockIdx.x) * other_tile;
  const int lane = threadIdx.x, own = threadIdx.y;
  for (int r = own; r < few_tile && v0 + r < few; r += sparse_warps) {
    Sum sums[other_each] = {};
    sum_vector<Digit>(task, v0 + r, w0, others, sums);
#pragma unroll
    for (int c = 0; c < other_each; ++c) tile[r][lane * other_each + c] = static_cast<Product>(sums[c]);
  }
  __syncthreads();
  const auto store = [&](int r, int w) {
    const std::int64_t v = v0 + r, x = w0 + w;
    if (v >= few || x >= others) return;
    Product& to = static_cast<Product*>(task.product)[task.few_are_rows ? v + x * task.ld : x + v * task.ld];
    to = tile[r][w] + (task.accumulate ? to : Product{0});
  };
  if (task.few_are_rows) {
    for (int w = own; w < other_tile; w += sparse_warps) store(lane, w);
  } else {
    for (int r = own; r < few_tile; r += sparse_warps)
#pragma unroll
      for (int c = 0; c < other_each; ++c) store(r, c * warp + lane);
  }
}

unsigned sparse_blocks(std::int64_t count, int each) {
  return static_cast<unsigned>(divide_up(count, std::int64_t{each}));
}

template <class Body>
void with_format(SliceFormat format, Body body) {
  switch (format) {
    case SliceFormat::fp16:
      return body(std::integral_constant<SliceFormat, SliceFormat::fp16>());
    case SliceFormat::bf16:
      return body(std::integral_constant<SliceFormat, SliceFormat::bf16>());
    case SliceFormat::int8:
      return body(std::integral_constant<SliceFormat, SliceFormat::int8>());
    case SliceFormat::fp64:
      return body(std::integral_constant<SliceFormat, SliceFormat::fp64>());
  }
}

}  // namespace

void list_sparse(const SliceView& slice, const SparseSlice& few, unsigned long long* used, cudaStream_t stream) {
  with_format(slice.format, [&](auto format) {
    launch("list_digits", list_digits<format()>,
           {.grid = dim3(static_cast<unsigned>(slice.vectors)), .block = dim3(sparse_threads)}, stream, slice, few,
           used);
  });
}

void turn_slice(const SliceView& slice, const TurnedSlice& turned, cudaStream_t stream) {
  with_format(slice.format, [&](auto format) {
    launch("turn_digits", turn_digits<format()>,
           {.grid = dim3(sparse_blocks(slice.vectors, warp), sparse_blocks(slice.k, warp)),
            .block = dim3(warp, sparse_warps)},
           stream, slice, turned);
  });
}

void multiply_sparse(const SparseProduct& p, cudaStream_t stream) {
  const std::int64_t few = p.few_are_rows ? p.m : p.n, others = p.few_are_rows ? p.n : p.m;
  const LaunchShape shape{.grid = dim3(sparse_blocks(others, other_tile), sparse_blocks(few, few_tile)),
                          .block = dim3(warp, sparse_warps)};
  const auto run = [&](auto kernel) { launch("multiply_few", kernel, shape, stream, p); };
  if (p.format == SliceFormat::fp64)
    run(multiply_few<std::int32_t, std::int64_t, double>);
  else if (p.format == SliceFormat::int8)
    run(multiply_few<std::int8_t, std::int32_t, std::int32_t>);
  else
    run(multiply_few<std::int8_t, std::int32_t, float>);
}

}  // namespace vernier::cuda
