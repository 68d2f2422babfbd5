// Both operands split in one kernel that reads each element once, for k up to 16384. Of vectors that lie across memory
// a cluster of blocks takes 32, each block a part of k in shared memory; the maxima meet over the cluster.
#include <cooperative_groups.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "scheme/split_contiguous.cuh"

namespace vernier {
namespace {

namespace cg = cooperative_groups;

constexpr int strip = 32, pitch = strip + 1;  // writes and reads of the transposition meet all banks
constexpr int largest_cluster = 16, largest_part = 1024;
constexpr int quads = strip / 4;  // lanes side by side along the vectors

struct StripJob {
  SplitJob job;
  SplitThresholds thresholds;
  bool aligned = false;
  std::int64_t blocks = 0;
};

// The blocks of the first come first.
template <class Job>
struct TwoJobs {
  Job first, second;

  __host__ __device__ std::int64_t blocks() const { return first.blocks + second.blocks; }
  __device__ const Job& take(std::int64_t& block) const {
    if (block < first.blocks) return first;
    block -= first.blocks;
    return second;
  }
};

struct Meeting {
  std::uint32_t part[split_warps][strip];
  std::uint32_t largest[strip], large[strip], tiny[strip];  // of the whole vectors; the last two in block 0
};

// [begin, end) of k into shared memory; returns the maxima of each thread's four vectors.
__device__ __forceinline__ uint4 load_strip(const StripJob& s, std::int64_t first, int begin, int end, float* tile) {
  constexpr int columns = split_threads / quads, batch = 4;  // loads that are on their way at once
  const FloatVectors& x = s.job.x;
  const int r = threadIdx.x % quads * 4, k = static_cast<int>(x.k);
  const float* from = x.data + first + r;
  uint4 largest{};
  const auto put = [&](int l, const float4& v) {
    float* to = tile + (l - begin) * pitch + r;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    largest.x = max(largest.x, float_word(v.x) & 0x7fffffffu);
    largest.y = max(largest.y, float_word(v.y) & 0x7fffffffu);
    largest.z = max(largest.z, float_word(v.z) & 0x7fffffffu);
    largest.w = max(largest.w, float_word(v.w) & 0x7fffffffu);
  };
  if (s.aligned && first + strip <= x.count) {
    const float* here = from + (begin + threadIdx.x / quads) * x.k_stride;
    const std::int64_t step = columns * x.k_stride;
    const int limit = min(end, k);
    for (int l = begin + threadIdx.x / quads; l < end; l += batch * columns) {
      float4 v[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i, here += step)
        v[i] = l + i * columns < limit ? *reinterpret_cast<const float4*>(here) : float4{};
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (l + i * columns < end) put(l + i * columns, v[i]);
    }
  } else {
    for (int l = begin + threadIdx.x / quads; l < end; l += columns) {
      const auto element = [&](int i) { return l < k && first + r + i < x.count ? from[l * x.k_stride + i] : 0.0f; };
      put(l, {element(0), element(1), element(2), element(3)});
    }
  }
  return largest;
}

// Every block of the cluster learns the largest element of every vector. Meeting::largest is zero everywhere before.
__device__ __forceinline__ void meet(const uint4& largest, Meeting& m) {
  const std::uint32_t mine[4] = {largest.x, largest.y, largest.z, largest.w};
  cg::cluster_group cluster = cg::this_cluster();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t v = mine[i];
    for (int offset = quads; offset < 32; offset *= 2) v = max(v, __shfl_xor_sync(~0u, v, offset));
    if (lane < quads) m.part[warp][4 * lane + i] = v;
  }
  __syncthreads();
  cuda::cluster_wait();
  const int vector = threadIdx.x % strip, rank = threadIdx.x / strip;
  if (rank < static_cast<int>(cluster.num_blocks())) {
    std::uint32_t v = 0;
#pragma unroll
    for (int w = 0; w < split_warps; ++w) v = max(v, m.part[w][vector]);
    atomicMax(cluster.map_shared_rank(m.largest + vector, rank), v);
  }
  cluster.sync();
}

// A warp takes eight vectors; four lanes share each, a line at a time.
template <SplitForm Form>
__device__ __forceinline__ void emit_strip(const StripJob& s, std::int64_t first, int begin, int end, const float* tile,
                                           Meeting& m) {
  constexpr int groups = strip / 8, run = emit_k<Form>;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp % groups * 8 + lane / 4, quarter = lane % 4;
  const std::int64_t vector = first + row;
  if (vector >= s.job.x.count) return;
  const SplitScale scale(split_scale(m.largest[row]));
  SplitTally tally;
  std::byte* lines = s.job.plane.lines + vector * s.job.plane.line_count * split_line_bytes;
  for (int l = begin + warp / groups * line_k<Form> + quarter * run; l < end;
       l += split_warps / groups * line_k<Form>) {
    float v[run];
#pragma unroll
    for (int i = 0; i < run; ++i) v[i] = tally.scaled(tile[(l - begin + i) * pitch + row], scale, s.thresholds);
    emit<Form>(v, lines, l);
  }
  cg::cluster_group cluster = cg::this_cluster();
  if (tally.large != 0) atomicAdd(cluster.map_shared_rank(m.large + row, 0), static_cast<std::uint32_t>(tally.large));
  if (tally.tiny) atomicOr(cluster.map_shared_rank(m.tiny + row, 0), tiny_element);
}

template <SplitForm Form>
__device__ __forceinline__ void split_strip(const StripJob& s, std::int64_t block, int part_k, float* tile,
                                            Meeting& m) {
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  if (threadIdx.x < strip) m.largest[threadIdx.x] = m.large[threadIdx.x] = m.tiny[threadIdx.x] = 0;
  cuda::cluster_arrive();
  const std::int64_t first = block / cluster.num_blocks() * strip;
  const int padded = static_cast<int>(s.job.plane.line_count) * line_k<Form>;
  const int begin = rank * part_k, end = min(begin + part_k, padded);
  meet(load_strip(s, first, begin, end, tile), m);
  emit_strip<Form>(s, first, begin, end, tile, m);
  cluster.sync();
  const std::int64_t vector = first + threadIdx.x;
  if (rank != 0 || threadIdx.x >= strip || vector >= s.job.x.count) return;
  const std::uint32_t all = m.largest[threadIdx.x];
  s.job.plane.unscale[vector] = unscaling(all);
  s.job.plane.status[vector] = final_status(all, m.large[threadIdx.x] | m.tiny[threadIdx.x], s.job.x.k);
}

template <SplitForm Form>
__global__ void __launch_bounds__(split_threads, 2)
    split_once_kernel(const __grid_constant__ TwoJobs<ContiguousJob> contiguous,
                      const __grid_constant__ TwoJobs<StripJob> strips, int part_k, const SplitGate gate) {
  extern __shared__ float tile[];
  __shared__ Meeting meeting;
  cuda::allow_next_kernel();
  cuda::wait_for_previous_kernels();
  if (gate_closed(gate)) return;
  const std::int64_t blocks = strips.blocks() + contiguous.blocks();
  for (std::int64_t item = blockIdx.x; item < blocks; item += gridDim.x) {
    std::int64_t block = item;
    if (block < strips.blocks()) {  // a whole cluster, or none of it
      const StripJob& s = strips.take(block);
      split_strip<Form>(s, block, part_k, tile, meeting);
    } else {
      block -= strips.blocks();
      const ContiguousJob& s = contiguous.take(block);
      split_contiguous<Form>(s, block, meeting.part[0]);
    }
  }
}

// 16 blocks, where the device runs so large a cluster of them; 8 run everywhere.
template <SplitForm Form>
int cluster_limit() {
  static std::mutex mutex;
  static std::map<int, int> limits;  // of each device
  const std::lock_guard lock(mutex);
  int& limit = limits[cuda::current_device().number];
  if (limit == 0)
    limit = cuda::resident_clusters("split_once_kernel", split_once_kernel<Form>,
                                    {.grid = largest_cluster,
                                     .block = split_threads,
                                     .shared_bytes = largest_part * pitch * sizeof(float),
                                     .cluster = largest_cluster}) > 0
                ? largest_cluster
                : 8;
  return limit;
}

// Blocks that share a strip: enough for parts that fit twice into a multiprocessor, and for 128 blocks in all.
int cluster_size(const SplitJob& job, std::int64_t padded, int limit) {
  int size = 1;
  while (size < limit && size * 512 < padded) size *= 2;
  while (size < 8 && size * pieces(job.x.count, strip) < 128 && size * 128 < padded) size *= 2;
  return size;
}

}  // namespace

