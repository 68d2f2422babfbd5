#include "split/product/sm90_reference.hpp"

#include "cuda/status.hpp"
#include "number/power_of_two.hpp"
#include "number/two_sum.hpp"
#include "split/product/sm90_epilogue.cuh"

namespace vernier::cuda {
namespace {

constexpr int warps = 4, tile_rows = 16, tile_columns = 8;  // of C, one warp's

template <ReferenceInput Input>
constexpr int instruction_k = Input == ReferenceInput::tf32 ? 8 : 16;

// c += a b for one tile; fragments as the PTX ISA lays them out.
template <ReferenceInput Input>
__device__ __forceinline__ void mma(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#define VERNIER_MMA(SHAPE)                                                                        \
  asm volatile("mma.sync.aligned." SHAPE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (Input == ReferenceInput::fp16) VERNIER_MMA("m16n8k16.row.col.f32.f16.f16.f32");
  if constexpr (Input == ReferenceInput::bf16) VERNIER_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
  if constexpr (Input == ReferenceInput::tf32) VERNIER_MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
#undef VERNIER_MMA
}

// 32 bits of k: two 16-bit words or one of tf32. pair: counts them.
__device__ __forceinline__ std::uint32_t load_pair(const ReferenceOperand& x, std::int64_t words_bytes, int part,
                                                   std::int64_t v, std::int64_t pair) {
  if (v >= x.x.count) return 0;
  const auto* base = static_cast<const char*>(x.words) + (part * x.x.count + v) * words_bytes;
  return reinterpret_cast<const std::uint32_t*>(base)[pair];
}

// One term over its part of a step of k, inside the engine.
template <ReferenceInput Input>
__device__ __forceinline__ void add_term(float (&c)[4], const ReferenceProduct& g, const SplitOrder::Term& term,
                                         std::int64_t row, std::int64_t column, std::int64_t k0) {
  constexpr int word_bytes = Input == ReferenceInput::tf32 ? 4 : 2, words_a_pair = 4 / word_bytes;
  const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const std::int64_t bytes = g.padded_k * word_bytes;
  for (int l = 0; l < term.length; l += instruction_k<Input>) {
    const std::int64_t pair = (k0 + term.from + l) / words_a_pair + t;
    const std::uint32_t a[4] = {
        load_pair(g.a, bytes, term.a, row + group, pair), load_pair(g.a, bytes, term.a, row + group + 8, pair),
        load_pair(g.a, bytes, term.a, row + group, pair + 4), load_pair(g.a, bytes, term.a, row + group + 8, pair + 4)};
    const std::uint32_t b[2] = {load_pair(g.b, bytes, term.b, column + group, pair),
                                load_pair(g.b, bytes, term.b, column + group, pair + 4)};
    mma<Input>(c, a, b);
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

template <ReferenceInput Input>
__global__ void __launch_bounds__(32 * warps) reference_kernel(const __grid_constant__ ReferenceProduct g) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.y) * warps + threadIdx.x / 32) * tile_columns;
  float inside[SplitOrder::max_sums][4] = {}, outside[SplitOrder::max_sums][4] = {};
  for (std::int64_t k0 = 0; k0 < g.padded_k; k0 += g.order.step) {
#pragma unroll
    for (int s = 0; s < SplitOrder::max_sums; ++s) {
      for (int q = 0; q < g.order.terms; ++q)
        if (g.order.term[q].sum == s) add_term<Input>(inside[s], g, g.order.term[q], row, column, k0);
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

}  // namespace

void multiply_split_reference(const ReferenceProduct& product, cudaStream_t stream) {
  const auto blocks = [](std::int64_t count, int size) { return static_cast<unsigned>((count + size - 1) / size); };
  const dim3 grid(blocks(product.a.x.count, tile_rows), blocks(product.b.x.count, tile_columns * warps));
  switch (product.input) {
    case ReferenceInput::fp16:
      reference_kernel<ReferenceInput::fp16><<<grid, 32 * warps, 0, stream>>>(product);
      break;
    case ReferenceInput::bf16:
      reference_kernel<ReferenceInput::bf16><<<grid, 32 * warps, 0, stream>>>(product);
      break;
    case ReferenceInput::tf32:
      reference_kernel<ReferenceInput::tf32><<<grid, 32 * warps, 0, stream>>>(product);
      break;
  }
  cuda::check_launch("reference_kernel");
}

}  // namespace vernier::cuda
