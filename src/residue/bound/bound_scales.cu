#include <algorithm>

#include "cuda/launch.hpp"
#include "number/bound_byte.hpp"
#include "product/plan/gpu_model.hpp"
#include "residue/bound/bound_vectors.cuh"
#include "residue/convert/digits.hpp"

namespace vernier::cuda {
namespace {

constexpr int scale_threads = bound_vector_threads;
constexpr int top_of_zero = -(1 << 14);  // far below those of all others

__device__ __forceinline__ void raise(int& largest, int x) {
  if (*static_cast<volatile int*>(&largest) < x) atomicMax(&largest, x);
}

__global__ void __launch_bounds__(scale_threads) weigh_vectors(const __grid_constant__ BoundTask task) {
  const VectorPlace place(task, true);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  if (task.judged < 0 && blockIdx.x == 0 && threadIdx.x == 0) *task.found = {.largest_16 = 2 * top_of_zero};
  if (!place.there) return;
  const BoundRule rule = rule_of(task);
  const BoundOperand& x = task.operand[place.side];
  const std::int64_t v = place.vector;
  const VectorStatistics s = v < x.vectors ? x.statistics[v] : VectorStatistics{};
  const DeviceBoundSide& side = x.bounds.side;
  side.inverse_weights[v] = s.zero() ? 0 : static_cast<float>(1 / bound_weight(rule, task.k, s));
  side.inverse_norms[v] = s.zero() ? 0 : static_cast<float>(ldexp(1 / bound_norm(s), -task.product.unit / 2));
  side.zero_shares[v] = bound_zero_share(task.product, s);
  side.minima[v] = __float_as_uint(bound_no_partner);
  if (task.sample.entries == nullptr || task.judged >= 0) return;
  // A warp's vectors are of one side.
  const int lacks = __reduce_max_sync(~0u, s.zero() ? 0 : most_bound_slack - bound_slack(rule, task.k, s));
  if (threadIdx.x % 32 == 0) raise(task.sample.words->shortfall[place.side], lacks);
}

__device__ __forceinline__ int exponent_of(const BoundTask& task, const BoundOperand& x, std::int64_t vector,
                                           const VectorStatistics& s, int slack) {
  return bound_exponent(task.rule, task.product, task.k, s, minimum_of(x, vector), slack);
}

// Bit g: the scale that guess number g + 1 would have is too coarse; it may have the errors of judging_rule(), as far
// as the bound lets it.
__device__ __forceinline__ unsigned guesses_too_coarse(const BoundTask& task, int side, std::int64_t vector,
                                                       const VectorStatistics& s) {
  float minimum = minimum_of(task.operand[side], vector);
  if (task.sample.entries != nullptr && task.rule.rms > 0 && minimum < bound_no_partner) {
    const BoundRule rule = judging_rule(task.rule, __uint_as_float(task.sample.words->native_largest));
    const int slack = min(task.sample.words->slack(0), task.sample.words->slack(1));
    minimum *= static_cast<float>(fmin(rule.rms / task.rule.rms, ldexp(1.0, slack)));
  }
  const int asked = bound_exponent(task.rule, task.product, task.k, s, minimum);
  unsigned coarse = 0;
  for (int g = 0; g < task.guesses.count; ++g)
    if (task.guesses.chooser[g][side].ordinary_exponent(s) < asked) coarse |= 1u << g;
  return coarse;
}

struct SharedSample {
  SharedEntries entries;
  float steps[2][bound_sampled];
  float most_mean, most_of_any;
  int chosen;
};

// A warp: are our errors of the sample smaller than the native product's with scales that are coarser by so many bits?
__device__ bool sample_allows(const BoundTask& task, const SharedSample& sample, int bits) {
  const float rows_coarser = exp2f(static_cast<float>(rows_slack(bits))),
              columns_coarser = exp2f(static_cast<float>(columns_slack(bits)));
  const int lane = threadIdx.x % 32;
  return our_mean_error(sample.entries, sample.steps[0][lane] * rows_coarser,
                        sample.steps[1][lane] * columns_coarser) <= sample.most_mean &&
         bound_largest_error(task.rule, rows_coarser, columns_coarser) <= sample.most_of_any;
}

// A block: bits by which the scales that the minima ask for may be coarser.
__device__ int choose_slack(const BoundTask& task) {
  __shared__ SharedSample sample;
  if (task.sample.entries == nullptr || task.rule.rms == 0) return 0;
  fetch_entries(task, sample.entries);
  if (threadIdx.x == 0) sample.chosen = 0;
  if (threadIdx.x < 2 * bound_sampled) {
    const int side = threadIdx.x / bound_sampled, t = threadIdx.x % bound_sampled;
    const BoundOperand& x = task.operand[side];
    const std::int64_t v = bound_sampled_vector(side, t, x.vectors);
    const VectorStatistics s = x.statistics[v];
    sample.steps[side][t] = bound_sample_step(task.rule, s, exponent_of(task, x, v, s, 0));
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const BoundNativeErrors native = native_errors(sample.entries);
    sample.most_mean = native.most_mean();
    sample.most_of_any = native.most_of_any();
  }
  __syncthreads();
  const int allowed = allowed_slack(task.sample.words->slack(1), task.sample.words->slack(0));
  for (int bits = 1 + static_cast<int>(threadIdx.x) / 32; bits <= allowed; bits += scale_threads / 32)
    if (sample_allows(task, sample, bits) && threadIdx.x % 32 == 0) atomicMax(&sample.chosen, bits);
  __syncthreads();
  return sample.chosen;
}

// A block: the share of all operations whose pieces hold something, from some groups of rows and of columns.
__device__ float filled_share(const BoundTask& task) {
  constexpr int most = 64;
  __shared__ unsigned long long blocks;
  const FilledPieces& filled = task.filled;
  if (!filled.known()) return 1;
  if (threadIdx.x == 0) blocks = 0;
  __syncthreads();
  const auto groups = [&](int s) { return static_cast<int>(piece_groups(task.operand[s].vectors)); };
  const int rows = min(groups(0), most), columns = min(groups(1), most);
  unsigned sum = 0;
  for (int i = threadIdx.x; i < rows * columns; i += scale_threads) {
    const int row = i / columns * groups(0) / rows, column = i % columns * groups(1) / columns;
    for (int w = 0; w < filled.words; ++w)
      sum += __popc(filled.rows[row * filled.words + w] & filled.columns[column * filled.words + w]);
  }
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(&blocks, static_cast<unsigned long long>(sum));
  __syncthreads();
  return static_cast<float>(blocks) /
         (static_cast<float>(rows * columns) * static_cast<float>(divide_up(task.k, piece_k)));
}

// Scales from the minima, and what all vectors say together.
__device__ __forceinline__ void set_exponent(const BoundTask& task, const VectorPlace& place, int slack) {
  const BoundOperand& x = task.operand[place.side];
  const VectorStatistics s = x.statistics[place.vector];
  if (s.nonfinite) atomicAdd(&task.found->nonfinite[place.side], 1);
  if (s.zero()) {
    x.scales[place.vector] = 0;
    x.bounds.tops[place.vector] = top_of_zero;
    return;
  }
  const int em = exponent_of(task, x, place.vector, s, place.side == 0 ? rows_slack(slack) : columns_slack(slack));
  x.scales[place.vector] = em - s.exponent;
  x.bounds.tops[place.vector] = static_cast<int>(ceil(16 * bound_top(s, task.k, em)));
  const unsigned coarse = guesses_too_coarse(task, place.side, place.vector, s);
  if ((coarse & ~*static_cast<volatile unsigned*>(&task.found->coarse)) != 0) atomicOr(&task.found->coarse, coarse);
  raise(task.found->exponent, em);
  raise(task.found->span[place.side], s.span());
}

__global__ void __launch_bounds__(scale_threads) set_exponents(const __grid_constant__ BoundTask task) {
  const VectorPlace place(task, false);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  const int slack = choose_slack(task);
  if (place.there) set_exponent(task, place, slack);
  if (blockIdx.x != gridDim.x - 1) return;  // which has no vectors
  const unsigned allowed = allowed_guesses(task);
  const float share = filled_share(task);
  if (threadIdx.x != 0) return;
  task.found->share = share;
  task.found->slack = slack;
  task.found->allowed = allowed;
}

// The least of the choices that holds 2^need, 0: none.
__device__ int moduli_for_need(const BoundTask& task, double need, int least) {
  for (int c = max(task.choices.least, least); c <= task.choices.most; ++c)
    if (need <= task.choices.log2_bound[static_cast<std::size_t>(c)]) return c;
  return 0;
}

// Opens the gates of the kernels for these moduli.
__device__ void write_route(const BoundTask& task) {
  const BoundFindings& found = *task.found;
  DeviceRoute& route = *task.route;
  const bool nonfinite = found.nonfinite[0] + found.nonfinite[1] > 0;
  const int words = words_for_exponent(found.exponent);
  for (int side = 0; side < 2; ++side) {
    route.span[side] = found.span[side];
    route.nonfinite[side] = found.nonfinite[side];
  }
  if (found.moduli == 0 || (nonfinite && task.native)) {
    (task.native ? route.native : route.unmet) = 1;
    return;
  }
  route.wide = found.moduli;
  route.conversion = conversion_of(found.moduli, words <= 2 ? 2 : words == 3 ? 3 : many_route_words);
}

// By one thread, once all entries have been looked at.
__device__ void choose_moduli(const BoundTask& task) {
  BoundFindings& found = *task.found;
  const int largest = *static_cast<volatile int*>(&found.largest_16);
  const double need = fmax(0.0, largest / 16.0 + bound_rounding_log2(task.rule, task.k));
  const bool many_words = task.route != nullptr && words_for_exponent(found.exponent) > 3;
  found.moduli = found.exponent > task.rule.largest_exponent
                     ? 0
                     : moduli_for_need(task, need, many_words ? least_moduli_of_many_words : 1);
  found.spare =
      found.moduli == 0 ? 0 : bound_spare_bits(task.choices.log2_bound[static_cast<std::size_t>(found.moduli)], need);
  if (task.sample.words != nullptr) found.grading = task.sample.words->grades();
  if (task.route != nullptr) write_route(task);
}

// Sixteenths of each code.
struct EntryTable {
  short of[256];
};

// The largest |Ct|, from the codes and the tops; a thread takes 16 codes (engine/panel_cuda.hpp) at a time.
__global__ void __launch_bounds__(scale_threads)
    find_largest(const __grid_constant__ BoundTask task, const __grid_constant__ EntryTable given, ProductUnits units) {
  __shared__ short table[256];
  __shared__ int block_largest;
  table[threadIdx.x] = given.of[threadIdx.x];
  if (threadIdx.x == 0) block_largest = 2 * top_of_zero;
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  __syncthreads();
  const std::int64_t pieces = units.plane_bytes() / 16, step = static_cast<std::int64_t>(gridDim.x) * scale_threads;
  const std::int64_t m = task.operand[0].vectors, n = task.operand[1].vectors;
  const int *row_tops = task.operand[0].bounds.tops, *column_tops = task.operand[1].bounds.tops;
  int largest = 2 * top_of_zero;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * scale_threads + threadIdx.x; at < pieces; at += step) {
    const std::int64_t unit = at / (unit_bytes / 16), across = unit / units.down, down = unit - across * units.down;
    const int thread = static_cast<int>(at % (unit_bytes / 16)), lane = thread % 32;
    const std::int64_t j = across * unit_columns + thread / 32 * 16 + lane / 4, i = down * unit_rows + lane % 4 * 2;
    const uint4 codes = __ldcs(reinterpret_cast<const uint4*>(task.codes) + at);
    const std::uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
    const auto top = [](const int* tops, std::int64_t v, std::int64_t end) { return v < end ? tops[v] : top_of_zero; };
    const int column[2] = {top(column_tops, j, n), top(column_tops, j + 8, n)};
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      const int row[2] = {top(row_tops, i + 8 * g, m), top(row_tops, i + 8 * g + 1, m)};
#pragma unroll
      for (int e = 0; e < 4; ++e) largest = max(largest, table[words[g] >> (8 * e) & 255] + row[e % 2] + column[e / 2]);
    }
  }
  largest = __reduce_max_sync(~0u, largest);
  if (threadIdx.x % 32 == 0) atomicMax(&block_largest, largest);
  __syncthreads();
  if (threadIdx.x != 0) return;
  raise(task.found->largest_16, block_largest);
  __threadfence();
  if (atomicAdd(&task.found->finished, 1u) + 1 != gridDim.x) return;
  __threadfence();
  choose_moduli(task);
}

