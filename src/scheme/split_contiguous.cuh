// Vectors that are contiguous in memory: a group of warps takes one, keeps its elements in registers from the maximum
// to the store, and reads it once (twice beyond 16384 elements).
#pragma once

#include "scheme/split_emit.cuh"
#include "scheme/split_kernels.hpp"

namespace vernier {

constexpr int split_threads = 512, split_warps = split_threads / 32;
constexpr int held_elements = 32;  // by a thread

struct ContiguousJob {
  SplitJob job;
  SplitThresholds thresholds;
  bool aligned = false;
  int share = 1;                         // warps a vector
  std::int64_t vectors = 0, blocks = 0;  // of a product

  ContiguousJob() = default;
  ContiguousJob(SplitForm form, const SplitJob& j)
      : job(j), thresholds(split_thresholds(form, j.x.k)), aligned(quads_aligned(j.x)) {
    while (share < split_warps && share * 32 * held_elements < j.x.k) share *= 2;
    vectors = j.x.of_product();
    blocks = pieces(vectors, split_warps / share);
  }
};

template <int Count>
__device__ __forceinline__ void load_run(float (&x)[Count], const float* from) {
#pragma unroll
  for (int i = 0; i < Count; i += 4) {
    const float4 v = *reinterpret_cast<const float4*>(from + i);
    x[i] = v.x, x[i + 1] = v.y, x[i + 2] = v.z, x[i + 3] = v.w;
  }
}

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

template <SplitForm Form>
__device__ __forceinline__ void split_contiguous(const ContiguousJob& s, std::int64_t product, std::int64_t block,
                                                 std::uint32_t* shared) {
  constexpr int run = emit_k<Form>, runs = held_elements / run;
  const FloatVectors& x = s.job.x;
  const int vector_threads = 32 * s.share, t = threadIdx.x % vector_threads;
  const std::int64_t in_product = block * (split_warps / s.share) + threadIdx.x / vector_threads;
  const std::int64_t vector = product * s.vectors + in_product;
  const bool exists = in_product < s.vectors;
  const int k = exists ? static_cast<int>(x.k) : 0, padded = static_cast<int>(padded_k<Form>(s.job.plane));
  const int span = vector_threads * held_elements;
  const float* from = x.data + product * x.product_stride + in_product * x.vector_stride;
  float v[runs][run];
  const auto load = [&](int base) {
    const float* begin = from + base + t * run;
    if (s.aligned && base + span <= k) {  // one branch, so that all loads are on their way at once
#pragma unroll
      for (int g = 0; g < runs; ++g) load_run(v[g], begin + g * vector_threads * run);
    } else {
#pragma unroll
      for (int g = 0; g < runs; ++g)
#pragma unroll
        for (int i = 0; i < run; ++i)
          v[g][i] = base + (g * vector_threads + t) * run + i < k ? begin[g * vector_threads * run + i] : 0.0f;
    }
  };
  float seen = 0;
  for (int base = 0; base < padded; base += span) {
    load(base);
#pragma unroll
    for (int g = 0; g < runs; ++g)
#pragma unroll
      for (int i = 0; i < run; ++i) seen = larger_magnitude(seen, v[g][i]);
  }
  const std::uint32_t largest =
      over_vector(__reduce_max_sync(~0u, float_word(seen)), s.share, shared, [](auto p, auto q) { return max(p, q); });

  const int exponent = split_scale(largest);
  const SplitLimits limits(s.thresholds, exponent);
  SplitTally tally;
  std::byte* lines = s.job.plane.lines + vector * s.job.plane.line_count * split_line_bytes;
  with_scale(exponent, [&](auto scaled) {
    for (int base = 0; base < padded; base += span) {
      if (padded > span) load(base);
      std::byte* to = lines + place_in_lines<Form>(base + t * run);
#pragma unroll
      for (int g = 0; g < runs; ++g) {
        const int l = base + (g * vector_threads + t) * run;
        if (!exists || l >= padded) continue;
#pragma unroll
        for (int i = 0; i < run; ++i) {
          tally.see(v[g][i], limits);
          v[g][i] = scaled(v[g][i]);
        }
        emit<Form>(v[g], to + static_cast<std::int64_t>(g) * vector_threads / 4 * step_bytes<Form>);
      }
    }
  });
  const std::uint32_t mine =
      __reduce_add_sync(~0u, tally.large) | (__any_sync(~0u, tally.tiny(limits)) ? tiny_element : 0u);
  const std::uint32_t word = over_vector(mine, s.share, shared, join_status);
  if (t == 0 && exists) {
    s.job.plane.unscale[vector] = unscaling(largest);
    s.job.plane.status[vector] = final_status(largest, word, x.k);
  }
}

}  // namespace vernier
