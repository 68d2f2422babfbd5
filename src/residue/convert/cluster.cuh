// A cluster of blocks, which exchange what they find through distributed shared memory: from compute capability 9.0 on.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>

#include "cuda/ptx.cuh"
#include "residue/convert/strip.cuh"

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

// How the blocks of a strip tell each other what they have found, vector by vector, where they are a cluster: the warp
// that has found something about a vector stores it in all blocks, whose barriers count the bytes, and waits for what
// the others have found about that vector. Nobody reads from another block or waits for one as a whole, and the
// barriers of a cluster, which wait for all that a block has written to memory, come once, before there is any of it. A
// block may end as soon as all of its own have arrived, which each warp has waited for.
template <class Findings>
class ClusterMeeting {
 public:
  static constexpr bool in_cluster = true;
  struct Shared {
    Findings of[most_strip_blocks];
    std::uint64_t told[sizeof(Findings) / sizeof(uint4)];  // a barrier for each quad, of which a part takes the first
  };

  static void prepare(std::int64_t, const MeetingPlace&, cudaStream_t) {}

  template <class Task>
  __device__ ClusterMeeting(Shared& shared, const Task&) : shared_(shared) {
    if (threadIdx.x < std::size(shared.told)) barrier_init(shared_address(&shared.told[threadIdx.x]), 1);
    __syncwarp();
    fence_barrier_init();
    cluster_arrive_relaxed();
  }
  __device__ void begin() const {  // from here on all blocks have their barriers
    __syncwarp();
    cluster_wait();
  }

  __device__ int block() const { return static_cast<int>(blockIdx.x); }
  __device__ int blocks() const { return static_cast<int>(ClusterOfBlocks::num_blocks()); }

  // By all lanes of one warp, which know `found`; from there on it knows what all blocks have found about vector v.
  template <class Part, int Vectors>
  __device__ void share(Part (Findings::*part)[Vectors], int v, const Part& found, int lane) const {
    constexpr int quads = sizeof(Part) / sizeof(uint4);
    const std::uint32_t barrier = told(part, v), mine = address(part, v, cluster_rank());
    if (blocks() == 1) {  // a store that a barrier counts needs two
      if (lane == 0) (shared_.of[0].*part)[v] = found, barrier_arrive(barrier);
    } else {
      if (lane == 0) barrier_expect(barrier, blocks() * static_cast<int>(sizeof(Part)));
      if (lane < blocks()) {
        uint4 words[quads];
        memcpy(words, &found, sizeof words);
        const std::uint32_t there = address_in_block(mine, lane), counts = address_in_block(barrier, lane);
#pragma unroll
        for (int q = 0; q < quads; ++q) store_async(there + q * sizeof(uint4), words[q], counts);
      }
    }
    wait(part, v);
  }
  // Until another warp of this block knows it.
  template <class Part, int Vectors>
  __device__ void wait(Part (Findings::*part)[Vectors], int v) const {
    barrier_wait_cluster(told(part, v), 0);
  }
  __device__ const Findings& of(int rank) const { return shared_.of[rank]; }

 private:
  template <class Part, int Vectors>
  __device__ std::uint32_t address(Part (Findings::*part)[Vectors], int v, int rank) const {
    return shared_address(&(shared_.of[rank].*part)[v]);
  }
  template <class Part, int Vectors>
  __device__ std::uint32_t told(Part (Findings::*part)[Vectors], int v) const {
    const std::uint32_t quad = (address(part, v, 0) - shared_address(&shared_.of[0])) / sizeof(uint4);
    return shared_address(&shared_.told[quad]);
  }

  Shared& shared_;
};

}  // namespace vernier::cuda
