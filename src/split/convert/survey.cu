// First of two kernels for long vectors: contiguous ones are split, of those that lie across memory the largest
// elements are taken. These items come last, so that the second kernel finds the end of them in the second-level cache.
#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "split/convert/contiguous.cuh"

namespace vernier::cuda {
namespace {

constexpr int survey_strip = 128;  // vectors of a block

struct MaximaJob {
  SplitJob job;
  bool aligned = false;
  std::int64_t part_k = 0, blocks = 0;
};

// 128 vectors, a part of k: lanes along the vectors, warps along k.
__device__ void maxima_across(const MaximaJob& s, std::int64_t block,
                              std::uint32_t (&shared)[split_warps][survey_strip]) {
  const FloatVectors& x = s.job.x;
  const std::int64_t strips = (x.count + survey_strip - 1) / survey_strip;
  const std::int64_t first = block % strips * survey_strip, part = block / strips;
  const std::int64_t begin = part * s.part_k, end = min(begin + s.part_k, x.k);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t mine = first + 4 * lane;
  std::uint32_t largest[4] = {};
  const auto see = [&](int i, float v) { largest[i] = max(largest[i], float_word(v) & 0x7fffffffu); };
  if (s.aligned && mine + 4 <= x.count) {
#pragma unroll 8
    for (std::int64_t l = begin + warp; l < end; l += split_warps) {
      const float4 v = *reinterpret_cast<const float4*>(x.data + mine + l * x.k_stride);
      see(0, v.x), see(1, v.y), see(2, v.z), see(3, v.w);
    }
  } else {
    for (std::int64_t l = begin + warp; l < end; l += split_warps)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (mine + i < x.count) see(i, x.data[mine + i + l * x.k_stride]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) shared[warp][4 * lane + i] = largest[i];
  __syncthreads();
  const std::int64_t vector = first + threadIdx.x;
  if (threadIdx.x >= survey_strip || vector >= x.count) return;
  std::uint32_t all = 0;
#pragma unroll
  for (int w = 0; w < split_warps; ++w) all = max(all, shared[w][threadIdx.x]);
  s.job.part_maxima[part * x.count + vector] = all;
  if (part == 0) s.job.plane.status[vector] = 0;
}

template <SplitForm Form>
__global__ void __launch_bounds__(split_threads, 2)
    survey_kernel(const __grid_constant__ ContiguousJob contiguous, const __grid_constant__ MaximaJob first,
                  const __grid_constant__ MaximaJob second, const SplitGate gate) {
  extern __shared__ __align__(16) float held[];
  __shared__ std::uint32_t maxima[split_warps][survey_strip];
  allow_next_kernel();
  wait_for_previous_kernels();
  if (gate_closed(gate)) return;
  const std::int64_t block = blockIdx.x;
  if (block < contiguous.blocks)
    split_contiguous<Form>(contiguous, 0, block, true, maxima[0], held);
  else if (block < contiguous.blocks + first.blocks)
    maxima_across(first, block - contiguous.blocks, maxima);
  else
    maxima_across(second, block - contiguous.blocks - first.blocks, maxima);
}

MaximaJob maxima_job(const SplitJob& job) {
  const int parts = split_part_count(job.x);
  return {job, quads_aligned(job.x), pieces(job.x.k, parts), pieces(job.x.count, survey_strip) * parts};
}

template <SplitForm Form>
void launch_survey(const ContiguousJob& contiguous, const MaximaJob (&across)[2], const SplitGate& gate,
                   cudaStream_t stream) {
  launch("survey_kernel", survey_kernel<Form>,
         {.grid = static_cast<unsigned>(contiguous.blocks + across[0].blocks + across[1].blocks),
          .block = split_threads,
          .shared_bytes = contiguous.blocks > 0 ? contiguous_bytes : std::size_t{0},
          .overlap_previous = gate.before != nullptr},
         stream, contiguous, across[0], across[1], gate);
}

}  // namespace

int split_part_count(const FloatVectors& x) {
  if (x.k_contiguous()) return 0;
  // About 256 blocks, parts of 32 k at least; few parts, since the second kernel reads the maxima of each.
  const std::int64_t most = std::min<std::int64_t>(32, pieces(x.k, 32));
  return static_cast<int>(std::clamp<std::int64_t>(pieces(256, pieces(x.count, survey_strip)), 1, most));
}

template <SplitForm Form>
void survey(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  if (a.x.k_contiguous() && b.x.k_contiguous()) {
    for (const SplitJob* job : {&a, &b}) launch_survey<Form>(ContiguousJob(Form, *job), {}, gate, stream);
    return;
  }
  ContiguousJob contiguous;
  MaximaJob across[2];
  int count = 0;
  for (const SplitJob* job : {&a, &b}) {
    if (job->x.k_contiguous())
      contiguous = ContiguousJob(Form, *job);
    else
      across[count++] = maxima_job(*job);
  }
  launch_survey<Form>(contiguous, across, gate, stream);
}

template struct Instances<survey<SplitForm::half_shifted>, survey<SplitForm::half_unshifted>,
                          survey<SplitForm::tf32_shifted>, survey<SplitForm::tf32_unshifted>,
                          survey<SplitForm::bf16_three>>;

}  // namespace vernier::cuda
