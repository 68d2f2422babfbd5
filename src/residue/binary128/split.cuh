// Kernels that turn an operand of binary128 into three doubles an element, side by side, its vectors along k.
#pragma once

#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "residue/binary128/bits.hpp"
#include "residue/binary128/split.hpp"

namespace vernier::cuda {

inline constexpr int exponent_threads = 256, exponent_elements = 32, split_threads = 128, split_elements = 8;

__device__ __forceinline__ QuadBits bits_at(const Binary128View& x, std::int64_t v, std::int64_t l) {
  const ulonglong2 halves = x.data[x.k_contiguous ? l + v * x.ld : v + l * x.ld];
  return QuadBits(static_cast<Uint128>(halves.y) << 64 | halves.x);
}

// A warp has a vector where its elements lie side by side, else a thread: always neighbours in memory.
__global__ void __launch_bounds__(exponent_threads)
    find_exponents(const __grid_constant__ Binary128View x, VectorExponents* out) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * exponent_threads + threadIdx.x,
                     lane = x.k_contiguous ? at % 32 : 0, step = x.k_contiguous ? 32 : 1,
                     unit = x.k_contiguous ? at / 32 : at, v = unit % x.vectors,
                     begin = unit / x.vectors * exponent_elements * step;
  if (begin >= x.k) return;
  int largest = VectorExponents::none, least = -VectorExponents::none;
  for (std::int64_t e = 0; e < exponent_elements; ++e) {
    const std::int64_t l = begin + lane + e * step;
    if (l >= x.k) break;
    const QuadBits bits = bits_at(x, v, l);
    if (!bits.finite() || bits.zero()) continue;
    const int exponent = bits.exponent();
    largest = max(largest, exponent), least = min(least, exponent);
  }
  if (largest == VectorExponents::none) return;
  atomicMax(&out[v].largest, largest);
  atomicMax(&out[v].minus_least, -least);
}

__global__ void __launch_bounds__(split_threads)
    split_binary128_kernel(const __grid_constant__ Binary128View x, const VectorExponents* exponents, double* out) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * split_threads + threadIdx.x;
  const std::int64_t groups = divide_up(x.k, std::int64_t{split_elements}),
                     v = x.k_contiguous ? at / x.k : at % x.vectors, from = x.k_contiguous ? at % x.k : at / x.vectors;
  if (v >= x.vectors || from >= (x.k_contiguous ? x.k : groups)) return;
  const int shift = exponents[v].shift();
  const std::int64_t begin = x.k_contiguous ? from : from * split_elements,
                     end = x.k_contiguous ? from + 1 : min(begin + split_elements, x.k);
  for (std::int64_t l = begin; l < end; ++l) {
    double parts[3];
    split_binary128(bits_at(x, v, l), shift, parts);
    double* to = out + (v * x.k + l) * 3;
    to[0] = parts[0], to[1] = parts[1], to[2] = parts[2];
  }
}

inline void launch_find_exponents(const Binary128View& x, VectorExponents* out, cudaStream_t stream) {
  const std::int64_t step = x.k_contiguous ? 32 : 1,
                     units = x.vectors * divide_up(x.k, std::int64_t{exponent_elements} * step);
  launch("find_exponents", find_exponents,
         {.grid = dim3(static_cast<unsigned>(divide_up(units * step, std::int64_t{exponent_threads}))),
          .block = dim3(exponent_threads)},
         stream, x, out);
}

inline void launch_split_binary128(const Binary128View& x, const VectorExponents* exponents, double* out,
                                   cudaStream_t stream) {
  const std::int64_t threads = x.vectors * (x.k_contiguous ? x.k : divide_up(x.k, std::int64_t{split_elements}));
  launch("split_binary128", split_binary128_kernel,
         {.grid = dim3(static_cast<unsigned>(divide_up(threads, std::int64_t{split_threads}))),
          .block = dim3(split_threads)},
         stream, x, exponents, out);
}

}  // namespace vernier::cuda
