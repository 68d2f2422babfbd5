// Vectors that are contiguous in memory: a group of warps takes one, keeps its elements in shared memory from the
// maximum to the store, and reads it once (twice beyond 16384 elements).
#pragma once

#include "cuda/ptx.cuh"
#include "split/convert/convert.hpp"
#include "split/convert/emit.cuh"
#include "split/convert/strips.cuh"

namespace vernier::cuda {

constexpr int split_threads = 512, split_warps = split_threads / 32;
constexpr int held_elements = 32;                                            // for a thread
constexpr std::size_t contiguous_bytes = split_threads * held_elements * 4;  // of shared memory

struct ContiguousJob : StripJob {
  int share = 1;  // warps a vector

  ContiguousJob() = default;
  ContiguousJob(SplitForm form, const SplitJob& j) : StripJob(form, j, split_warps) {
    while (share < split_warps && share * 32 * held_elements < j.x.k) share *= 2;
    blocks = divide_up(vectors, split_warps / share);
  }
};

// What the warps that share a vector found, joined. shared: a word for each warp of the block.
template <class Join>
__device__ __forceinline__ std::uint32_t over_vector(std::uint32_t mine, int share, std::uint32_t* shared, Join join) {
  if (share == 1) return mine;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) shared[warp] = mine;
  __syncthreads();
  std::uint32_t all = 0;
  for (int w = warp / share * share; w < warp / share * share + share; ++w) all = join(all, shared[w]);
  __syncthreads();
  return all;
}

// A warp's elements into its part of shared memory: 32 lanes by held_elements of the vector from `begin` on, zeros
// beyond k. Copies wait for nothing and hold no registers, so that three blocks fit a multiprocessor.
__device__ __forceinline__ void fetch_held(const float* from, int begin, int k, bool aligned, float* held) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t to = shared_address(held);
  if (aligned && begin + 32 * held_elements <= k) {
#pragma unroll
    for (int i = 4 * lane; i < 32 * held_elements; i += 128) copy_16_bytes(to + 4 * i, from + begin + i);
  } else {
#pragma unroll 4
    for (int i = lane; i < 32 * held_elements; i += 32) {
      const bool exists = begin + i < k;
      copy_word_async(to + 4 * i, exists ? from + begin + i : from, exists);
    }
  }
  wait_for_copies();
  __syncwarp();
}

// shared: a word for each warp of the block; held: contiguous_bytes of shared memory.
template <SplitForm Form>
__device__ __forceinline__ void split_contiguous(const ContiguousJob& s, std::int64_t product, std::int64_t block,
                                                 bool counted, float up, std::uint32_t* shared, float* held) {
  constexpr int run = emit_k<Form>, runs = held_elements / run;
  const FloatVectors& x = s.job.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t in_product = block * (split_warps / s.share) + warp / s.share;
  const std::int64_t vector = product * s.vectors + in_product;
  const bool exists = in_product < s.vectors;
  const int k = exists ? static_cast<int>(x.k) : 0, padded = static_cast<int>(padded_k<Form>(s.job.plane));
  const int first = warp % s.share * 32 * held_elements, span = s.share * 32 * held_elements;
  const float* from = x.data + product * x.product_stride + in_product * x.vector_stride;
  held += warp * 32 * held_elements;

  float seen = 0;
  for (int begin = first; begin < padded; begin += span) {
    fetch_held(exists ? from : x.data, begin, k, s.aligned, held);
#pragma unroll
    for (int i = 4 * lane; i < 32 * held_elements; i += 128) {
      const float4 v = *reinterpret_cast<const float4*>(held + i);
      seen = larger_magnitude(larger_magnitude(seen, v.x), v.y);
      seen = larger_magnitude(larger_magnitude(seen, v.z), v.w);
    }
    __syncwarp();
  }
  const std::uint32_t largest =
      over_vector(__reduce_max_sync(~0u, float_word(seen)), s.share, shared, [](auto p, auto q) { return max(p, q); });

  const int exponent = split_scale(largest);
  const SplitLimits limits(s.thresholds, exponent);
  SplitTally tally;
  std::byte* lines = s.job.plane.lines + vector * s.job.plane.line_count * split_line_bytes;
  with_scale(exponent, [&](auto scaled) {
    for (int begin = first; begin < padded; begin += span) {
      if (padded > span) fetch_held(from, begin, k, s.aligned, held);
#pragma unroll 2
      for (int g = 0; g < runs; ++g) {
        const int i = (g * 32 + lane) * run;
        if (!exists || begin + i >= padded) break;
        float v[run];
#pragma unroll
        for (int j = 0; j < run; j += 4) {
          const float4 q = *reinterpret_cast<const float4*>(held + i + j);
          v[j] = q.x, v[j + 1] = q.y, v[j + 2] = q.z, v[j + 3] = q.w;
        }
        if (counted)
#pragma unroll
          for (const float x : v) tally.see(x, limits);
#pragma unroll
        for (float& x : v) x = scaled(x);
        emit<Form>(v, lines + place_in_lines<Form>(begin + i), up);
      }
      __syncwarp();
    }
  });
  const std::uint32_t mine =
      __reduce_add_sync(~0u, tally.large) | (__any_sync(~0u, tally.tiny(limits)) ? tiny_element : 0u);
  const std::uint32_t word = over_vector(mine, s.share, shared, join_status);
  if (warp % s.share == 0 && lane == 0 && exists) describe_vector(s.job, vector, largest, word);
}

}  // namespace vernier::cuda
