// Schemes by name on a GPU: those that have kernels by these; the others, and for checking, by products of any order on
// tensor cores, by mma.sync, not for speed.
#include <algorithm>
#include <deque>
#include <utility>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "cuda/matrix_fragments.cuh"
#include "number/power_of_two.hpp"
#include "number/two_sum.hpp"
#include "product/arguments.hpp"
#include "product/device_memory.hpp"
#include "product/plan/current_gpu.hpp"
#include "split/gemm.hpp"
#include "split/product/sm90_epilogue.cuh"
#include "split/schemes.hpp"

namespace vernier::cuda {
namespace {

// ---- the generic rule, word by word --------------------------------------------------------------------------------

constexpr int reference_threads = 256;

// A block for each vector.
__global__ void split_reference_kernel(SplitRule rule, FloatVectors x, std::int64_t padded_k, void* words,
                                       std::int32_t* unscale) {
  const std::int64_t v = blockIdx.x;
  const float* from = x.data + v * x.vector_stride;
  __shared__ std::uint32_t shared;
  if (threadIdx.x == 0) shared = 0;
  __syncthreads();
  std::uint32_t largest = 0;
  for (std::int64_t l = threadIdx.x; l < x.k; l += reference_threads)
    largest = max(largest, float_word(from[l * x.k_stride]) & 0x7fffffffu);
  atomicMax(&shared, largest);
  __syncthreads();
  const int s = unscale != nullptr ? split_scale(shared) : 0;
  if (unscale != nullptr && threadIdx.x == 0) unscale[v] = shared >= 0x7f800000u ? excluded_vector : -s;
  const SplitScale scale(s);
  const bool wide = rule.low.ignored_bits != 0;  // tf32
  for (std::int64_t l = threadIdx.x; l < padded_k; l += reference_threads) {
    std::uint32_t parts[max_split_parts] = {};
    if (l < x.k) split_parts(rule, scale(from[l * x.k_stride]), parts);
    for (int p = 0; p < rule.parts; ++p) {
      const std::int64_t at = (p * x.count + v) * padded_k + l;
      if (wide)
        static_cast<std::uint32_t*>(words)[at] = parts[p];
      else
        static_cast<std::uint16_t*>(words)[at] = static_cast<std::uint16_t>(parts[p]);
    }
  }
}

// Part p of vector v goes to word (p * count + v) * padded_k, zeros beyond k; words have 2 bytes, tf32 4. unscale: null
// to leave the elements as they are.
void split_reference(const SplitRule& rule, const FloatVectors& x, std::int64_t padded_k, void* words,
                     std::int32_t* unscale, cudaStream_t stream) {
  split_reference_kernel<<<static_cast<unsigned>(x.count), reference_threads, 0, stream>>>(rule, x, padded_k, words,
                                                                                           unscale);
  check_launch("split_reference_kernel");
}

// ---- the product ---------------------------------------------------------------------------------------------------

struct SplitOrder {
  static constexpr int max_terms = 9, max_sums = 5;

