// What the conversion kernels share: how blocks divide a strip of vectors, how a block goes over its part, and what
// becomes of the findings. Blocks: those that share a strip, ClusterOfBlocks or BlockAlone (without_clusters.cu).
#pragma once

#include <algorithm>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "product/flatness.hpp"
#include "product/plan/gpu_model.hpp"
#include "residue/bound/balance.hpp"
#include "residue/convert/convert.hpp"
#include "residue/convert/quantised.cuh"
#include "residue/convert/residues.cuh"
#include "residue/scale/vector_needs.hpp"

namespace vernier::cuda {

inline constexpr int convert_threads = 256, convert_warps = convert_threads / 32;
inline constexpr int convert_vectors = 16;   // of a strip, or fewer
inline constexpr int convert_k = 128;        // that is turned at a time: 4 elements a lane
inline constexpr int most_strip_blocks = 8;  // of a cluster, on every device

template <class T>
struct ConvertTask {
  DeviceOperand<T> operand[2];
  int strips[2];       // of a product
  int products;        // the grid's second dimension
  std::int64_t pitch;  // of the planes
  int parts;           // blocks that share a strip
  int blocks = 0;      // of a product, which fewer of a launch may take in turns (grid_in_turns)
  std::int64_t chunk;  // elements of k that each takes, a multiple of convert_k
  bool measure, deep;
  ScaleChooser chooser[2];  // of each operand's scales
  ScaleChooser judge;       // of regularity
  Regularity regularity;
  int moduli;
  Gate gate;
  std::byte* meeting = nullptr;  // MemoryMeeting (without_clusters.cu)
  bool beside_previous = false;
};

// ---- elements ------------------------------------------------------------------------------------------------------

template <class T>
__device__ __forceinline__ double finite_or_zero(T x) {
  return magnitude_bits(x) < infinity_bits<T> ? static_cast<double>(x) : 0.0;
}

// ---- a block's part of a strip -------------------------------------------------------------------------------------

template <class T>
struct StripPart {
  const T* data;  // first vector of the strip, first element of k
  std::int64_t vector_stride, k_stride;
  int vectors;              // that exist, at most 16
  std::int64_t begin, end;  // the block's part of k, cut at k
  bool k_contiguous;
  const std::int8_t* balance;  // of the operand
  int balance_sign;

  __device__ __forceinline__ double factor(std::int64_t l) const { return balance_factor(balance_sign * balance[l]); }
};

// Gathers each vector's elements: add(sums, context, element) with context = context_of(vector). found(vector, sums) is
// called by one thread of each warp that saw the vector. One loop alone: of two behind a branch, for elements as they
// are and for balanced ones, ptxas 13.0 lost elements where a thread has a multiple of eight (StatisticsOnGpu sees it).
template <class Sums, class T, class ContextOf, class Add, class Found>
__device__ __forceinline__ void sweep(const StripPart<T>& s, ContextOf context_of, Add add, Found found) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (s.k_contiguous) {
    for (int v = warp; v < s.vectors; v += convert_warps) {
      Sums sums;
      const auto context = context_of(v);
      const T* x = s.data + v * s.vector_stride;
#pragma unroll 8
      for (std::int64_t l = s.begin + lane; l < s.end; l += 32) add(sums, context, x[l]);
#pragma unroll
      for (int d = 16; d > 0; d /= 2) sums.merge(sums.from_lane(d));
      if (lane == 0) found(v, sums);
    }
  } else {
    const int v = threadIdx.x % convert_vectors;
    Sums sums;
    if (v < s.vectors) {
      const auto context = context_of(v);
      const T* x = s.data + v;
#pragma unroll 8
      for (std::int64_t l = s.begin + threadIdx.x / convert_vectors; l < s.end; l += convert_threads / convert_vectors)
        add(sums, context, x[l * s.k_stride]);
    }
    sums.merge(sums.from_lane(16));
    if (lane < 16 && v < s.vectors) found(v, sums);
  }
}

// Which strip some blocks have, and which part of it a block.
template <class T>
struct ConvertStrip {
  const DeviceOperand<T>* operand;
  int side, rank;
  std::int64_t first;       // vector, of those of all products
  std::int64_t padded_end;  // of the block's part in the planes
  std::int64_t plane;       // bytes of all vectors
  StripPart<T> part;

