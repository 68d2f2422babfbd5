// Mail among the blocks of a panel on any GPU: one mailbox of each block in device memory, which all others read, past
// the first-level cache, once all have said that theirs is full. All blocks run at once (cooperative launch).
#include "base/instantiate.hpp"
#include "lapack/lu/panel.cuh"

namespace vernier::cuda {

template <class T, class Shape>
struct MemoryMail {
  static constexpr int columns = Shape::columns, blocks = Shape::blocks, copies = 1;

  struct Boxes {
    unsigned full[columns];  // how many blocks have sent their candidate of the column
    alignas(16) uint4 key[Shape::mailboxes][blocks];
    alignas(16) T row[Shape::mailboxes][blocks][columns];
  };
  static_assert(sizeof(Boxes) <= panel_mail_bytes);
  struct Shared {};

  Boxes& boxes;
  int block = static_cast<int>(blockIdx.x);

  __device__ __forceinline__ MemoryMail(Shared&, const PanelTask<T>& task) : boxes(*static_cast<Boxes*>(task.mail)) {}

  static void prepare(const PanelTask<T>& task, cudaStream_t stream) {
    check(cudaMemsetAsync(task.mail, 0, sizeof(Boxes::full), stream), "mailboxes of a panel");
  }
  static LaunchShape launch_shape() { return {.grid = blocks, .block = Shape::threads, .together = true}; }

  __device__ __forceinline__ void open() {}
  __device__ __forceinline__ void meet() {}  // boxes are there before the first block, and after the last

  struct Letter {
    uint4* to_key;
    uint4* to_row;
    __device__ __forceinline__ void key(const uint4& x) const { *to_key = x; }
    __device__ __forceinline__ void quad(int q, const uint4& x) const { to_row[q] = x; }
  };
  __device__ __forceinline__ Letter to(int j, int) const {
    const int box = j % Shape::mailboxes;
    return {&boxes.key[box][block], reinterpret_cast<uint4*>(&boxes.row[box][block][0])};
  }
  __device__ __forceinline__ void sent(int j) const {
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    __threadfence();
    atomicAdd(&boxes.full[j], 1u);
  }
  __device__ __forceinline__ void wait(int j) const {
    if (threadIdx.x % 32 == 0) {
      while (*const_cast<const volatile unsigned*>(&boxes.full[j]) < blocks) {
      }
      __threadfence();
    }
    __syncwarp();
  }

  __device__ __forceinline__ uint4 key(int j, int from) const { return __ldcg(&boxes.key[j % Shape::mailboxes][from]); }
  __device__ __forceinline__ const T* row(int j, int from) const { return boxes.row[j % Shape::mailboxes][from]; }
  __device__ __forceinline__ static T element(const T* row, int c) { return __ldcg(row + c); }
  __device__ __forceinline__ static uint4 quad(const T* row, int q) {
    return __ldcg(reinterpret_cast<const uint4*>(row) + q);
  }
};

template <class T>
void factor_panel_in_memory(const PanelTask<T>& task, cudaStream_t stream) {
  ShapesOf<T>::type::template launch<MemoryMail>(task, stream);
}

VERNIER_REAL_INSTANCES(factor_panel_in_memory)

}  // namespace vernier::cuda