  struct Term {
    int a, b, sum;
    int from, length;  // in k, within the step
  };
  int terms = 0, sums = 0, step = 16;
  Term term[max_terms] = {};
  int run[max_sums] = {};    // 0: all of k
  int shift[max_sums] = {};  // ascending
  int carry[max_sums] = {};  // Carry: 1 fast, 2 exact
};

// As split_reference() leaves it; padded_k is a multiple of the step.
struct ReferenceOperand {
  FloatVectors x;
  const void* words = nullptr;
  const std::int32_t* unscale = nullptr;  // null: nothing was scaled
};

struct ReferenceProduct {
  FloatWord word = FloatWord::fp16;
  SplitOrder order;
  ReferenceOperand a, b;
  std::int64_t padded_k = 0;
  Output<float> to;
};

constexpr int warps = 4, tile_rows = 16, tile_columns = 8;  // of C, one warp's

template <FloatWord Word>
constexpr int instruction_k = Word == FloatWord::tf32 ? 8 : 16;

// 32 bits of k: two 16-bit words or one of tf32. pair: counts them.
__device__ __forceinline__ std::uint32_t load_pair(const ReferenceOperand& x, std::int64_t words_bytes, int part,
                                                   std::int64_t v, std::int64_t pair) {
  if (v >= x.x.count) return 0;
  const auto* base = static_cast<const char*>(x.words) + (part * x.x.count + v) * words_bytes;
  return reinterpret_cast<const std::uint32_t*>(base)[pair];
}

// One term over its part of a step of k, inside the engine.
template <FloatWord Word>
__device__ __forceinline__ void add_term(float (&c)[4], const ReferenceProduct& g, const SplitOrder::Term& term,
                                         std::int64_t row, std::int64_t column, std::int64_t k0) {
  constexpr int word_bytes = Word == FloatWord::tf32 ? 4 : 2, words_a_pair = 4 / word_bytes;
  const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const std::int64_t bytes = g.padded_k * word_bytes;
  for (int l = 0; l < term.length; l += instruction_k<Word>) {
    const std::int64_t pair = (k0 + term.from + l) / words_a_pair + t;
    const std::uint32_t a[4] = {
        load_pair(g.a, bytes, term.a, row + group, pair), load_pair(g.a, bytes, term.a, row + group + 8, pair),
        load_pair(g.a, bytes, term.a, row + group, pair + 4), load_pair(g.a, bytes, term.a, row + group + 8, pair + 4)};
    const std::uint32_t b[2] = {load_pair(g.b, bytes, term.b, column + group, pair),
                                load_pair(g.b, bytes, term.b, column + group, pair + 4)};
    mma_floats<Word>(c, a, b[0], b[1], c);
  }
}

__device__ float conventional_entry(const ReferenceProduct& g, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t l = 0; l < g.a.x.k; ++l)
    sum += static_cast<double>(g.a.x.data[i * g.a.x.vector_stride + l * g.a.x.k_stride]) *
           static_cast<double>(g.b.x.data[j * g.b.x.vector_stride + l * g.b.x.k_stride]);
  return static_cast<float>(sum);
}

__device__ void store_entry(const ReferenceProduct& g, float t, std::int64_t i, std::int64_t j) {
  if (i >= g.a.x.count || j >= g.b.x.count) return;
  if (g.a.unscale != nullptr) {
    const int e = g.a.unscale[i] + g.b.unscale[j];
    t = e < excluded_vector / 2 ? unscale(t, e) : conventional_entry(g, i, j);
  }
  float* c = g.to.c + i + j * g.to.ldc;
  *c = Scalars{g.to.alpha, g.to.beta}(t, g.to.beta == 0 ? 0 : *c);
}

template <FloatWord Word>
__global__ void __launch_bounds__(32 * warps) reference_kernel(const __grid_constant__ ReferenceProduct g) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.y) * warps + threadIdx.x / 32) * tile_columns;
  float inside[SplitOrder::max_sums][4] = {}, outside[SplitOrder::max_sums][4] = {};
  for (std::int64_t k0 = 0; k0 < g.padded_k; k0 += g.order.step) {
#pragma unroll
    for (int s = 0; s < SplitOrder::max_sums; ++s) {
      for (int q = 0; q < g.order.terms; ++q)
        if (g.order.term[q].sum == s) add_term<Word>(inside[s], g, g.order.term[q], row, column, k0);
      const bool end_of_run = g.order.run[s] != 0 && (k0 + g.order.step) % g.order.run[s] == 0;
      if (!end_of_run) continue;
      for (int i = 0; i < 4; ++i) {
        if (g.order.carry[s] == 2)
          two_sum(outside[s][i], inside[s][i]);
        else if (g.order.carry[s] == 1)
          fast_two_sum(outside[s][i], inside[s][i]);
        else
          outside[s][i] = __fadd_rn(outside[s][i], inside[s][i]), inside[s][i] = 0;
      }
    }
  }
  const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float sum = 0;  // Horner's rule, the smallest sum first
#pragma unroll
    for (int s = SplitOrder::max_sums - 1; s >= 0; --s) {
      if (s >= g.order.sums) continue;
      const float mine = g.order.run[s] != 0 ? outside[s][i] : inside[s][i];
      if (g.order.carry[s] != 0)
        sum = compensated_end(mine, inside[s][i], sum);
      else
        sum = s == g.order.sums - 1 ? mine
                                    : __fmaf_rn(sum, float_power_of_two(g.order.shift[s] - g.order.shift[s + 1]), mine);
    }
    store_entry(g, sum, row + group + i / 2 * 8, column + 2 * t + i % 2);
  }
}

void multiply_split_reference(const ReferenceProduct& product, cudaStream_t stream) {
  const auto blocks = [](std::int64_t count, int size) { return static_cast<unsigned>((count + size - 1) / size); };
  const dim3 grid(blocks(product.a.x.count, tile_rows), blocks(product.b.x.count, tile_columns * warps));
  switch (product.word) {
    case FloatWord::fp16:
      reference_kernel<FloatWord::fp16><<<grid, 32 * warps, 0, stream>>>(product);
      break;
    case FloatWord::bf16:
      reference_kernel<FloatWord::bf16><<<grid, 32 * warps, 0, stream>>>(product);
      break;
    case FloatWord::tf32:
      reference_kernel<FloatWord::tf32><<<grid, 32 * warps, 0, stream>>>(product);
      break;
  }
  check_launch("reference_kernel");
}

}  // namespace
}  // namespace vernier::cuda

