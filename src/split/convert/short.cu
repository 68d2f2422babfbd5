// Both operands of a product of short k, up to 1024: a block takes a strip of eight vectors and holds them in
// registers, 32 elements a thread, so that nothing but maxima and counts passes through shared memory. All blocks run
// at once, and end at once (n = 1024: 4.3 us; clusters that share strips, some two to a multiprocessor: 6.1). Products
// of a batch are the second index of the grid.
#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "split/convert/strips.cuh"

namespace vernier::cuda {
namespace {

constexpr int strip = 8;                 // vectors
constexpr int run_k = 8, run_count = 4;  // consecutive k; of a thread
constexpr int threads_at_once = 1024;    // of a multiprocessor

constexpr int longest_k(int threads) { return threads * run_count * run_k / strip; }

// What the warps of a block found, vector by vector.
struct WarpsMeeting {
  std::uint32_t largest[8][strip], status[8][strip];
};

template <SplitForm Form>
__device__ __forceinline__ void emit_run(float (&v)[run_k], const SplitScale& scaled, float up, std::byte* lines,
                                         int l) {
#pragma unroll
  for (float& x : v) x = scaled(x);
  emit<Form>(v, lines + place_in_lines<Form>(l), up);
}

__device__ __forceinline__ std::uint32_t largest_of(const float (&v)[run_k]) {
  float seen = 0;
#pragma unroll
  for (const float x : v) seen = larger_magnitude(seen, x);
  return float_word(seen);
}

__device__ __forceinline__ void count(const float (&v)[run_k], const SplitLimits& limits, SplitTally& tally) {
#pragma unroll
  for (const float x : v) tally.see(x, limits);
}

// One run of four neighbours that lie across memory, from vector `first` of the strip and from l on.
__device__ __forceinline__ void load_across(const StripJob& s, const StripPlace& place, int first, int l,
                                            float (&v)[run_count][run_k]) {
  const FloatVectors& x = s.job.x;
  const int here = static_cast<int>(x.k) - l;
  const float* from = place.data + first + l * x.k_stride;
#pragma unroll
  for (int j = 0; j < run_k; ++j, from += x.k_stride) {
    if (s.aligned && place.vectors == strip) {
      const float4 q = j < here ? __ldg(reinterpret_cast<const float4*>(from)) : float4{};
      v[0][j] = q.x, v[1][j] = q.y, v[2][j] = q.z, v[3][j] = q.w;
    } else {
#pragma unroll
      for (int i = 0; i < run_count; ++i) v[i][j] = j < here && first + i < place.vectors ? __ldg(from + i) : 0;
    }
  }
}

// Vectors that lie across memory: a thread takes one run of four neighbours.
template <SplitForm Form, int Threads>
__device__ __forceinline__ void split_across_memory(const StripJob& s, const StripPlace& place, bool counted, float up,
                                                    WarpsMeeting& m) {
  constexpr int warps = Threads / 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int first = threadIdx.x % 2 * run_count, l = threadIdx.x / 2 * run_k;
  float v[run_count][run_k];
  load_across(s, place, first, l, v);
  std::uint32_t largest[run_count];
#pragma unroll
  for (int i = 0; i < run_count; ++i) {
    largest[i] = largest_of(v[i]);
#pragma unroll
    for (int offset = 2; offset < 32; offset *= 2)
      largest[i] = max(largest[i], __shfl_xor_sync(~0u, largest[i], offset));
    if (lane < 2) m.largest[warp][first + i] = largest[i];
  }
  __syncthreads();
  const int padded = static_cast<int>(padded_k<Form>(s.job.plane));
  const std::int64_t pitch = s.job.plane.line_count * split_line_bytes;
  std::byte* lines = s.job.plane.lines + (place.first + first) * pitch;
#pragma unroll
  for (int i = 0; i < run_count; ++i, lines += pitch) {
#pragma unroll
    for (int w = 0; w < warps; ++w) largest[i] = max(largest[i], m.largest[w][first + i]);
    const int exponent = split_scale(largest[i]);
    if (counted) {
      const SplitLimits limits(s.thresholds, exponent);
      SplitTally tally;
      count(v[i], limits, tally);
      std::uint32_t status = static_cast<std::uint32_t>(tally.large) | (tally.tiny(limits) ? tiny_element : 0u);
#pragma unroll
      for (int offset = 2; offset < 32; offset *= 2) status = join_status(status, __shfl_xor_sync(~0u, status, offset));
      if (lane < 2) m.status[warp][first + i] = status;
    }
    if (l < padded && first + i < place.vectors) emit_run<Form>(v[i], SplitScale(exponent), up, lines, l);
  }
  if (counted) __syncthreads();
  if (threadIdx.x >= place.vectors) return;
  std::uint32_t all = 0, status = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    all = max(all, m.largest[w][threadIdx.x]);
    if (counted) status = join_status(status, m.status[w][threadIdx.x]);
  }
  describe_vector(s.job, place.first + threadIdx.x, all, status);
}

// A run of a vector that is contiguous in memory; `here` elements of it exist.
__device__ __forceinline__ void load_along(const float* from, int here, bool aligned, float (&v)[run_k]) {
#pragma unroll
  for (int j = 0; j < run_k; j += 4) {
    float4 q{};
    if (aligned && j + 4 <= here) {
      q = __ldg(reinterpret_cast<const float4*>(from + j));
    } else {
      if (j < here) q.x = __ldg(from + j);
      if (j + 1 < here) q.y = __ldg(from + j + 1);
      if (j + 2 < here) q.z = __ldg(from + j + 2);
      if (j + 3 < here) q.w = __ldg(from + j + 3);
    }
    v[j] = q.x, v[j + 1] = q.y, v[j + 2] = q.z, v[j + 3] = q.w;
  }
}

// Vectors that are contiguous in memory: a warp takes one, or several short ones.
template <SplitForm Form, int Threads>
__device__ __forceinline__ void split_along_memory(const StripJob& s, const StripPlace& place, bool counted, float up) {
  constexpr int vectors = strip * 32 / Threads, runs = run_count / vectors;
  const FloatVectors& x = s.job.x;
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * vectors;
  const auto place_of = [&](int i) { return (i * 32 + lane) * run_k; };
  float v[vectors][runs][run_k];
#pragma unroll
  for (int u = 0; u < vectors; ++u)
#pragma unroll
    for (int i = 0; i < runs; ++i)
      load_along(place.data + (first + u) * x.vector_stride + place_of(i),
                 first + u < place.vectors ? static_cast<int>(x.k) - place_of(i) : 0, s.aligned, v[u][i]);
  const int padded = static_cast<int>(padded_k<Form>(s.job.plane));
#pragma unroll
  for (int u = 0; u < vectors; ++u) {
    std::uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < runs; ++i) largest = max(largest, largest_of(v[u][i]));
    largest = __reduce_max_sync(~0u, largest);
    const int exponent = split_scale(largest);
    const SplitLimits limits(s.thresholds, exponent);
    SplitTally tally;
    const std::int64_t vector = place.first + first + u;
    const bool exists = first + u < place.vectors;
    std::byte* lines = s.job.plane.lines + vector * s.job.plane.line_count * split_line_bytes;
#pragma unroll
    for (int i = 0; i < runs; ++i) {
      if (counted) count(v[u][i], limits, tally);
      if (exists && place_of(i) < padded) emit_run<Form>(v[u][i], SplitScale(exponent), up, lines, place_of(i));
    }
    const std::uint32_t status =
        __reduce_add_sync(~0u, tally.large) | (__any_sync(~0u, tally.tiny(limits)) ? tiny_element : 0u);
    if (exists && lane == 0) describe_vector(s.job, vector, largest, status);
  }
}

