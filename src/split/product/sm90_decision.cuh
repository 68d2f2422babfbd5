// Whether a kernel of a chain of attempts multiplies: by what the split has found, and what the kernel before decided.
#pragma once

#include "split/product/sm90_epilogue.cuh"

namespace vernier::cuda {

// Every element is finite; no vector has an element too small for its parts, or three quarters of every vector are
// large (docs/accuracy.md).
__device__ __forceinline__ bool statistics_permit(const SplitArguments& g) {
  bool tiny = false, steep = false, special = false;
  const int columns = g.products * static_cast<int>(g.b.count), rows = g.products * static_cast<int>(g.a.count);
  const auto see = [&](std::uint32_t word) {
    special = special || (word & special_element) != 0;
    tiny = tiny || (word & tiny_element) != 0;
    steep = steep || 4 * static_cast<std::int64_t>(word & ~tiny_element) < 3 * g.b.k;
  };
  const auto look = [&](const std::uint32_t* status, int v, int count) {
    const auto k = static_cast<std::uint32_t>(g.b.k);  // of a vector without fault
    return v + 4 <= count ? *reinterpret_cast<const uint4*>(status + v) : uint4{k, k, k, k};
  };
  // Columns and rows at once: the product waits for these words to come.
#pragma unroll 4
  for (int v = 4 * threadIdx.x; v < max(columns, rows); v += 4 * blockDim.x) {
    const uint4 p = look(g.b_plane.status, v, columns), q = look(g.a_plane.status, v, rows);
    see(p.x), see(p.y), see(p.z), see(p.w);
    see(q.x), see(q.y), see(q.z), see(q.w);
  }
  if (threadIdx.x < columns % 4) see(g.b_plane.status[columns - 1 - threadIdx.x]);
  if (threadIdx.x < rows % 4) see(g.a_plane.status[rows - 1 - threadIdx.x]);
  const bool any_tiny = __syncthreads_or(tiny), any_steep = __syncthreads_or(steep);
  return !__syncthreads_or(special) && (!any_tiny || !any_steep);
}

// Has an attempt before this one been made? Asked before anything else is prepared, since most often it has.
__device__ __forceinline__ bool made_before(const SplitArguments& g) {
  if (g.beside_previous || g.gate.before == nullptr) return false;
  cuda::wait_for_previous_kernels();
  return *g.gate.before != 0;
}

enum class Decision { leave, split, conventional };

// Nothing has been made before.
__device__ __forceinline__ Decision decide(const SplitArguments& g) {
  const bool fit = !g.gate.judged || statistics_permit(g), conventional = !fit && g.gate.last;
  if (g.gate.verdict != nullptr && blockIdx.x == 0 && threadIdx.x == 0) {
    for (int i = 0; i <= (fit ? g.gate.behind : 0); ++i)
      g.gate.verdict[i] = fit ? g.gate.mark : conventional ? conventional_mark : 0;
    if (g.gate.answer.word != nullptr) g.gate.answer.give(fit);
  }
  if (fit) return Decision::split;
  return conventional ? Decision::conventional : Decision::leave;
}

}  // namespace vernier::cuda
