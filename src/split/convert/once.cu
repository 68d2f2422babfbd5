// Both operands split in one kernel, for any k. Of vectors that lie across memory a cluster of blocks takes a strip,
// each block a part of k in shared memory; the maxima meet over the cluster. Up to what a cluster holds (k = 16384;
// before 9.0, where a block is alone, 1024) elements are read once, beyond twice. All come by asynchronous copies: 40
// registers a thread let three blocks share a multiprocessor, so that some load while others store (n = 4096, A: 48 us;
// two blocks with loads through registers: 60). Products of a batch are the second index of the grid.
#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "split/convert/contiguous.cuh"
#include "split/convert/strips.cuh"

namespace vernier::cuda {
namespace {

constexpr int wide_strip = 32, narrow_strip = 16;           // vectors
constexpr int shortest_wide = 1025, longest_wide = 8192;    // k; others take narrow strips where these fit
constexpr int part_elements = 16384, largest_cluster = 16;  // of a block; in blocks

// Elements of a strip in shared memory lie side by side as in memory. A gap of 8 words after every emit_k of k lets
// quads come in and columns go out without two of them in one bank.
template <SplitForm Form, int Strip>
constexpr int tile_words(int k) {
  return k * Strip + k / emit_k<Form> * 8;
}

// The blocks that share a strip.
struct Team {
#if __CUDA_ARCH__ >= 900
  static __device__ int size() { return static_cast<int>(__clusterSizeInBlocks()); }
  static __device__ int rank() { return cluster_rank(); }
  static __device__ void arrive() { cluster_arrive(); }
  static __device__ void wait() { cluster_wait(); }
  static __device__ std::uint32_t* in_block(std::uint32_t* mine, int rank) {
    return static_cast<std::uint32_t*>(__cluster_map_shared_rank(mine, rank));
  }
#else
  static __device__ int size() { return 1; }
  static __device__ int rank() { return 0; }
  static __device__ void arrive() {}
  static __device__ void wait() { __syncthreads(); }
  static __device__ std::uint32_t* in_block(std::uint32_t* mine, int) { return mine; }
#endif
  static __device__ void sync() { arrive(), wait(); }
};

struct Meeting {
  std::uint32_t part[split_warps][wide_strip];
  std::uint32_t largest[wide_strip];                  // of the whole vectors
  std::uint32_t large[wide_strip], tiny[wide_strip];  // the same, in block 0
};

// [begin, end) of k into shared memory; returns the maxima of each thread's four vectors.
template <SplitForm Form, int Strip>
__device__ __forceinline__ float4 load_strip(const StripJob& s, const StripPlace& place, int begin, int end,
                                             float* tile) {
  constexpr int lanes = Strip / 4, rows = split_threads / lanes;
  constexpr int advance = tile_words<Form, Strip>(rows);
  const FloatVectors& x = s.job.x;
  const int r = threadIdx.x % lanes * 4, row = threadIdx.x / lanes, k = static_cast<int>(x.k);
  const float* from = place.data + r + (begin + row) * x.k_stride;
  float* const mine = tile + tile_words<Form, Strip>(row) + r;
  const std::int64_t step = rows * x.k_stride;
  std::uint32_t to = shared_address(mine);
  int l = begin + row;
  if (s.aligned && place.vectors == Strip) {
#pragma unroll 4
    for (; l < min(end, k); l += rows, from += step, to += 4 * advance) copy_16_bytes(to, from);
  }
  for (; l < end; l += rows, from += step, to += 4 * advance)
    for (int i = 0; i < 4; ++i) {
      const bool exists = l < k && r + i < place.vectors;
      copy_word_async(to + 4 * i, exists ? from + i : s.job.x.data, exists);
    }
  wait_for_copies();
  float4 largest{};
  const float* v = mine;
#pragma unroll 4
  for (l = begin + row; l < end; l += rows, v += advance) {
    const float4 q = *reinterpret_cast<const float4*>(v);
    largest.x = larger_magnitude(largest.x, q.x), largest.y = larger_magnitude(largest.y, q.y);
    largest.z = larger_magnitude(largest.z, q.z), largest.w = larger_magnitude(largest.w, q.w);
  }
  return largest;
}

// Every block of the team learns the largest element of every vector. Meeting::largest is zero everywhere before.
template <int Strip>
__device__ __forceinline__ void meet(const float4& largest, Meeting& m) {
  const std::uint32_t mine[4] = {float_word(largest.x), float_word(largest.y), float_word(largest.z),
                                 float_word(largest.w)};
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t v = mine[i];
    for (int offset = Strip / 4; offset < 32; offset *= 2) v = max(v, __shfl_xor_sync(~0u, v, offset));
    if (lane < Strip / 4) m.part[warp][4 * lane + i] = v;
  }
  __syncthreads();
  const int vector = threadIdx.x % Strip, rank = threadIdx.x / Strip;
  Team::wait();
  if (rank < Team::size()) {
    std::uint32_t v = 0;
#pragma unroll
    for (int w = 0; w < split_warps; ++w) v = max(v, m.part[w][vector]);
    atomicMax(Team::in_block(m.largest + vector, rank), v);
  }
  Team::sync();
}

// [begin, end) of k. A warp takes eight vectors; four lanes share each, a line at a time.
template <SplitForm Form, int Strip>
__device__ __forceinline__ void emit_strip(const StripJob& s, const StripPlace& place, int begin, int end, bool counted,
                                           float up, const float* tile, Meeting& m) {
  constexpr int groups = Strip / 8, run = emit_k<Form>, step = split_warps / groups * step_k<Form>;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp % groups * 8 + lane / 4, quarter = lane % 4;
  const std::int64_t vector = place.first + row;
  const bool exists = row < place.vectors;
  const int exponent = split_scale(m.largest[row]);
  const SplitLimits limits(s.thresholds, exponent);
  SplitTally tally;
  with_scale(exponent, [&](auto scaled) {
    if (!exists) return;
    int l = warp / groups * step_k<Form> + quarter * run;
    const float* from = tile + tile_words<Form, Strip>(l) + row;
    std::byte* to =
        s.job.plane.lines + vector * s.job.plane.line_count * split_line_bytes + place_in_lines<Form>(begin + l);
    for (; begin + l < end;
         l += step, from += tile_words<Form, Strip>(step), to += step / step_k<Form> * step_bytes<Form>) {
      float v[run];
#pragma unroll
      for (int i = 0; i < run; ++i) v[i] = from[i * Strip];
      if (counted)
#pragma unroll
        for (const float x : v) tally.see(x, limits);
#pragma unroll
      for (float& x : v) x = scaled(x);
      emit<Form>(v, to, up);
    }
  });
  if (!counted) return;
  std::uint32_t large = tally.large, least = tally.least;
#pragma unroll
  for (int offset = 1; offset < 4; offset *= 2) {
    large += __shfl_xor_sync(~0u, large, offset);
    least = min(least, __shfl_xor_sync(~0u, least, offset));
  }
  if (quarter != 0 || !exists) return;
  if (large != 0) atomicAdd(Team::in_block(m.large + row, 0), large);
  if (least < limits.tiny) atomicOr(Team::in_block(m.tiny + row, 0), tiny_element);
}

// Twice: the blocks read their elements once more, since they hold less than all of them.
template <SplitForm Form, int Strip, bool Twice>
__device__ __forceinline__ void split_strip(const StripJob& s, std::int64_t product, int block, int part_k,
                                            bool counted, float up, float* tile, Meeting& m) {
  const int blocks = Team::size(), rank = Team::rank();
  if (threadIdx.x < Strip) m.largest[threadIdx.x] = m.large[threadIdx.x] = m.tiny[threadIdx.x] = 0;
  Team::arrive();
  const StripPlace place(s, product, static_cast<std::int64_t>(block / blocks) * Strip, Strip);
  const int padded = static_cast<int>(padded_k<Form>(s.job.plane));
  if constexpr (Twice) {
    const int first = rank * part_k, span = blocks * part_k;
    const auto load = [&](int begin) {
      return load_strip<Form, Strip>(s, place, begin, min(begin + part_k, padded), tile);
    };
    float4 largest{};
    for (int begin = first; begin < padded; begin += span) {
      const float4 q = load(begin);
      largest.x = larger_magnitude(largest.x, q.x), largest.y = larger_magnitude(largest.y, q.y);
      largest.z = larger_magnitude(largest.z, q.z), largest.w = larger_magnitude(largest.w, q.w);
    }
    meet<Strip>(largest, m);
    for (int begin = first; begin < padded; begin += span) {
      (void)load(begin);
      __syncthreads();
      emit_strip<Form, Strip>(s, place, begin, min(begin + part_k, padded), counted, up, tile, m);
      __syncthreads();
    }
  } else {
    const int begin = rank * part_k, end = min(begin + part_k, padded);
    meet<Strip>(load_strip<Form, Strip>(s, place, begin, end, tile), m);
    emit_strip<Form, Strip>(s, place, begin, end, counted, up, tile, m);
  }
  if (counted)
    Team::sync();
  else
    __syncthreads();
  if (rank == 0 && threadIdx.x < place.vectors)
    describe_vector(s.job, place.first + threadIdx.x, m.largest[threadIdx.x],
                    m.large[threadIdx.x] | m.tiny[threadIdx.x]);
}

template <SplitForm Form, int Strip, bool Twice>
__global__ void __launch_bounds__(split_threads, 3)
    split_once_kernel(const __grid_constant__ TwoJobs<ContiguousJob> contiguous,
                      const __grid_constant__ TwoJobs<StripJob> strips, int part_k, float up, const SplitGate gate) {
  extern __shared__ __align__(16) float tile[];
  __shared__ Meeting meeting;
  allow_next_kernel();
  wait_for_previous_kernels();
  if (gate_closed(gate)) return;
#pragma unroll 1  // and the sum anew each time: 8 bytes of spilled registers for 24
  for (std::int64_t item = blockIdx.x; item < strips.blocks() + contiguous.blocks(); item += gridDim.x) {
    std::int64_t block = item;
    if (block < strips.blocks()) {  // a whole cluster, or none of it
      const StripJob& s = strips.take(block);
      split_strip<Form, Strip, Twice>(s, blockIdx.y, static_cast<int>(block), part_k, gate.judged, up, tile, meeting);
    } else {
      block -= strips.blocks();
      const ContiguousJob& s = contiguous.take(block);
      split_contiguous<Form>(s, blockIdx.y, block, gate.judged, up, meeting.part[0], tile);
    }
  }
}

// 16 blocks, where the device runs so large a cluster of them; 8 wherever there are clusters.
template <SplitForm Form>
int cluster_limit() {
  if (!takes_later_kernels()) return 1;
  const LaunchShape largest{.grid = largest_cluster,
                            .block = split_threads,
                            .shared_bytes = tile_words<Form, wide_strip>(part_elements / wide_strip) * sizeof(float),
                            .cluster = largest_cluster};
  const auto* kernel = reinterpret_cast<const void*>(split_once_kernel<Form, wide_strip, false>);
  return resident_clusters("split_once_kernel", kernel, largest) > 0 ? largest_cluster : 8;
}

// Blocks that share a strip: enough for parts that fit three times into a multiprocessor, and for 128 blocks in all.
template <int Strip>
int cluster_size(const SplitJob& job, std::int64_t padded, int limit) {
  int size = 1;
  while (size < limit && size * part_elements / Strip < padded) size *= 2;
  while (size < std::min(limit, 8) && size * divide_up(job.x.count, Strip) < 128 && size * 128 < padded) size *= 2;
  return size;
}

template <SplitForm Form, int Strip, bool Twice>
void launch_split(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  const std::int64_t padded = padded_k<Form>(a.plane), products = a.x.count / a.x.of_product();
  TwoJobs<ContiguousJob> contiguous;
  TwoJobs<StripJob> strips;
  int cluster = 1;
  for (const SplitJob* job : {&a, &b}) {
    const bool is_a = job == &a;
    if (job->x.k_contiguous()) {
      (is_a ? contiguous.first : contiguous.second) = ContiguousJob(form, *job);
    } else {
      (is_a ? strips.first : strips.second) = StripJob(form, *job, Strip);
      cluster = std::max(cluster, cluster_size<Strip>(*job, padded, cluster_limit<Form>()));
    }
  }
  strips.first.blocks *= cluster;
  strips.second.blocks *= cluster;
  const auto part_k = static_cast<int>(
      std::min<std::int64_t>(divide_up(divide_up(padded, cluster), half_step_k) * half_step_k, part_elements / Strip));
  std::int64_t clusters = divide_up(strips.blocks() + contiguous.blocks(), cluster);
  if (gate.before != nullptr)
    clusters = std::clamp<std::int64_t>(256 / cluster / products, 1, clusters);  // most often they just return
  const std::size_t strip_bytes =
      strips.blocks() > 0 ? tile_words<Form, Strip>(part_k) * sizeof(float) : std::size_t{0};
  launch("split_once_kernel", split_once_kernel<Form, Strip, Twice>,
         {.grid = dim3(static_cast<unsigned>(clusters * cluster), static_cast<unsigned>(products)),
          .block = split_threads,
          .shared_bytes = std::max(strip_bytes, contiguous.blocks() > 0 ? contiguous_bytes : std::size_t{0}),
          .cluster = static_cast<unsigned>(cluster),
          .overlap_previous = gate.before != nullptr},
         stream, contiguous, strips, part_k, split_shift(form), gate);
}

}  // namespace

template <SplitForm Form>
void split_once(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  const auto fits = [&](int strip) {
    return padded_k<Form>(a.plane) <= cluster_limit<Form>() * std::int64_t{part_elements / strip};
  };
  if (a.x.k >= shortest_wide && a.x.k <= longest_wide && fits(wide_strip))
    launch_split<Form, wide_strip, false>(form, a, b, gate, stream);
  else if (fits(narrow_strip))
    launch_split<Form, narrow_strip, false>(form, a, b, gate, stream);
  else
    launch_split<Form, wide_strip, true>(form, a, b, gate, stream);
}

template struct Instances<split_once<SplitForm::half_shifted>, split_once<SplitForm::tf32_shifted>,
                          split_once<SplitForm::bf16_three>>;

}  // namespace vernier::cuda