namespace vernier::split {
namespace {

using cuda::SplitOrder;

SplitOrder order_of(const Scheme& s) {
  require(s.terms.size() <= SplitOrder::max_terms && s.sums.size() <= SplitOrder::max_sums,
          "split: scheme {} has {} terms and {} sums; expected at most {} and {}", s.name, s.terms.size(),
          s.sums.size(), SplitOrder::max_terms + 0, SplitOrder::max_sums + 0);
  SplitOrder order;
  order.step = s.step;
  for (const Term& t : s.terms)
    order.term[order.terms++] = {t.a, t.b, t.sum, t.from, t.length != 0 ? t.length : s.step};
  for (const Sum& sum : s.sums) {
    require(sum.run >= 0 && sum.run % s.step == 0, "split: scheme {}: run is {}; expected a multiple of the step {}",
            s.name, sum.run, s.step);
    order.run[order.sums] = sum.run;
    order.carry[order.sums] = static_cast<int>(sum.carry);
    order.shift[order.sums++] = sum.shift;
  }
  return order;
}

cuda::FloatWord word_of(const Scheme& s) {
  return s.low == model::Format::fp16   ? cuda::FloatWord::fp16
         : s.low == model::Format::bf16 ? cuda::FloatWord::bf16
                                        : cuda::FloatWord::tf32;
}

void multiply_plain(const Scheme& s, const cuda::SplitOperands& x, float alpha, float beta, float* C, std::int64_t ldc,
                    cudaStream_t stream) {
  const SplitRule rule = split_rule(s);
  std::int64_t unit = s.step;
  for (const Sum& sum : s.sums) unit = std::max<std::int64_t>(unit, sum.run);
  cuda::ReferenceProduct g;
  g.word = word_of(s);
  g.order = order_of(s);
  g.to = {alpha, beta, C, ldc};
  g.padded_k = (x.a.k + unit - 1) / unit * unit;
  const std::size_t word_bytes = s.low == model::Format::tf32 ? 4 : 2;
  const auto words = [&](const FloatVectors& v) {
    return static_cast<std::size_t>(v.count * g.padded_k * rule.parts) * word_bytes;
  };
  std::deque<cuda::DeviceWorkspace> memory;
  for (const auto& [v, operand] : {std::pair{&x.a, &g.a}, {&x.b, &g.b}}) {
    std::byte* to = memory.emplace_back(words(*v), stream).data();
    std::byte* scales = memory.emplace_back(static_cast<std::size_t>(v->count) * 4, stream).data();
    auto* unscale = s.scaled ? reinterpret_cast<std::int32_t*>(scales) : nullptr;
    cuda::split_reference(rule, *v, g.padded_k, to, unscale, stream);
    *operand = {*v, to, unscale};
  }
  cuda::multiply_split_reference(g, stream);
}

// A fast kernel is one scheme alone, whatever else goes by its name.
bool has_kernel(const Scheme& s, const GpuModel& gpu) {
  return std::ranges::count(cuda::split_kernel_schemes(gpu), s.name) != 0 && s == find_scheme(s.name);
}

}  // namespace

void multiply_on_gpu(const Scheme& s, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                     const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float beta, float* C,
                     std::int64_t ldc, void* stream_handle, bool plain) {
  const cuda::Device& device = cuda::current_device();
  const GpuModel gpu = cuda::current_gpu();
  if (!gpu.residues) fail(Status::unsupported, "split: {} has no compute capability of 8.0 or later", device.name);
  check_sizes("split", opa, opb, {m, n, k}, lda, ldb, ldc);
  require(k > 0, "split: k = 0: expected at least 1");
  require(k <= cuda::longest_split_k, "split: k = {}: expected at most {}", k, cuda::longest_split_k);
  if (m == 0 || n == 0) return;
  auto* stream = static_cast<cudaStream_t>(stream_handle);
  const cuda::SplitOperands x = cuda::split_operands_of({opa, opb, m, n, k, nullptr, A, lda, B, ldb});
  if (plain || !has_kernel(s, gpu)) return multiply_plain(s, x, alpha, beta, C, ldc, stream);
  const cuda::SplitGemmPlan plan = cuda::plan_split_gemm(s.name, m, n, k, gpu);
  const cuda::DeviceWorkspace workspace(plan.workspace, stream);
  cuda::split_gemm(plan, x, {{alpha, nullptr}, {beta, nullptr}}, C, ldc, workspace.data(), stream);
}

}  // namespace vernier::split