  __device__ explicit ConvertStrip(const ConvertTask<T>& task, int vectors = convert_vectors,
                                   int block = static_cast<int>(blockIdx.x)) {
    const int strip = block / task.parts;
    side = strip < task.strips[0] ? 0 : 1;
    rank = block - strip * task.parts;
    operand = &task.operand[side];
    const Operand<T>& x = operand->x;
    const std::int64_t product = blockIdx.y,
                       vector = static_cast<std::int64_t>(strip - (side == 0 ? 0 : task.strips[0])) * vectors;
    first = product * x.vectors + vector;
    plane = task.products * x.vectors * task.pitch;
    const std::int64_t begin = rank * task.chunk;
    padded_end = min(begin + task.chunk, task.pitch);
    part = {.data = x.at(vector, 0) + product * operand->product_stride,
            .vector_stride = x.vector_stride(),
            .k_stride = x.k_stride(),
            .vectors = static_cast<int>(min(static_cast<std::int64_t>(vectors), x.vectors - vector)),
            .begin = begin,
            .end = min(begin + task.chunk, x.k),
            .k_contiguous = x.k_contiguous,
            .balance = x.balance,
            .balance_sign = x.balance_sign};
  }
};

// ---- results -------------------------------------------------------------------------------------------------------

// What every block knows about the strip after the exchanges.
struct StripResult {
  VectorStatistics statistics[convert_vectors];
  int scale[convert_vectors];
  bool deep;  // some vector needs the deeper thresholds of flatness
};

inline constexpr int depth_bins = deep_depths.back() + 1;
using DepthHistograms = std::uint32_t[convert_vectors][depth_bins];

struct Nothing {
  __device__ void merge(const Nothing&) {}
  __device__ Nothing from_lane(int) const { return {}; }
};

// How many elements of the block's part have which depth below their vector's maximum.
template <class T>
__device__ void count_depths(const StripPart<T>& s, DepthHistograms& counts, const VectorStatistics* statistics) {
  for (int i = threadIdx.x; i < convert_vectors * depth_bins; i += convert_threads)
    counts[i / depth_bins][i % depth_bins] = 0;
  __syncthreads();
  sweep<Nothing>(
      s, [](int v) { return v; },
      [&](Nothing&, int v, T x) {
        const auto bits = magnitude_bits(x);
        if (bits == 0 || bits >= infinity_bits<T>) return;
        const int depth = statistics[v].exponent - exponent_of<T>(bits);
        if (depth < depth_bins) atomicAdd(&counts[v][depth], 1u);
      },
      [](int, const Nothing&) {});
  __syncthreads();
}

template <class T>
__device__ void set_deep_flatness(const StripPart<T>& s, std::int64_t k, const DepthHistograms& counts,
                                  VectorStatistics* statistics) {
  if (threadIdx.x < s.vectors) {
    VectorStatistics& st = statistics[threadIdx.x];
    if (!st.zero() && st.flatness == not_flat) st.flatness = deep_flatness_of(counts[threadIdx.x], k);
  }
  __syncthreads();
}

// The deeper thresholds, for the vectors that need them, by all blocks of a strip; the first one has the result.
template <class T, class Blocks>
__device__ void find_deep_flatness(const StripPart<T>& s, std::int64_t k, DepthHistograms& mine,
                                   VectorStatistics* statistics, const Blocks& blocks) {
  count_depths(s, mine, statistics);
  blocks.sync();
  if (blocks.block_rank() == 0) {
    for (int i = threadIdx.x; i < convert_vectors * depth_bins; i += convert_threads)
      for (unsigned r = 1; r < blocks.num_blocks(); ++r)
        mine[i / depth_bins][i % depth_bins] += blocks.map_shared_rank(&mine[i / depth_bins][i % depth_bins], r)[0];
    __syncthreads();
    set_deep_flatness(s, k, mine, statistics);
  }
  blocks.sync();
}

// By one block, which reads the whole strip again.
template <class T>
__device__ void find_deep_flatness_alone(StripPart<T> s, std::int64_t k, DepthHistograms& counts,
                                         VectorStatistics* statistics) {
  s.begin = 0;
  s.end = k;
  count_depths(s, counts, statistics);
  set_deep_flatness(s, k, counts, statistics);
}