// The spare bits go to the scales.
__global__ void __launch_bounds__(scale_threads) spend_spare_bits(const __grid_constant__ BoundTask task) {
  const VectorPlace place(task, false);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed() || !place.there) return;
  const BoundOperand& x = task.operand[place.side];
  if (task.filled_planes[0] != nullptr) {
    const auto words = static_cast<std::int64_t>(filled_words(x.vectors, task.k));
    for (std::int64_t w = place.vector; w < words; w += x.vectors) task.filled_planes[place.side][w] = 0;
  }
  const VectorStatistics s = x.statistics[place.vector];
  if (s.zero()) return;
  const int all = task.found->spare, half = all / 2;
  BoundRule rule = task.rule;
  rule.largest_exponent = exponent_of_same_words(task.found->exponent);
  int& scale = x.scales[place.vector];
  scale = bound_with_spare(rule, s, scale + s.exponent, place.side == 0 ? all - half : half) - s.exponent;
}

unsigned blocks_for(const BoundTask& task, bool padded) {
  std::int64_t count = 0;
  for (const BoundOperand& x : task.operand) count += padded ? bound_vectors(x.vectors) : x.vectors;
  return static_cast<unsigned>(divide_up(count, scale_threads));
}

LaunchShape shape_of(unsigned blocks) {
  return {.grid = dim3(blocks), .block = dim3(scale_threads), .overlap_previous = true};
}

}  // namespace

void weigh_on_device(const BoundTask& task, cudaStream_t stream) {
  launch("weigh_vectors", weigh_vectors, shape_of(blocks_for(task, true)), stream, task);
}

void set_bound_exponents_on_device(const BoundTask& task, cudaStream_t stream) {
  launch("set_exponents", set_exponents, shape_of(1 + blocks_for(task, false)), stream, task);
}

void choose_bound_moduli_on_device(const BoundTask& task, cudaStream_t stream) {
  EntryTable table{};
  for (int code = 0; code < 256; ++code)
    table.of[code] = static_cast<short>(bound_entry_16(task.product, task.k, code));
  constexpr std::int64_t most_blocks = std::int64_t{h200_multiprocessors} * 8;  // at once, half full
  const ProductUnits units = product_units(task.operand[0].vectors, task.operand[1].vectors);
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, divide_up(units.plane_bytes() / 16, scale_threads)));
  launch("find_largest", find_largest, shape_of(blocks), stream, task, table, units);
  launch("spend_spare_bits", spend_spare_bits, shape_of(blocks_for(task, false)), stream, task);
}

}  // namespace vernier::cuda
