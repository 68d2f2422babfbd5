// One kernel for every instruction whose k is 32 bytes: random operands, the instruction, the model, the comparison.
//
// A block is one warpgroup. Shared memory holds 64 rows of A and 8 of B (columns), 128 bytes each in the 128-byte
// swizzle of wgmma: four k slices of 32 bytes, which are four independent cases for wgmma (64 x 8 results) or for four
// warps' mma.sync (16 x 8 results each).
#pragma once

#include "cases.cuh"
#include "engine/model/element.hpp"
#include "instructions.cuh"
#include "runner.hpp"

namespace vernier::model::gpu {

inline constexpr int rows_a = 64, rows_b = 8, slices = 4;

struct Tile {
  std::uint32_t a[rows_a * 32];
  std::uint32_t b[rows_b * 32];
};

// Word w (0 ... 7) of slice s of a row: the 16-byte chunks of a row are permuted by the row's number.
__device__ inline int place(int row, int s, int w) { return row * 32 + (((s * 2 + w / 4) ^ (row & 7)) * 4) + w % 4; }

template <class I>
__device__ std::uint32_t element_at(const std::uint32_t* rows, int row, int s, int k) {
  constexpr Engine E = I::engine;
  constexpr int per_word = 32 / E.k == 1 ? 4 : 32 / E.k == 2 ? 2 : 1;  // elements in 4 bytes
  constexpr int bits = 32 / per_word;
  const std::uint32_t word = rows[place(row, s, k / per_word)];
  return bits == 32 ? word : word >> (k % per_word * bits) & ((1u << (bits % 32)) - 1u);
}

template <class I>
__device__ std::uint64_t model_at(const Tile& tile, int row, int column, int s, std::uint32_t c) {
  constexpr Engine E = I::engine;
  if constexpr (E.sum == Sum::integer) {
    std::uint64_t a[E.k], b[E.k];
    for (int k = 0; k < E.k; ++k) {
      a[k] = element_at<I>(tile.a, row, s, k);
      b[k] = element_at<I>(tile.b, column, s, k);
    }
    return sum_integers(E, a, b, c);
  } else {
    const auto load = [&](int k, Unpacked& x, Unpacked& y) {
      x = load_input(E, E.a, element_at<I>(tile.a, row, s, k));
      y = load_input(E, E.b, element_at<I>(tile.b, column, s, k));
    };
    return sum_blocks<E.block>(E, load, c);
  }
}

template <class I>
__device__ void fill(Tile& tile, const Recipe* recipes, std::uint64_t seed, std::uint64_t first) {
  constexpr Engine E = I::engine;
  constexpr int per_word = 32 / E.k == 1 ? 4 : 32 / E.k == 2 ? 2 : 1;
  for (int i = threadIdx.x; i < (rows_a + rows_b) * 32; i += 128) {
    const int row = i / 32, s = i / 8 % 4, w = i % 8;
    const int side = row < rows_a ? 0 : 1;
    std::uint32_t word = 0;
    for (int p = 0; p < per_word; ++p)
      word |= make_operand(E, recipes[s], seed, first + s, side, side == 0 ? row : row - rows_a, w * per_word + p)
              << (p * 32 / per_word % 32);
    (side == 0 ? tile.a : tile.b)[place(side == 0 ? row : row - rows_a, s, w)] = word;
  }
}

// B of a sparse instruction: each word of the slice beside a copy that the metadata leaves out.
__device__ inline const std::uint32_t* widen(const Tile& tile, int s) {
  __shared__ __align__(1024) std::uint32_t wide[rows_b * 32];
  __syncthreads();
  const int row = threadIdx.x / 16, w = threadIdx.x % 16;
  wide[row * 32 + ((w / 4) ^ (row & 7)) * 4 + w % 4] = tile.b[place(row, s, w / 2)];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  return wide;
}

template <class I>
__device__ void execute_sparse(const Tile& tile, int s, std::uint32_t (&d)[4]) {
  if constexpr (I::warpgroup) {
    const auto a = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile.a));
    const auto b = static_cast<std::uint32_t>(__cvta_generic_to_shared(widen(tile, s)));
    I::run(d, wgmma_operand(a + 32 * s), wgmma_operand(b));
  } else {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = threadIdx.x / 32 * 16 + g;
    const std::uint32_t a[4] = {tile.a[place(row, s, t)], tile.a[place(row + 8, s, t)], tile.a[place(row, s, t + 4)],
                                tile.a[place(row + 8, s, t + 4)]};
    std::uint32_t b[4];
    for (int r = 0; r < 4; ++r) b[r] = tile.b[place(g, s, 2 * r + t / 2)];
    I::run(d, a, b);
  }
}

