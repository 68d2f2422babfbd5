// A cluster of blocks, which exchange what they find through distributed shared memory: from compute capability 9.0 on.
#pragma once

#include <cooperative_groups.h>

namespace vernier::cuda {

struct ClusterOfBlocks {
  static __device__ cooperative_groups::cluster_group here() { return cooperative_groups::this_cluster(); }
};

}  // namespace vernier::cuda