// The first warp of the first block of a strip: results to memory, and the strip's share in what is known about the
// product. The last strip of all says whether the product is regular.
template <class T>
__device__ void publish(const ConvertTask<T>& task, int side, std::int64_t first, int vectors,
                        const VectorStatistics* statistics, const int* scales) {
  const int v = threadIdx.x;
  int allowance = RegularityState::most_allowance, roughness = 0, not_own = 0, nonfinite = 0;
  if (v < vectors) {
    const VectorStatistics& st = statistics[v];
    task.operand[side].statistics[first + v] = st;
    task.operand[side].scales[first + v] = scales[v];
    nonfinite = st.nonfinite ? 1 : 0;
    if (!st.zero()) {
      const VectorNeeds need = task.judge.needs(st);
      allowance = task.judge.flat_allowance_2(need);
      roughness = need.roughness_2;
      not_own = task.judge.proved_by_own_span(need) ? 0 : 1;
    }
  }
  if (task.regularity.state == nullptr) return;
  allowance = __reduce_min_sync(~0u, allowance);
  roughness = __reduce_max_sync(~0u, roughness);
  not_own = __reduce_or_sync(~0u, not_own);
  nonfinite = __reduce_or_sync(~0u, nonfinite);
  if (v != 0) return;
  RegularityState& all = *task.regularity.state;
  atomicMax(&all.shortfall[side], RegularityState::most_allowance - allowance);
  atomicMax(&all.roughness[side], roughness);
  if (not_own != 0) atomicOr(&all.some_not_own[side], 1);
  if (nonfinite != 0) atomicOr(&all.nonfinite, 1);
  __threadfence();
  if (atomicAdd(&all.strips_done, 1u) + 1 != static_cast<unsigned>((task.strips[0] + task.strips[1]) * task.products))
    return;
  __threadfence();
  volatile RegularityState& found = all;
  const auto stands = [&](int x) {
    return RegularityState::most_allowance - found.shortfall[x] >= found.roughness[1 - x];
  };
  const bool flat = stands(0) && stands(1);
  const bool own = found.some_not_own[0] == 0 && found.some_not_own[1] == 0;
  const bool regular = found.nonfinite == 0 && (!task.judge.rule().componentwise || flat || own);
  *task.regularity.is_irregular = regular ? 0 : 1;
  all = RegularityState{};
  if (task.regularity.answer.word == nullptr) return;
  __threadfence_system();
  task.regularity.answer.give(regular);
}

template <class T>
union StripBuffer {
  T turned[convert_vectors][convert_k + 1];
  DepthHistograms depths;
};

// ---- host side: what a launch is told ------------------------------------------------------------------------------

inline constexpr unsigned blocks_in_turns = 4 * h200_multiprocessors;  // at once

template <class T>
std::int64_t strips_of(const DeviceOperand<T>& operand) {
  return divide_up(operand.x.vectors, convert_vectors);
}

template <int Words>
DigitReductions<Words> digit_reductions(const ConversionForm& form) {
  DigitReductions<Words> reductions{};
  for (int q = 0; q < form.moduli; ++q) reductions.of[q] = digit_reduction<Words>(modulus_of(form.list, q), form.form);
  return reductions;
}

// Blocks side by side share strips; those of each product are a row of the grid.
template <class T>
dim3 conversion_grid(const ConvertTask<T>& task) {
  return dim3(static_cast<unsigned>((task.strips[0] + task.strips[1]) * task.parts),
              static_cast<unsigned>(task.products));
}

// The grid of a kernel whose blocks take turns: small behind a gate that is mostly closed, which costs the start of its
// blocks.
template <class T>
dim3 grid_in_turns(ConvertTask<T>& task, bool seldom) {
  dim3 grid = conversion_grid(task);
  task.blocks = static_cast<int>(grid.x);
  if (task.gate.word != nullptr && seldom) grid.x = std::min(grid.x, blocks_in_turns);
  return grid;
}

// What is asked for; parts and chunk are the launch's own.
template <class T>
struct Conversion {
  const DeviceOperand<T>&a, &b;
  bool measure = false;
  ScalingRule rule{};
  const ConversionForm& form;
  Regularity regularity{};
  Gate gate{};

  ScaleChooser chooser_of(const DeviceOperand<T>& x) const {
    ScalingRule own = rule;
    own.twice_norm_bits_16 += x.norm_share_32;
    return {own, x.x.k};
  }

  ConvertTask<T> task() const {
    return {.operand = {a, b},
            .strips = {static_cast<int>(strips_of(a)), static_cast<int>(strips_of(b))},
            .products = form.products,
            .pitch = device_pitch(a.x.k),
            .parts = 1,
            .blocks = 0,
            .chunk = 0,
            .measure = measure,
            .deep = form.deep,
            .chooser = {chooser_of(a), chooser_of(b)},
            .judge = ScaleChooser(regularity.by_own_rule ? regularity.rule : rule, a.x.k),
            .regularity = regularity,
            .moduli = form.moduli,
            .gate = gate,
            .beside_previous = form.beside_previous};
  }
};

// By kernels of compute capability 8.0, which later GPUs run too.
template <class T>
void convert_without_clusters(const Conversion<T>& conversion, cudaStream_t stream);

}  // namespace vernier::cuda
