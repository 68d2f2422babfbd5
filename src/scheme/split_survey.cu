// First kernel of the split. Blocks take items: contiguous vectors of both operands first, which keep their elements in
// registers from the maximum to the store; then strips of vectors that lie across memory, of which only the maxima are
// taken, so that the second kernel finds the end of them in the second-level cache.
#include <algorithm>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "scheme/split_emit.cuh"
#include "scheme/split_kernels.hpp"

namespace vernier {
namespace {

constexpr int threads = 512, warps = threads / 32;
constexpr int groups = 4;  // of eight elements that a thread holds

struct SurveyJob {
  SplitJob job;
  SplitThresholds thresholds;
  bool contiguous, aligned;
  int warps_per_vector;  // contiguous
  std::int64_t part_k;   // across memory
  std::int64_t items;
};

__device__ __forceinline__ void load_eight(float (&x)[emit_k], const float* from, std::int64_t l, std::int64_t k,
                                           bool aligned) {
  if (aligned && l + emit_k <= k) {
    const float4 low = *reinterpret_cast<const float4*>(from + l),
                 high = *reinterpret_cast<const float4*>(from + l + 4);
    x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
    x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
  } else {
#pragma unroll
    for (int i = 0; i < emit_k; ++i) x[i] = l + i < k ? from[l + i] : 0.0f;
  }
}

// Warps that share a vector each add what they found.
template <class Join>
__device__ __forceinline__ std::uint32_t over_vector(std::uint32_t mine, int share, std::uint32_t* shared, Join join) {
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) shared[warp] = mine;
  __syncthreads();
  std::uint32_t all = 0;
  for (int w = warp / share * share; w < warp / share * share + share; ++w) all = join(all, shared[w]);
  __syncthreads();
  return all;
}

template <SplitForm Form>
__device__ void split_contiguous(const SurveyJob& s, std::int64_t item, std::uint32_t* shared) {
  const FloatVectors& x = s.job.x;
  const int share = s.warps_per_vector, slot_threads = 32 * share, t = threadIdx.x % slot_threads;
  const std::int64_t vector = item * (warps / share) + threadIdx.x / slot_threads;
  const std::int64_t k = vector < x.count ? x.k : 0, padded = s.job.plane.line_count * line_k<Form>;
  const std::int64_t span = slot_threads * groups * emit_k;  // held at once
  const float* from = x.data + vector * x.vector_stride;
  float v[groups][emit_k];
  const auto load = [&](std::int64_t base) {
#pragma unroll
    for (int g = 0; g < groups; ++g) load_eight(v[g], from, base + (g * slot_threads + t) * emit_k, k, s.aligned);
  };
  std::uint32_t largest = 0;
  for (std::int64_t base = 0; base < padded; base += span) {
    load(base);
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int i = 0; i < emit_k; ++i) largest = max(largest, float_word(v[g][i]) & 0x7fffffffu);
  }
  largest = over_vector(__reduce_max_sync(~0u, largest), share, shared, [](auto p, auto q) { return max(p, q); });

  const SplitScale scale(split_scale(largest));
  SplitTally tally;
  std::byte* lines = s.job.plane.lines + vector * s.job.plane.line_count * split_line_bytes;
  for (std::int64_t base = 0; base < padded; base += span) {
    if (padded > span) load(base);
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      const std::int64_t l = base + (g * slot_threads + t) * emit_k;
      if (vector >= x.count || l >= padded) continue;
#pragma unroll
      for (int i = 0; i < emit_k; ++i) {
        const float scaled = scale(v[g][i]);
        tally.see(v[g][i], scaled, s.thresholds);
        v[g][i] = scaled;
      }
      emit<Form>(v[g], lines, l);
    }
  }
  const std::uint32_t mine = __reduce_add_sync(~0u, tally.large) | (__any_sync(~0u, tally.tiny) ? tiny_element : 0u);
  const std::uint32_t word = over_vector(mine, share, shared, [](std::uint32_t p, std::uint32_t q) {
    return ((p & ~tiny_element) + (q & ~tiny_element)) | ((p | q) & tiny_element);
  });
  if (t == 0 && vector < x.count) {
    s.job.plane.unscale[vector] = unscaling(largest);
    s.job.plane.status[vector] = nothing_to_lose(largest) ? static_cast<std::uint32_t>(x.k) : word;
  }
}

