// What a kernel of a chain of attempts does: whether it multiplies, by what the split has found and what the kernel
// before decided; and which tile of C a cluster computes next.
#pragma once

#include <algorithm>
#include <climits>

#include "cuda/device.hpp"
#include "cuda/ptx.cuh"
#include "split/product/sm90_epilogue.cuh"

namespace vernier::cuda {

// ---- on the host ---------------------------------------------------------------------------------------------------

inline int multiprocessors_for(const SplitProduct& product) {
  const int all = current_device().multiprocessors;
  return product.multiprocessors > 0 ? std::min(product.multiprocessors, all) : all;
}

inline SplitArguments arguments_of(const SplitProduct& product, int group, const Pace& pace) {
  SplitArguments g;
  static_cast<SplitProduct&>(g) = product;
  g.products = static_cast<int>(g.b.count / g.b.of_product());
  for (FloatVectors* x : {&g.a, &g.b}) x->count = x->of_product();
  g.lines = static_cast<int>(g.a_plane.line_count);
  g.group = group;
  g.pairs_aligned = g.ldc % 2 == 0 && g.product_stride_c % 2 == 0 && reinterpret_cast<std::uintptr_t>(g.c) % 8 == 0;
  g.pace = pace;
  return g;
}

// ---- on the device -------------------------------------------------------------------------------------------------

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

struct TilePlace {
  int product, p, q;
};

// Tiles in units of clusters, product by product of a batch: groups of P tiles, inside a group Q is the slow index. In
// a triangle, of one product, Q begins where the group's first tile does, and what lies before a tile's own begin is
// not wanted.
struct TileOrder {
  int products, p_tiles, q_tiles, group;
  int q_of_p = 0;                // tiles of Q beside one of P, in a triangle
  int first = 0, end = INT_MAX;  // those that are wanted now

  __device__ bool place(int t, TilePlace& at) const {  // false: there is no tile t
    if (q_of_p != 0) return place_in_triangle(t, at);
    const int of_product = p_tiles * q_tiles, product = t / of_product, in_product = t - product * of_product;
    const int g = in_product / (group * q_tiles), first = g * group, width = min(group, p_tiles - first);
    const int rest = in_product - g * group * q_tiles;
    if (product >= products) return false;
    at = {product, first + rest % width, rest / width};
    return true;
  }
  __device__ bool wants(const TilePlace& at) const { return at.q >= at.p * q_of_p; }

 private:
  __device__ bool place_in_triangle(int t, TilePlace& at) const {
    for (int first = 0; first < p_tiles; first += group) {
      const int width = min(group, p_tiles - first), skipped = min(first * q_of_p, q_tiles);
      const int size = width * (q_tiles - skipped);
      if (t < size) {
        at = {0, first + t % width, skipped + t / width};
        return true;
      }
      t -= size;
    }
    return false;
  }
};

// The tiles of this cluster. Early: the first is looked for at once, while the kernel before still runs, since the
// arguments come from memory.
template <int Cluster, bool Early>
class Tiles {
 public:
  explicit __device__ __forceinline__ Tiles(const TileOrder& order) : order_(order) {
    if constexpr (Early) {
      any_ = begin() < order_.end && order_.place(begin(), first_);
      cuda::keep(first_.p), cuda::keep(first_.q);
    }
  }

  template <class Body>
  __device__ __forceinline__ void for_each(Body body) const {  // calls body(place)
    TilePlace at = first_;
    const int step = gridDim.x / Cluster;
    for (int t = begin(); Early && t == begin() ? any_ : t < order_.end && order_.place(t, at); t += step)
      if (order_.wants(at)) body(at);
  }

 private:
  __device__ int begin() const { return order_.first + blockIdx.x / Cluster; }

  TileOrder order_;
  TilePlace first_ = {};
  bool any_ = false;
};

}  // namespace vernier::cuda
