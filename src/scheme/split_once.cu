// Both operands split in one kernel that reads each element once, for k up to 16384. Of vectors that lie across memory
// a cluster of blocks takes a strip, each block a part of k in shared memory; the maxima meet over the cluster. Up to
// k = 2048 strips are narrow, and one block takes all of k. Products of a batch are the second index of the grid.
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

constexpr int wide_strip = 32, narrow_strip = 8;           // vectors
constexpr int largest_part = 1024, longest_narrow = 2048;  // k of a block
constexpr int largest_cluster = 16;                        // in blocks

template <int Strip>
constexpr bool clustered = Strip == wide_strip;

// Elements of a strip in shared memory lie side by side as in memory. A gap of 8 words after every emit_k of k lets
// quads come in and columns go out without two of them in one bank.
template <SplitForm Form, int Strip>
constexpr int tile_words(int k) {
  return k * Strip + k / emit_k<Form> * 8;
}

struct StripJob {
  SplitJob job;
  SplitThresholds thresholds;
  bool aligned = false;
  std::int64_t vectors = 0, blocks = 0;  // of a product
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
  std::uint32_t part[split_warps][wide_strip];
  std::uint32_t largest[wide_strip], large[wide_strip],
      tiny[wide_strip];  // of the whole vectors; the last two in block 0
};

// Vectors side by side, of one product.
struct StripPlace {
  const float* data;   // of the first
  std::int64_t first;  // its number
  int vectors;         // that exist

  __device__ __forceinline__ StripPlace(const StripJob& s, std::int64_t product, std::int64_t vector, int size)
      : data(s.job.x.data + product * s.job.x.product_stride + vector),
        first(product * s.vectors + vector),
        vectors(static_cast<int>(min(static_cast<std::int64_t>(size), s.vectors - vector))) {}
};

// [begin, end) of k into shared memory; returns the maxima of each thread's four vectors.
template <SplitForm Form, int Strip>
__device__ __forceinline__ float4 load_strip(const StripJob& s, const StripPlace& place, int begin, int end,
                                             float* tile) {
  constexpr int lanes = Strip / 4, rows = split_threads / lanes, batch = 4;  // loads that are on their way at once
  constexpr int advance = tile_words<Form, Strip>(rows);
  const FloatVectors& x = s.job.x;
  const int r = threadIdx.x % lanes * 4, row = threadIdx.x / lanes, limit = min(end, static_cast<int>(x.k));
  const float* from = place.data + r + (begin + row) * x.k_stride;
  float* to = tile + tile_words<Form, Strip>(row) + r;
  const std::int64_t step = rows * x.k_stride;
  float4 largest{};
  const auto put = [&](const float4& v) {
    *reinterpret_cast<float4*>(to) = v;
    largest.x = larger_magnitude(largest.x, v.x), largest.y = larger_magnitude(largest.y, v.y);
    largest.z = larger_magnitude(largest.z, v.z), largest.w = larger_magnitude(largest.w, v.w);
  };
  if (s.aligned && place.vectors == Strip) {
    for (int l = begin + row; l < end; l += batch * rows) {
      float4 v[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i, from += step)
        v[i] = l + i * rows < limit ? *reinterpret_cast<const float4*>(from) : float4{};
#pragma unroll
      for (int i = 0; i < batch; ++i, to += advance)
        if (l + i * rows < end) put(v[i]);
    }
  } else {
    for (int l = begin + row; l < end; l += rows, from += step, to += advance) {
      const auto element = [&](int i) { return l < limit && r + i < place.vectors ? from[i] : 0.0f; };
      put({element(0), element(1), element(2), element(3)});
    }
  }
  return largest;
}

// Every block of the cluster learns the largest element of every vector. Meeting::largest is zero everywhere before.
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
  const auto over_warps = [&] {
    std::uint32_t v = 0;
#pragma unroll
    for (int w = 0; w < split_warps; ++w) v = max(v, m.part[w][vector]);
    return v;
  };
  if constexpr (!clustered<Strip>) {
    if (rank == 0) m.largest[vector] = over_warps();
    __syncthreads();
  } else {
    cg::cluster_group cluster = cg::this_cluster();
    cuda::cluster_wait();
    if (rank < static_cast<int>(cluster.num_blocks()))
      atomicMax(cluster.map_shared_rank(m.largest + vector, rank), over_warps());
    cluster.sync();
  }
}

