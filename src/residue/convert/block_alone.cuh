// Blocks that share a strip of vectors, under one interface, that of cooperative_groups::cluster_group. Here those that
// any GPU has; cluster.cuh has the others.
#pragma once

namespace vernier::cuda {

// A block that has nobody to ask.
struct BlockAlone {
  static __device__ BlockAlone here() { return {}; }
  static __device__ void sync() { __syncthreads(); }
  static __device__ constexpr unsigned num_blocks() { return 1; }
  static __device__ constexpr unsigned block_rank() { return 0; }
  template <class X>
  static __device__ X* map_shared_rank(X* mine, int) {
    return mine;
  }
};

}  // namespace vernier::cuda
