// Which tile of C a cluster computes next.
#pragma once

#include <climits>

#include "cuda/ptx.cuh"

namespace vernier::cuda {

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