// A warp takes eight vectors; four lanes share each, a line at a time.
template <SplitForm Form, int Strip>
__device__ __forceinline__ void emit_strip(const StripJob& s, const StripPlace& place, int begin, int end,
                                           const float* tile, Meeting& m) {
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
      for (int i = 0; i < run; ++i) {
        const float x = from[i * Strip];
        tally.see(x, limits);
        v[i] = scaled(x);
      }
      emit<Form>(v, to);
    }
  });
  std::uint32_t large = tally.large, least = tally.least;
#pragma unroll
  for (int offset = 1; offset < 4; offset *= 2) {
    large += __shfl_xor_sync(~0u, large, offset);
    least = min(least, __shfl_xor_sync(~0u, least, offset));
  }
  if (quarter != 0 || !exists) return;
  cg::cluster_group cluster = cg::this_cluster();
  const auto first_block = [&](std::uint32_t* p) { return clustered<Strip> ? cluster.map_shared_rank(p, 0) : p; };
  if (large != 0) atomicAdd(first_block(m.large + row), large);
  if (least < limits.tiny) atomicOr(first_block(m.tiny + row), tiny_element);
}

template <SplitForm Form, int Strip>
__device__ __forceinline__ void split_strip(const StripJob& s, std::int64_t product, int block, int part_k, float* tile,
                                            Meeting& m) {
  const int blocks = clustered<Strip> ? static_cast<int>(cg::this_cluster().num_blocks()) : 1;
  const int rank = clustered<Strip> ? cuda::cluster_rank() : 0;
  if (threadIdx.x < Strip) m.largest[threadIdx.x] = m.large[threadIdx.x] = m.tiny[threadIdx.x] = 0;
  if constexpr (clustered<Strip>) cuda::cluster_arrive();
  const StripPlace place(s, product, static_cast<std::int64_t>(block / blocks) * Strip, Strip);
  const int padded = static_cast<int>(padded_k<Form>(s.job.plane));
  const int begin = rank * part_k, end = min(begin + part_k, padded);
  meet<Strip>(load_strip<Form, Strip>(s, place, begin, end, tile), m);
  emit_strip<Form, Strip>(s, place, begin, end, tile, m);
  if constexpr (clustered<Strip>)
    cg::this_cluster().sync();
  else
    __syncthreads();
  if (rank == 0 && threadIdx.x < place.vectors) {
    const std::int64_t vector = place.first + threadIdx.x;
    const std::uint32_t all = m.largest[threadIdx.x];
    s.job.plane.unscale[vector] = unscaling(all);
    s.job.plane.status[vector] = final_status(all, m.large[threadIdx.x] | m.tiny[threadIdx.x], s.job.x.k);
  }
  if constexpr (!clustered<Strip>) __syncthreads();
}

