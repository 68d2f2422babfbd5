// A cluster of blocks, which exchange what they find through distributed shared memory: from compute capability 9.0 on.
#pragma once

#include "cuda/ptx.cuh"
#include "residue/convert/convert.hpp"

namespace vernier::cuda {

// As cooperative_groups::cluster_group has it, whose header takes longer to compile than many kernels.
struct ClusterOfBlocks {
  static __device__ ClusterOfBlocks here() { return {}; }
  static __device__ void sync() { __cluster_barrier_arrive(), __cluster_barrier_wait(); }
  static __device__ unsigned num_blocks() { return __clusterSizeInBlocks(); }
  static __device__ unsigned block_rank() { return __clusterRelativeBlockRank(); }
  template <class X>
  static __device__ X* map_shared_rank(X* mine, int rank) {
    return static_cast<X*>(__cluster_map_shared_rank(mine, rank));
  }
};

// The blocks of a strip are a cluster.
template <class Findings>
class ClusterMeeting {
 public:
  static constexpr bool in_cluster = true;
  struct Shared {};

  static void prepare(std::int64_t, const MeetingPlace&, cudaStream_t) {}

  template <class Task>
  __device__ ClusterMeeting(Findings& mine, Shared&, const Task&) : mine_(mine) {}

  __device__ int block() const { return static_cast<int>(blockIdx.x); }
  __device__ int blocks() const { return static_cast<int>(cluster_.num_blocks()); }
  __device__ void share() { cluster_.sync(); }  // from here on all blocks know what each has found
  __device__ const Findings& of(int rank) const { return *cluster_.map_shared_rank(&mine_, rank); }
  __device__ void leave() const { cluster_arrive(); }  // has asked for all it wants to know
  __device__ void end() const { cluster_wait(); }      // the others, too

 private:
  Findings& mine_;
  ClusterOfBlocks cluster_;
};

}  // namespace vernier::cuda
