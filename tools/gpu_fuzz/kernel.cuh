// One kernel for every instruction whose k is 32 bytes: random operands, the instruction, the model, the comparison.
#pragma once

#include "cases.cuh"
#include "model/element.hpp"
#include "model/hardware/instructions.cuh"
#include "runner.hpp"

namespace vernier::model::gpu {

// The results of slice s that a thread holds: rows first and first + 8 of two columns.
__device__ inline int result_row(int i) { return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + (i >= 2 ? 8 : 0); }
__device__ inline int result_column(int i) { return threadIdx.x % 4 * 2 + i % 2; }

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
  out.metadata = tile.metadata[s];
  out.c = c;
  out.d = hardware;
  out.model = model;
  out.stratum = stratum;
}

template <class I>
__global__ void __launch_bounds__(128) compare(std::uint64_t seed, std::uint64_t tiles, Outcome* outcome) {
  constexpr Engine E = I::engine;
  __shared__ __align__(1024) Tile tile;
  __shared__ Recipe recipes[slices];
  for (std::uint64_t n = blockIdx.x; n < tiles; n += gridDim.x) {
    __syncthreads();
    if (threadIdx.x < slices) {
      recipes[threadIdx.x] = make_recipe(E, seed, n * slices + threadIdx.x);
      tile.metadata[threadIdx.x] = make_metadata(seed, n * slices + threadIdx.x);
    }
    __syncthreads();
    fill<I>(tile, recipes, seed, n * slices);
    cuda::fence_async_shared();
    __syncthreads();
    for (int s = 0; s < slices; ++s) {
      std::uint32_t c[4], d[4];
      for (int i = 0; i < 4; ++i) {
        const int row = result_row(i), column = result_column(i);
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
        const int row = result_row(i), column = result_column(i);
        const std::uint32_t ci = i == 0 ? c[0] : i == 1 ? c[1] : i == 2 ? c[2] : c[3];
        const std::uint32_t di = i == 0 ? d[0] : i == 1 ? d[1] : i == 2 ? d[2] : d[3];
        const auto m = static_cast<std::uint32_t>(model_at<I>(tile, row, column, s, ci));
        if (m != di) record<I>(outcome, tile, row, column, s, recipes[s].stratum, ci, di, m);
      }
    }
  }
}

template <class I>
__global__ void __launch_bounds__(128) single(Case* one) {
  __shared__ __align__(1024) Tile tile;
  const std::uint32_t d = evaluate<I>(tile, *one);
  if (threadIdx.x != 0) return;
  one->d = d;
  one->model = static_cast<std::uint32_t>(model_at<I>(tile, 0, 0, 0, static_cast<std::uint32_t>(one->c)));
}

// The host's side of one instruction.
template <class I>
class KernelRunner final : public Runner {
 public:
  explicit KernelRunner(const char* name) : Runner(name, I::engine, I::warpgroup ? rows_a * rows_b : 16 * rows_b) {}
  void launch(std::uint64_t seed, std::uint64_t tiles, Outcome* outcome) const override {
    compare<I><<<1056, 128>>>(seed, tiles, outcome);
  }
  void launch_single(Case* one) const override { single<I><<<1, 128>>>(one); }
  std::uint64_t cases_per_tile() const override { return std::uint64_t{rows_a} * rows_b * slices; }
};

// A visitor of lists of instructions.
struct AddRunner {
  Runners& runners;
  template <class I>
  void operator()(I) const {
    runners.push_back(std::make_unique<KernelRunner<I>>(I::name.data()));
  }
};

}  // namespace vernier::model::gpu
