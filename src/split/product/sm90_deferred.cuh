// Columns of op(B) that the split has left to the product (DeferredSplit): warps beside the producer split them while
// the tiles before theirs are multiplied. Vectors are taken in order, by whoever is free, and nobody here waits, so no
// block depends on one that does not run yet.
#pragma once

#include "cuda/ptx.cuh"
#include "split/line.cuh"
#include "split/product/sm90_epilogue.cuh"

namespace vernier::cuda {

// By a warp, reading it twice, the second time out of the caches. k is a multiple of two steps, and quads are aligned.
// 16 elements a lane are on their way at once: what 40 registers hold.
template <SplitForm Form>
__device__ __forceinline__ void split_vector(const SplitArguments& g, std::int64_t vector) {
  constexpr int quads = 4, run = emit_k<Form>, span = 32 * 4 * quads;
  const int lane = threadIdx.x % 32, k = static_cast<int>(g.b.k);
  const float* from = g.b.data + vector * g.b.vector_stride;
  const auto load = [&](int l) { return l < k ? __ldg(reinterpret_cast<const float4*>(from + l)) : float4{}; };
  float seen = 0;
  for (int begin = 0; begin < k; begin += span) {
    float4 q[quads];
#pragma unroll
    for (int i = 0; i < quads; ++i) q[i] = load(begin + (i * 32 + lane) * 4);
#pragma unroll
    for (int i = 0; i < quads; ++i) {
      seen = larger_magnitude(larger_magnitude(seen, q[i].x), q[i].y);
      seen = larger_magnitude(larger_magnitude(seen, q[i].z), q[i].w);
    }
  }
  const std::uint32_t largest = __reduce_max_sync(~0u, float_word(seen));
  std::byte* lines = g.b_plane.lines + vector * g.lines * split_line_bytes;
  with_scale(split_scale(largest), [&](auto scaled) {
    for (int begin = lane * run; begin < k; begin += span) {
      float v[4 * quads / run][run];
#pragma unroll
      for (int i = 0; i < 4 * quads / run; ++i)
#pragma unroll
        for (int j = 0; j < run; j += 4) {
          const float4 q = load(begin + i * 32 * run + j);
          v[i][j] = q.x, v[i][j + 1] = q.y, v[i][j + 2] = q.z, v[i][j + 3] = q.w;
        }
#pragma unroll
      for (int i = 0; i < 4 * quads / run; ++i) {
        const int l = begin + i * 32 * run;
        if (l >= k) continue;
#pragma unroll
        for (float& x : v[i]) x = scaled(x);
        emit<Form>(v[i], lines + place_in_lines<Form>(l));
      }
    }
  });
  if (lane == 0) g.b_plane.unscale[vector] = unscaling(largest);
}

template <SplitForm Form>
__device__ __forceinline__ void split_later(const SplitArguments& g) {
  const int lane = threadIdx.x % 32;
  while (true) {
    std::uint32_t begun = 0;
    if (lane == 0) begun = atomicAdd(g.later.progress, 1u);
    const std::int64_t vector = g.later.first + __shfl_sync(~0u, begun, 0);
    if (vector >= g.b.count) return;
    split_vector<Form>(g, vector);
    cuda::fence_async_global();
    __threadfence();
    __syncwarp();
    if (lane != 0) continue;
    __threadfence();  // for what the other lanes have written
    atomicAdd(g.later.progress + 1 + vector / later_tile, 1u);
  }
}

// A function of its own for the kernels of 192 rows: inline, it lies between their loop and where that waits, and n =
// 16384 takes 42 to 44 ms in place of 40, even where nothing is left to the product. Those of 128 rows have no such
// loss, and a call, which spills, takes 105 us in place of 95 at n = 2048.
template <SplitForm Form>
__device__ __noinline__ void split_later_apart(const SplitArguments& g) {
  split_later<Form>(g);
}

// Until a tile's vectors are split; bulk copies of this thread, and what waits for them, then see them.
__device__ __forceinline__ void wait_until_split(const SplitArguments& g, int tile) {
  const std::int64_t first = std::int64_t{tile} * later_tile;
  if (g.later.progress == nullptr || first < g.later.first || first >= g.b.count) return;
  const auto wanted = static_cast<std::uint32_t>(min(std::int64_t{later_tile}, g.b.count - first));
  while (cuda::load_acquire(g.later.progress + 1 + tile) < wanted) continue;
  cuda::fence_async_global();
}

}  // namespace vernier::cuda