template <SplitForm Form>
bool split_once_serves(const SplitJob& a, const SplitJob& b) {
  const auto serves = [](const SplitJob& job) {
    return job.x.k_contiguous() || job.x.k <= 8 * largest_part || job.x.k <= cluster_limit<Form>() * largest_part;
  };
  return serves(a) && serves(b);
}

template <SplitForm Form>
void split_once(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  const std::int64_t padded = a.plane.line_count * line_k<Form>;
  TwoJobs<ContiguousJob> contiguous;
  TwoJobs<StripJob> strips;
  int cluster = 1;
  for (const SplitJob* job : {&a, &b}) {
    const bool is_a = job == &a;
    if (job->x.k_contiguous()) {
      (is_a ? contiguous.first : contiguous.second) = ContiguousJob(Form, *job);
    } else {
      (is_a ? strips.first : strips.second) =
          StripJob{*job, split_thresholds(Form, job->x.k), quads_aligned(job->x), pieces(job->x.count, strip)};
      cluster = std::max(cluster, cluster_size(*job, padded, cluster_limit<Form>()));
    }
  }
  strips.first.blocks *= cluster;
  strips.second.blocks *= cluster;
  const auto part_k = static_cast<int>(pieces(pieces(padded, cluster), half_line_k) * half_line_k);
  std::int64_t clusters = pieces(strips.blocks() + contiguous.blocks(), cluster);
  if (gate.before != nullptr)
    clusters = std::min<std::int64_t>(clusters, 256 / cluster);  // most often they just return
  cuda::launch("split_once_kernel", split_once_kernel<Form>,
               {.grid = static_cast<unsigned>(clusters * cluster),
                .block = split_threads,
                .shared_bytes = strips.blocks() > 0 ? static_cast<std::size_t>(part_k) * pitch * sizeof(float) : 0,
                .cluster = static_cast<unsigned>(cluster),
                .overlap_previous = gate.before != nullptr},
               stream, contiguous, strips, part_k, gate);
}

template bool split_once_serves<SplitForm::half_shifted>(const SplitJob&, const SplitJob&);
template bool split_once_serves<SplitForm::half_unshifted>(const SplitJob&, const SplitJob&);
template bool split_once_serves<SplitForm::tf32_shifted>(const SplitJob&, const SplitJob&);
template bool split_once_serves<SplitForm::tf32_unshifted>(const SplitJob&, const SplitJob&);
template void split_once<SplitForm::half_shifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);
template void split_once<SplitForm::half_unshifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);
template void split_once<SplitForm::tf32_shifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);
template void split_once<SplitForm::tf32_unshifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);

}  // namespace vernier
