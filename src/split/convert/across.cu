// Second of two kernels for long vectors: those that lie across memory. A block takes 64 vectors and 128 k: 256 bytes
// of every column of memory come in, whole lines of every vector go out, transposed in shared memory.
#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "split/convert/convert.hpp"
#include "split/convert/emit.cuh"

namespace vernier::cuda {
namespace {

constexpr int threads = 256;
constexpr int strip_vectors = 64, block_k = 128;  // what a block takes
constexpr int pitch = strip_vectors + 1;          // reads and writes of the transposition meet all banks

struct AcrossJob {
  SplitJob job;
  SplitThresholds thresholds;
  bool aligned;
  int parts;
  std::int64_t strips, items;
};

struct Tile {
  float x[block_k * pitch];
  std::uint32_t part[threads];
  std::uint32_t largest[strip_vectors];
};

__device__ __forceinline__ void load_tile(const AcrossJob& s, std::int64_t first, std::int64_t k0, Tile& tile) {
  const FloatVectors& x = s.job.x;
  constexpr int lanes = strip_vectors / 4, columns = threads / lanes;
  const int r = threadIdx.x % lanes * 4;
  const bool whole = s.aligned && first + r + 4 <= x.count;
#pragma unroll
  for (int i = 0; i < block_k / columns; ++i) {
    const int l = threadIdx.x / lanes + i * columns;
    const float* from = x.data + first + r + (k0 + l) * x.k_stride;
    float4 v{};
    if (k0 + l < x.k) {
      if (whole) {
        v = *reinterpret_cast<const float4*>(from);
      } else {
        if (first + r < x.count) v.x = from[0];
        if (first + r + 1 < x.count) v.y = from[1];
        if (first + r + 2 < x.count) v.z = from[2];
        if (first + r + 3 < x.count) v.w = from[3];
      }
    }
    float* to = tile.x + l * pitch + r;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  }
}

// The largest element of each vector of the strip, out of those of its parts.
__device__ __forceinline__ void join_parts(const AcrossJob& s, std::int64_t first, Tile& tile) {
  const std::int64_t vector = first + threadIdx.x % strip_vectors;
  std::uint32_t largest = 0;
  if (vector < s.job.x.count)
    for (int p = threadIdx.x / strip_vectors; p < s.parts; p += threads / strip_vectors)
      largest = max(largest, s.job.part_maxima[p * s.job.x.count + vector]);
  tile.part[threadIdx.x] = largest;
  __syncthreads();
  if (threadIdx.x < strip_vectors) {
    for (int i = threadIdx.x; i < threads; i += strip_vectors) largest = max(largest, tile.part[i]);
    tile.largest[threadIdx.x] = largest;
  }
  __syncthreads();
}

// A warp takes eight vectors; four lanes share each, a line (fp16) or two (tf32) at a time.
template <SplitForm Form>
__device__ __forceinline__ void emit_tile(const AcrossJob& s, std::int64_t first, std::int64_t k0, const Tile& tile) {
  const int row = threadIdx.x / 4, quarter = threadIdx.x % 4;
  const std::int64_t vector = first + row, padded = padded_k<Form>(s.job.plane);
  const std::uint32_t largest = tile.largest[row];
  const int exponent = split_scale(largest);
  const SplitLimits limits(s.thresholds, exponent);
  SplitTally tally;
  with_scale(exponent, [&](auto scaled) {
    if (vector >= s.job.x.count) return;
    std::byte* lines = s.job.plane.lines + vector * s.job.plane.line_count * split_line_bytes;
    constexpr int run = emit_k<Form>;
    for (int l = quarter * run; l < block_k && k0 + l < padded; l += 4 * run) {
      float v[run];
#pragma unroll
      for (int i = 0; i < run; ++i) {
        const float x = tile.x[(l + i) * pitch + row];
        tally.see(x, limits);
        v[i] = scaled(x);
      }
      emit<Form>(v, lines + k0 / step_k<Form> * step_bytes<Form> + place_in_lines<Form>(l));
    }
  });
  int large = tally.large;
  int tiny = tally.tiny(limits);
#pragma unroll
  for (int offset = 1; offset < 4; offset *= 2) {
    large += __shfl_xor_sync(~0u, large, offset);
    tiny |= __shfl_xor_sync(~0u, tiny, offset);
  }
  if (quarter != 0 || vector >= s.job.x.count) return;
  if (k0 == 0) s.job.plane.unscale[vector] = unscaling(largest);
  if (largest == 0 || largest >= 0x7f800000u) {
    if (k0 == 0) atomicAdd(s.job.plane.status + vector, final_status(largest, 0, s.job.x.k));
    return;
  }
  atomicAdd(s.job.plane.status + vector, static_cast<std::uint32_t>(large));
  if (tiny) atomicOr(s.job.plane.status + vector, tiny_element);
}

template <SplitForm Form>
__global__ void __launch_bounds__(threads, 4)
    across_kernel(const __grid_constant__ AcrossJob first, const __grid_constant__ AcrossJob second,
                  const SplitGate gate) {
  __shared__ Tile tile;
  allow_next_kernel();
  wait_for_previous_kernels();
  if (gate_closed(gate)) return;
  const std::int64_t items = first.items + second.items;
  const std::int64_t item = items - 1 - blockIdx.x;  // what the survey read last is still in the cache
  const bool is_first = item < first.items;
  const AcrossJob& s = is_first ? first : second;
  const std::int64_t mine = is_first ? item : item - first.items;
  const std::int64_t vector = mine % s.strips * strip_vectors, k0 = mine / s.strips * block_k;
  load_tile(s, vector, k0, tile);
  join_parts(s, vector, tile);
  emit_tile<Form>(s, vector, k0, tile);
}

template <SplitForm Form>
AcrossJob across_job(const SplitJob& job) {
  if (job.x.k_contiguous()) return {};
  AcrossJob s{job, split_thresholds(Form, job.x.k), quads_aligned(job.x), split_part_count(job.x), 0, 0};
  s.strips = pieces(job.x.count, strip_vectors);
  s.items = s.strips * pieces(padded_k<Form>(job.plane), block_k);
  return s;
}

}  // namespace

template <SplitForm Form>
void split_across(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  const AcrossJob first = across_job<Form>(a), second = across_job<Form>(b);
  const std::int64_t blocks = first.items + second.items;
  if (blocks == 0) return;
  launch("across_kernel", across_kernel<Form>,
         {.grid = static_cast<unsigned>(blocks), .block = threads, .overlap_previous = true}, stream, first, second,
         gate);
}

template struct Instances<split_across<SplitForm::half_shifted>, split_across<SplitForm::half_unshifted>,
                          split_across<SplitForm::tf32_shifted>, split_across<SplitForm::tf32_unshifted>,
                          split_across<SplitForm::bf16_three>>;

}  // namespace vernier::cuda