template <class I>
__device__ void execute(const Tile& tile, int s, std::uint32_t (&d)[4]) {
  if constexpr (I::sparse) {
    execute_sparse<I>(tile, s, d);
  } else if constexpr (I::warpgroup) {
    const auto a = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile.a));
    const auto b = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile.b));
    I::run(d, wgmma_operand(a + 32 * s), wgmma_operand(b + 32 * s));
  } else {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = threadIdx.x / 32 * 16 + g;
    const std::uint32_t a[4] = {tile.a[place(row, s, t)], tile.a[place(row + 8, s, t)], tile.a[place(row, s, t + 4)],
                                tile.a[place(row + 8, s, t + 4)]};
    const std::uint32_t b[2] = {tile.b[place(g, s, t)], tile.b[place(g, s, t + 4)]};
    I::run(d, a, b);
  }
}

// c and d of a thread, unpacked; fp16 results travel two to a register.
template <class I>
__device__ void execute_words(const Tile& tile, int s, const std::uint32_t (&c)[4], std::uint32_t (&d)[4]) {
  constexpr Engine E = I::engine;
  if constexpr (E.c == Format::fp16) {
    std::uint32_t w[4] = {c[0] | c[1] << 16, c[2] | c[3] << 16, 0, 0};
    execute<I>(tile, s, w);
    for (int i = 0; i < 4; ++i) d[i] = w[i / 2] >> (i % 2 * 16) & 0xffff;
  } else {
    for (int i = 0; i < 4; ++i) d[i] = c[i];
    execute<I>(tile, s, d);
  }
}

template <class I>
__device__ void record(Outcome* outcome, const Tile& tile, int row, int column, int s, int stratum, std::uint32_t c,
                       std::uint32_t hardware, std::uint32_t model) {
  constexpr Engine E = I::engine;
  const FloatShape shape = shape_of(E.c);
  const bool is_float = E.sum != Sum::integer;
  const bool nans =
      is_float && unpack(shape, hardware).kind == NumberClass::nan && unpack(shape, model).kind == NumberClass::nan;
  const bool zeros = is_float && ((hardware | model) & ~static_cast<std::uint32_t>(shape.sign_bit())) == 0;
  atomicAdd(nans ? &outcome->nan_codes : zeros ? &outcome->zero_signs : &outcome->mismatches, 1ull);
  atomicAdd(&outcome->by_stratum[stratum], 1ull);
  const int kind = nans ? 1 : zeros ? 2 : 0;
  const unsigned slot = atomicAdd(&outcome->kept[kind], 1u);
  if (slot >= kept_cases) return;
  Case& out = outcome->cases[kind * kept_cases + slot];
  for (int w = 0; w < 8; ++w) {
    out.a[w] = tile.a[place(row, s, w)];
    out.b[w] = tile.b[place(column, s, w)];
  }
  out.c = c;
  out.hardware = hardware;
  out.model = model;
  out.stratum = stratum;
}