template <SplitForm Form, int Threads>
__global__ void __launch_bounds__(Threads, threads_at_once / Threads)
    split_short_kernel(const __grid_constant__ TwoJobs<StripJob> strips, float up, const SplitGate gate) {
  __shared__ WarpsMeeting meeting;
  allow_next_kernel();
  wait_for_previous_kernels();
  if (gate_closed(gate)) return;
  std::int64_t block = blockIdx.x;
  const StripJob& s = strips.take(block);
  const StripPlace place(s, blockIdx.y, block * strip, strip);
  if (s.job.x.k_stride == 1)
    split_along_memory<Form, Threads>(s, place, gate.judged, up);
  else
    split_across_memory<Form, Threads>(s, place, gate.judged, up, meeting);
}

template <SplitForm Form, int Threads>
void launch_split(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  const TwoJobs<StripJob> strips{{form, a, strip}, {form, b, strip}};
  const std::int64_t products = a.x.count / a.x.of_product();
  launch("split_short_kernel", split_short_kernel<Form, Threads>,
         {.grid = dim3(static_cast<unsigned>(strips.blocks()), static_cast<unsigned>(products)),
          .block = Threads,
          .overlap_previous = gate.before != nullptr},
         stream, strips, split_shift(form), gate);
}

int threads_of(std::int64_t k) { return k <= longest_k(64) ? 64 : k <= longest_k(128) ? 128 : 256; }

}  // namespace

bool split_short_serves(const SplitJob& a, const SplitJob& b) {
  const std::int64_t products = a.x.count / a.x.of_product();
  const std::int64_t strips = products * (divide_up(a.x.of_product(), strip) + divide_up(b.x.of_product(), strip));
  return a.x.k <= longest_k(256) &&
         strips * threads_of(a.x.k) <= std::int64_t{threads_at_once} * current_device().multiprocessors;
}

template <SplitForm Form>
void split_short(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  switch (threads_of(a.x.k)) {
    case 64:
      return launch_split<Form, 64>(form, a, b, gate, stream);
    case 128:
      return launch_split<Form, 128>(form, a, b, gate, stream);
    default:
      return launch_split<Form, 256>(form, a, b, gate, stream);
  }
}

template struct Instances<split_short<SplitForm::half_shifted>, split_short<SplitForm::bf16_three>>;

}  // namespace vernier::cuda