template <SplitForm Form, int Strip>
__global__ void __launch_bounds__(split_threads, 2)
    split_once_kernel(const __grid_constant__ TwoJobs<ContiguousJob> contiguous,
                      const __grid_constant__ TwoJobs<StripJob> strips, int part_k, const SplitGate gate) {
  extern __shared__ __align__(16) float tile[];
  __shared__ Meeting meeting;
  cuda::allow_next_kernel();
  cuda::wait_for_previous_kernels();
  if (gate_closed(gate)) return;
  const std::int64_t blocks = strips.blocks() + contiguous.blocks();
  for (std::int64_t item = blockIdx.x; item < blocks; item += gridDim.x) {
    std::int64_t block = item;
    if (block < strips.blocks()) {  // a whole cluster, or none of it
      const StripJob& s = strips.take(block);
      split_strip<Form, Strip>(s, blockIdx.y, static_cast<int>(block), part_k, tile, meeting);
    } else {
      block -= strips.blocks();
      const ContiguousJob& s = contiguous.take(block);
      split_contiguous<Form>(s, blockIdx.y, block, meeting.part[0]);
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
    limit = cuda::resident_clusters("split_once_kernel", split_once_kernel<Form, wide_strip>,
                                    {.grid = largest_cluster,
                                     .block = split_threads,
                                     .shared_bytes = tile_words<Form, wide_strip>(largest_part) * sizeof(float),
                                     .cluster = largest_cluster}) > 0
                ? largest_cluster
                : 8;
  return limit;
}

// Blocks that share a strip: enough for parts that fit twice into a multiprocessor, and for 128 blocks in all.
int cluster_size(const SplitJob& job, std::int64_t padded, int limit) {
  int size = 1;
  while (size < limit && size * 512 < padded) size *= 2;
  while (size < 8 && size * pieces(job.x.count, wide_strip) < 128 && size * 128 < padded) size *= 2;
  return size;
}

template <SplitForm Form, int Strip>
void launch_split(const TwoJobs<ContiguousJob>& contiguous, TwoJobs<StripJob> strips, int cluster, std::int64_t padded,
                  std::int64_t products, const SplitGate& gate, cudaStream_t stream) {
  strips.first.blocks *= cluster;
  strips.second.blocks *= cluster;
  const auto part_k = static_cast<int>(pieces(pieces(padded, cluster), half_step_k) * half_step_k);
  std::int64_t clusters = pieces(strips.blocks() + contiguous.blocks(), cluster);
  if (gate.before != nullptr)
    clusters = std::clamp<std::int64_t>(256 / cluster / products, 1, clusters);  // most often they just return
  const std::size_t bytes = static_cast<std::size_t>(tile_words<Form, Strip>(part_k)) * sizeof(float);
  cuda::launch("split_once_kernel", split_once_kernel<Form, Strip>,
               {.grid = dim3(static_cast<unsigned>(clusters * cluster), static_cast<unsigned>(products)),
                .block = split_threads,
                .shared_bytes = strips.blocks() > 0 ? bytes : 0,
                .cluster = static_cast<unsigned>(cluster),
                .overlap_previous = gate.before != nullptr},
               stream, contiguous, strips, part_k, gate);
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
  const std::int64_t padded = padded_k<Form>(a.plane);
  const std::int64_t products = a.x.count / a.x.of_product();
  const bool narrow = padded <= longest_narrow;
  TwoJobs<ContiguousJob> contiguous;
  TwoJobs<StripJob> strips;
  int cluster = 1;
  for (const SplitJob* job : {&a, &b}) {
    const bool is_a = job == &a;
    if (job->x.k_contiguous()) {
      (is_a ? contiguous.first : contiguous.second) = ContiguousJob(Form, *job);
    } else {
      const std::int64_t vectors = job->x.of_product();
      (is_a ? strips.first : strips.second) = StripJob{*job, split_thresholds(Form, job->x.k), quads_aligned(job->x),
                                                       vectors, pieces(vectors, narrow ? narrow_strip : wide_strip)};
      if (!narrow) cluster = std::max(cluster, cluster_size(*job, padded, cluster_limit<Form>()));
    }
  }
  if (narrow)
    launch_split<Form, narrow_strip>(contiguous, strips, cluster, padded, products, gate, stream);
  else
    launch_split<Form, wide_strip>(contiguous, strips, cluster, padded, products, gate, stream);
}

template bool split_once_serves<SplitForm::half_shifted>(const SplitJob&, const SplitJob&);
template bool split_once_serves<SplitForm::half_unshifted>(const SplitJob&, const SplitJob&);
template bool split_once_serves<SplitForm::tf32_shifted>(const SplitJob&, const SplitJob&);
template bool split_once_serves<SplitForm::tf32_unshifted>(const SplitJob&, const SplitJob&);
template bool split_once_serves<SplitForm::bf16_three>(const SplitJob&, const SplitJob&);
template void split_once<SplitForm::half_shifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);
template void split_once<SplitForm::half_unshifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);
template void split_once<SplitForm::tf32_shifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);
template void split_once<SplitForm::tf32_unshifted>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);
template void split_once<SplitForm::bf16_three>(const SplitJob&, const SplitJob&, const SplitGate&, cudaStream_t);

}  // namespace vernier