template <class I>
__global__ void __launch_bounds__(128) compare(std::uint64_t seed, std::uint64_t tiles, Outcome* outcome) {
  constexpr Engine E = I::engine;
  __shared__ __align__(1024) Tile tile;
  __shared__ Recipe recipes[slices];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (std::uint64_t n = blockIdx.x; n < tiles; n += gridDim.x) {
    __syncthreads();
    if (threadIdx.x < slices) recipes[threadIdx.x] = make_recipe(E, seed, n * slices + threadIdx.x);
    __syncthreads();
    fill<I>(tile, recipes, seed, n * slices);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    for (int s = 0; s < slices; ++s) {
      std::uint32_t c[4], d[4];
      for (int i = 0; i < 4; ++i) {
        const int row = warp * 16 + lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
        c[i] = make_c(E, recipes[s], seed, n * slices + s, row, column);
        if (recipes[s].stratum == cancels_c && E.sum != Sum::integer) {
          const auto product = static_cast<std::uint32_t>(model_at<I>(tile, row, column, s, 0));
          c[i] = (product ^ static_cast<std::uint32_t>(shape_of(E.c).sign_bit())) + (c[i] & 3) - (c[i] >> 2 & 3);
          if (E.c == Format::fp16) c[i] &= 0xffff;
        }
      }
      __syncthreads();  // the warps come together for the aligned instructions
      execute_words<I>(tile, s, c, d);
#pragma unroll 1
      for (int i = 0; i < 4; ++i) {
        const int row = warp * 16 + lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
        const std::uint32_t ci = i == 0 ? c[0] : i == 1 ? c[1] : i == 2 ? c[2] : c[3];
        const std::uint32_t di = i == 0 ? d[0] : i == 1 ? d[1] : i == 2 ? d[2] : d[3];
        const auto m = static_cast<std::uint32_t>(model_at<I>(tile, row, column, s, ci));
        if (m != di) record<I>(outcome, tile, row, column, s, recipes[s].stratum, ci, di, m);
      }
    }
  }
}

// One case: row 0 of A and of B, slice 0; everything else is zero.
template <class I>
__global__ void __launch_bounds__(128) single(Case* one) {
  __shared__ __align__(1024) Tile tile;
  for (int i = threadIdx.x; i < rows_a * 32; i += 128) tile.a[i] = 0;
  for (int i = threadIdx.x; i < rows_b * 32; i += 128) tile.b[i] = 0;
  __syncthreads();
  if (threadIdx.x < 8) {
    tile.a[place(0, 0, threadIdx.x)] = one->a[threadIdx.x];
    tile.b[place(0, 0, threadIdx.x)] = one->b[threadIdx.x];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const std::uint32_t c[4] = {threadIdx.x == 0 ? static_cast<std::uint32_t>(one->c) : 0, 0, 0, 0};
  std::uint32_t d[4];
  execute_words<I>(tile, 0, c, d);
  if (threadIdx.x != 0) return;
  one->hardware = d[0];
  one->model = static_cast<std::uint32_t>(model_at<I>(tile, 0, 0, 0, c[0]));
}

// The host's side of one instruction.
template <class I>
class KernelRunner final : public Runner {
 public:
  explicit KernelRunner(const char* name) : Runner(name, I::engine) {}
  void launch(std::uint64_t seed, std::uint64_t tiles, Outcome* outcome) const override {
    compare<I><<<1056, 128>>>(seed, tiles, outcome);
  }
  void launch_single(Case* one) const override { single<I><<<1, 128>>>(one); }
  std::uint64_t cases_per_tile() const override { return std::uint64_t{rows_a} * rows_b * slices; }
};

#define VERNIER_INSTRUCTION(NAME, WARPGROUP, ENGINE) VERNIER_ANY_INSTRUCTION(NAME, WARPGROUP, false, ENGINE)
#define VERNIER_ANY_INSTRUCTION(NAME, WARPGROUP, SPARSE, ENGINE) \
  struct NAME##_instruction {                                    \
    static constexpr bool warpgroup = WARPGROUP;                 \
    static constexpr bool sparse = SPARSE;                       \
    static constexpr Engine engine = ENGINE;                     \
    template <class... Args>                                     \
    __device__ static void run(Args&&... args) {                 \
      NAME(args...);                                             \
    }                                                            \
  };

}  // namespace vernier::model::gpu