// 128 vectors, a part of k: lanes along the vectors, warps along k.
__device__ void maxima_across(const SurveyJob& s, std::int64_t item, std::uint32_t (&shared)[warps][survey_strip]) {
  const FloatVectors& x = s.job.x;
  const std::int64_t strips = (x.count + survey_strip - 1) / survey_strip;
  const std::int64_t first = item % strips * survey_strip, part = item / strips;
  const std::int64_t begin = part * s.part_k, end = min(begin + s.part_k, x.k);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t mine = first + 4 * lane;
  std::uint32_t largest[4] = {};
  const auto see = [&](int i, float v) { largest[i] = max(largest[i], float_word(v) & 0x7fffffffu); };
  if (s.aligned && mine + 4 <= x.count) {
#pragma unroll 8
    for (std::int64_t l = begin + warp; l < end; l += warps) {
      const float4 v = *reinterpret_cast<const float4*>(x.data + mine + l * x.k_stride);
      see(0, v.x), see(1, v.y), see(2, v.z), see(3, v.w);
    }
  } else {
    for (std::int64_t l = begin + warp; l < end; l += warps)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (mine + i < x.count) see(i, x.data[mine + i + l * x.k_stride]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) shared[warp][4 * lane + i] = largest[i];
  __syncthreads();
  const std::int64_t vector = first + threadIdx.x;
  if (threadIdx.x < survey_strip && vector < x.count) {
    std::uint32_t all = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) all = max(all, shared[w][threadIdx.x]);
    s.job.part_maxima[part * x.count + vector] = all;
    if (part == 0) s.job.plane.status[vector] = 0;
  }
  __syncthreads();
}

template <SplitForm Form>
__global__ void __launch_bounds__(threads, 2)
    survey_kernel(const __grid_constant__ SurveyJob first, const __grid_constant__ SurveyJob second,
                  const SplitGate gate) {
  __shared__ std::uint32_t maxima[warps][survey_strip];
  cuda::allow_next_kernel();
  cuda::wait_for_previous_kernels();
  if (gate_closed(gate)) return;
  for (std::int64_t item = blockIdx.x; item < first.items + second.items; item += gridDim.x) {
    const bool is_first = item < first.items;
    const SurveyJob& s = is_first ? first : second;
    const std::int64_t mine = is_first ? item : item - first.items;
    if (s.contiguous)
      split_contiguous<Form>(s, mine, maxima[0]);
    else
      maxima_across(s, mine, maxima);
  }
}

SurveyJob survey_job(SplitForm form, const SplitJob& job) {
  SurveyJob s{job, split_thresholds(form, job.x.k), job.x.k_contiguous(), quads_aligned(job.x), 1, 0, 0};
  if (job.x.k_contiguous()) {
    while (s.warps_per_vector < warps && s.warps_per_vector * 32 * groups * emit_k < job.x.k) s.warps_per_vector *= 2;
    s.items = pieces(job.x.count, warps / s.warps_per_vector);
  } else {
    const int parts = split_part_count(job.x);
    s.part_k = pieces(job.x.k, parts);
    s.items = pieces(job.x.count, survey_strip) * parts;
  }
  return s;
}

template <SplitForm Form>
void launch_survey(const SurveyJob& first, const SurveyJob& second, const SplitGate& gate, int multiprocessors,
                   cudaStream_t stream) {
  std::int64_t grid = first.items + second.items;
  if (gate.before != nullptr)
    grid = std::min<std::int64_t>(grid, 2 * multiprocessors);  // most often it returns at once
  cuda::launch("survey_kernel", survey_kernel<Form>,
               {.grid = static_cast<unsigned>(std::min<std::int64_t>(grid, 1 << 30)),
                .block = threads,
                .overlap_previous = gate.before != nullptr},
               stream, first, second, gate);
}

}  // namespace

int split_part_count(const FloatVectors& x) {
  if (x.k_contiguous()) return 0;
  // About 256 blocks, parts of 32 k at least; few parts, since the second kernel reads the maxima of each.
  const std::int64_t strips = pieces(x.count, survey_strip);
  return static_cast<int>(
      std::clamp<std::int64_t>(pieces(256, strips), 1, std::min<std::int64_t>(32, pieces(x.k, 32))));
}

void survey(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, int multiprocessors,
            cudaStream_t stream) {
  const bool b_first = b.x.k_contiguous();
  const SurveyJob first = survey_job(form, b_first ? b : a), second = survey_job(form, b_first ? a : b);
  switch (form) {
    case SplitForm::half_shifted:
      return launch_survey<SplitForm::half_shifted>(first, second, gate, multiprocessors, stream);
    case SplitForm::half_unshifted:
      return launch_survey<SplitForm::half_unshifted>(first, second, gate, multiprocessors, stream);
    case SplitForm::tf32_shifted:
      return launch_survey<SplitForm::tf32_shifted>(first, second, gate, multiprocessors, stream);
  }
}

}  // namespace vernier
