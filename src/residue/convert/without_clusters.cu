// Conversions and the choice of scales for GPUs that have no clusters of blocks.
#include <cstdint>

#include "base/instantiate.hpp"
#include "engine/panel.hpp"
#include "residue/convert/resident.cuh"
#include "residue/convert/scaled.cuh"
#include "residue/convert/streamed.cuh"
#include "residue/convert/strip.cuh"
#include "residue/scale/route_choice.cuh"

namespace vernier::cuda {

// How the blocks of a strip learn what the others found on GPUs without clusters: through device memory.
//
// A block waits for others of its strip, which need not run yet. So places are given out in the order in which blocks
// begin: whoever has an earlier place runs, and only the last strip that has begun may wait for blocks that have not.
// They come as soon as an earlier strip, of which all blocks run, has ended.

template <class Findings>
class MemoryMeeting {
 public:
  static constexpr bool in_cluster = false;
  static constexpr int rounds = 2;
  static_assert(alignof(Findings) == 16);
  struct Shared {
    Findings of[most_strip_blocks], mine;
    int block;
  };

  // Counters, which are zero before the kernel: of blocks that have begun, and of each strip. Findings lie behind them.
  static constexpr std::int64_t counter_bytes(std::int64_t strips) { return round_up((1 + strips) * 4, 16); }
  static constexpr std::int64_t bytes(std::int64_t strips, int blocks) {
    return counter_bytes(strips) + strips * blocks * rounds * std::int64_t{sizeof(Findings)};
  }

  static void prepare(std::int64_t strips, const MeetingPlace& place, cudaStream_t stream) {
    const auto bytes = static_cast<std::size_t>(counter_bytes(strips));
    check(cudaMemsetAsync(place.data, 0, bytes, stream), "counters of strips");
  }

  template <class Task>
  __device__ MemoryMeeting(Shared& shared, const Task& task) : shared_(shared), blocks_(task.parts) {
    wait_for_previous_kernels();  // which may have had the memory of the counters
    unsigned* counters = reinterpret_cast<unsigned*>(task.meeting);
    if (threadIdx.x == 0) shared.block = static_cast<int>(atomicAdd(counters, 1u));
    __syncthreads();
    const int strips = task.strips[0] + task.strips[1], strip = shared.block / blocks_;
    counter_ = counters + 1 + strip;
    findings_ = reinterpret_cast<Findings*>(task.meeting + counter_bytes(strips)) + strip * blocks_ * rounds;
  }

  __device__ void begin() const {}
  __device__ int block() const { return shared_.block; }
  __device__ int blocks() const { return blocks_; }

  // By all warps of the block, of their vectors; from there on all blocks know what each has found about any.
  template <class Part, int Vectors>
  __device__ void share(Part (Findings::*part)[Vectors], int v, const Part& found, int lane) {
    if (lane == 0) (shared_.mine.*part)[v] = found;
    const int rank = shared_.block % blocks_;
    Findings* const round = findings_ + round_++ * blocks_;
    __syncthreads();
    copy(&round[rank], &shared_.mine, 1, [](uint4* to, const uint4* from) { *to = *from; });
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(counter_, 1u);
      while (*static_cast<const volatile unsigned*>(counter_) < static_cast<unsigned>(round_ * blocks_)) {
      }
      __threadfence();
    }
    __syncthreads();
    copy(shared_.of, round, blocks_, [](uint4* to, const uint4* from) { *to = __ldcg(from); });
    __syncthreads();
  }
  __device__ const Findings& of(int rank) const { return shared_.of[rank]; }
  template <class Part, int Vectors>
  __device__ void wait(Part (Findings::*)[Vectors], int) const {}

 private:
  template <class Copy>
  static __device__ void copy(Findings* to, const Findings* from, int count, Copy one) {
    const int quads = count * static_cast<int>(sizeof(Findings) / sizeof(uint4));
    for (int i = static_cast<int>(threadIdx.x); i < quads; i += static_cast<int>(blockDim.x))
      one(reinterpret_cast<uint4*>(to) + i, reinterpret_cast<const uint4*>(from) + i);
  }

  Shared& shared_;
  int blocks_, round_ = 0;
  unsigned* counter_;
  Findings* findings_;
};

// Blocks that share a strip of vectors, under one interface, that of cooperative_groups::cluster_group. Here those that
// any GPU has; cluster.cuh has the others.

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

namespace {

template <class T, int Words>
void launch_alone(const ConvertTask<T>& task, const ConversionForm& form, cudaStream_t stream) {
  launch("convert_operands", convert_operands<T, Words, BlockAlone>,
         {.grid = conversion_grid(task), .block = dim3(convert_threads)}, stream, task, digit_reductions<Words>(form));
}

// Residues, with the scales that are there: nobody waits for another's part of k.
template <class T, int Words>
void launch_parts(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  task.chunk = 4 * convert_k;
  task.parts = static_cast<int>(divide_up(task.pitch, task.chunk));
  launch_alone<T, Words>(task, form, stream);
}

// Elements of as many words as fp64 and fp32 take; others are rare.
template <class T>
inline constexpr int resident_words = sizeof(T) == 8 ? 2 : 1;

// Does the kernel that reads each element once serve, by blocks that meet in memory?
template <class T>
bool meets(const ConvertTask<T>& task, const ConversionForm& form) {
  const DeviceOperand<T>&a = task.operand[0], &b = task.operand[1];
  const bool writes = a.planes != nullptr;
  if (task.products != 1 || a.x.k > longest_resident_k) return false;
  if (writes && form.words != resident_words<T>) return false;
  const std::int64_t strips = divide_up(a.x.vectors, resident_vectors) + divide_up(b.x.vectors, resident_vectors);
  using Meet = MemoryMeeting<ResidentFindings>;
  return form.meeting.bytes >= static_cast<std::size_t>(Meet::bytes(strips, most_strip_blocks));
}

template <class T>
void measure(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  for (DeviceOperand<T>& operand : task.operand) operand.planes = nullptr;
  task.chunk = round_up(task.operand[0].x.k, convert_k);
  launch_alone<T, 2>(task, form, stream);
}

}  // namespace

template <class T>
void convert_without_clusters(const Conversion<T>& conversion, cudaStream_t stream) {
  ConvertTask<T> task = conversion.task();
  const ConversionForm& form = conversion.form;
  if (task.measure) {
    if (meets(task, form)) return launch_resident<T, resident_words<T>, MemoryMeeting>(task, form, stream);
    measure(task, form, stream);
    if (task.operand[0].planes == nullptr && task.operand[1].planes == nullptr) return;
    task.measure = false;
  }
  switch (form.words) {
    case 1:
      return launch_scaled<T, 1>(task, form, stream);
    case 2:
      return launch_scaled<T, 2>(task, form, stream);
    case 3:
      return launch_scaled<T, 3>(task, form, stream);
    case 4:
      return launch_parts<T, 4>(task, form, stream);
    case 5:  // the instructions take words in pairs
    case 6:
      return launch_parts<T, 6>(task, form, stream);
    default:
      fail_words("convert_operands", form.words);
  }
}

VERNIER_REAL_INSTANCES(convert_without_clusters)

void choose_route_without_clusters(const RouteTask& task, cudaStream_t stream) {
  launch("choose_route", choose_route<BlockAlone>, {.grid = dim3(1), .block = dim3(route_threads)}, stream, task);
}

}  // namespace vernier::cuda
