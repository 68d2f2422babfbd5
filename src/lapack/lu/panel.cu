// Mail among the blocks of a panel that are a cluster: a mailbox in the shared memory of every block, filled by stores
// that count their bytes on a barrier of the receiver.
//
// Clusters of 16 need 16 free multiprocessors of one GPC: start panels before anything that may run beside them.
#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "lapack/lu/panel.cuh"

namespace vernier::cuda {

template <class T, class Shape>
struct ClusterMail {
  static constexpr int columns = Shape::columns, blocks = Shape::blocks, copies = blocks;

  struct Shared {
    alignas(16) T row[Shape::mailboxes][blocks][columns];
    uint4 key[Shape::mailboxes][blocks];
    std::uint64_t barrier[columns];  // each used once
  };

  Shared& s;
  int block = cluster_rank();

  __device__ __forceinline__ ClusterMail(Shared& shared, const PanelTask<T>&) : s(shared) {}

  static void prepare(const PanelTask<T>&, cudaStream_t) {}
  static LaunchShape launch_shape() {
    return {.grid = blocks, .block = Shape::threads, .cluster = blocks, .overlap_previous = true};
  }

  __device__ __forceinline__ void open() {
    if (threadIdx.x != 0) return;
    for (int j = 0; j < columns; ++j) barrier_init(shared_address(&s.barrier[j]), 1);
    fence_barrier_init();
    for (int j = 0; j < columns; ++j) {
      const int before = j == 0 ? 0 : j - 1, width = columns - before / Shape::chunk * Shape::chunk;
      barrier_expect(shared_address(&s.barrier[j]), blocks * (16 + width * static_cast<int>(sizeof(T))));
    }
  }
  // Before the first letter, when barriers are ready everywhere; after the last: none is on its way to a block that
  // has left.
  __device__ __forceinline__ void meet() {
    cluster_arrive();
    cluster_wait();
  }

  struct Letter {
    std::uint32_t to_key, to_row, barrier;
    __device__ __forceinline__ void key(const uint4& x) const { store_async(to_key, x, barrier); }
    __device__ __forceinline__ void quad(int q, const uint4& x) const { store_async(to_row + q * 16, x, barrier); }
  };
  __device__ __forceinline__ Letter to(int j, int destination) const {
    const int box = j % Shape::mailboxes;
    const auto there = [&](const void* p) { return address_in_block(shared_address(p), destination); };
    return {there(&s.key[box][block]), there(&s.row[box][block][0]), there(&s.barrier[j])};
  }
  __device__ __forceinline__ void sent(int) const {}
  __device__ __forceinline__ void wait(int j) const { barrier_wait_cluster(shared_address(&s.barrier[j]), 0); }

  __device__ __forceinline__ uint4 key(int j, int from) const { return s.key[j % Shape::mailboxes][from]; }
  __device__ __forceinline__ const T* row(int j, int from) const { return s.row[j % Shape::mailboxes][from]; }
  __device__ __forceinline__ static T element(const T* row, int c) { return row[c]; }
  __device__ __forceinline__ static uint4 quad(const T* row, int q) { return reinterpret_cast<const uint4*>(row)[q]; }
};

template <class T>
int panel_width(std::int64_t rows) {
  return ShapesOf<T>::type::width(rows);
}

template <class T>
void factor_panel_by_cluster(const PanelTask<T>& task, cudaStream_t stream) {
  ShapesOf<T>::type::template launch<ClusterMail>(task, stream);
}

template <class T>
void factor_panel(const PanelTask<T>& task, cudaStream_t stream) {
  takes_hopper_kernels() ? factor_panel_by_cluster(task, stream) : factor_panel_in_memory(task, stream);
}

VERNIER_REAL_INSTANCES(panel_width, factor_panel, factor_panel_by_cluster)

}  // namespace vernier::cuda
