// The kernel behind round_on_device: eight entries a thread, in the order in which the product kernel stores residues.
#pragma once

#include "cuda/launch.hpp"
#include "scheme/device_exact.hpp"
#include "scheme/device_round.hpp"

namespace vernier::cuda {

inline constexpr int round_threads = 128;
inline constexpr int round_entries = 8;  // of a thread: rows i0, i0 + 1, i0 + 8, i0 + 9 of columns j0 and j0 + 8

template <class T>
__device__ T value_of(const DeviceFactor<T>& factor) {
  return factor.in_device_memory != nullptr ? *factor.in_device_memory : factor.value;
}

// What doubles do not decide. Apart, since it takes many registers and is rare.
template <class T, int Limbs>
__noinline__ __device__ bool write_by_integers(const CrtSums<Limbs> sums, double error, int scale,
                                               const UpdateForm<T> form, T* c) {
  const std::optional<T> result = decided_by_integers(sums, error, scale, form, c);
  if (result) *c = *result;
  return result.has_value();
}

// Ct of four entries from one word of every plane: bytes 0 and 1 are rows of one column, 2 and 3 of another.
template <int Limbs, int Pairs, class Load>
__device__ __forceinline__ void sum_four(const CrtTables<Limbs>& tables, int moduli, Load load,
                                         CrtSums<Limbs> (&sums)[4]) {
  const auto add_pair = [&](int g) {
    const std::uint32_t a = load(2 * g), b = 2 * g + 1 < moduli ? load(2 * g + 1) : 0;
    const std::uint32_t low = __byte_perm(a, b, 0x5140), high = __byte_perm(a, b, 0x7362);
    sums[0].add(joined_residues(tables.pair[g], low, 0), tables, g);
    sums[1].add(joined_residues(tables.pair[g], low, 1), tables, g);
    sums[2].add(joined_residues(tables.pair[g], high, 0), tables, g);
    sums[3].add(joined_residues(tables.pair[g], high, 1), tables, g);
  };
  if constexpr (Pairs > 0) {
#pragma unroll
    for (int g = 0; g < Pairs; ++g) add_pair(g);
  } else {
#pragma unroll 1
    for (int g = 0; g < tables.pairs; ++g) add_pair(g);
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) sums[e].reduce(tables);
}

// Pairs > 0: there are 2 Pairs or 2 Pairs - 1 moduli. 0: any number.
template <class T, int Limbs, int Pairs>
__global__ void __launch_bounds__(round_threads, Pairs > 0 ? 4 : 3)
    round_product(const __grid_constant__ DeviceExactBlock<T> task, const __grid_constant__ CrtTables<Limbs> tables,
                  ProductUnits units) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * round_threads + threadIdx.x;
  constexpr int unit_threads = unit_bytes / round_entries;
  const std::int64_t unit = at / unit_threads, across = unit / units.down, down = unit - across * units.down;
  const int half = static_cast<int>(at % 2), lane = static_cast<int>(at / 2 % 32), warp = static_cast<int>(at / 64 % 4);
  const std::int64_t j0 = across * unit_columns + warp * 16 + lane / 4;
  const std::int64_t i0 = down * unit_rows + half * 16 + lane % 4 * 2;
  if (j0 >= task.n || i0 >= task.m) return;
  const std::size_t plane = static_cast<std::size_t>(units.plane_bytes());
  const auto plane_of = [&](int q) {
    return reinterpret_cast<const uint2*>(task.residues + at * round_entries + q * plane);
  };
  uint2 raw[Pairs > 0 ? 2 * Pairs : 1];
  if constexpr (Pairs > 0) {
#pragma unroll
    for (int q = 0; q < 2 * Pairs; ++q) raw[q] = q < task.moduli ? __ldcs(plane_of(q)) : make_uint2(0, 0);
  }
  const UpdateForm<T> form(value_of(task.alpha), value_of(task.beta));
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    const std::int64_t i = i0 + 8 * w;
    if (i >= task.m) return;
    CrtSums<Limbs> sums[4];
    const auto load = [&](int q) {
      const uint2 r = Pairs > 0 ? raw[q] : *plane_of(q);
      return w == 0 ? r.x : r.y;
    };
    sum_four<Limbs, Pairs>(tables, task.moduli, load, sums);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const std::int64_t row = i + e % 2, column = j0 + e / 2 * 8;
      if (row >= task.m || column >= task.n) continue;
      T* c = task.c + row + column * task.ldc;
      if (form.alpha == 0) {  // the product is not looked at
        *c = form.beta == 0 ? T{0} : form.beta == 1 ? *c : form.beta * *c;
        continue;
      }
      if (task.specials && (task.row_statistics[row].nonfinite || task.column_statistics[column].nonfinite)) continue;
      const double error = entry_error(task.row_errors[row], task.column_errors[column]);
      const int scale = task.row_scales[row] + task.column_scales[column];
      T result;
      if (decided_by_doubles(sums[e], error, scale, form, c, result))
        *c = result;
      else if (!write_by_integers(sums[e], error, scale, form, c))
        task.open[atomicAdd(task.open_count, 1ull)] = static_cast<std::uint32_t>(row + column * task.m);
    }
  }
}

template <class T, int Limbs, int Pairs>
void launch_rounding(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  const ProductUnits units = product_units(block.m, block.n);
  const auto blocks = static_cast<unsigned>(units.plane_bytes() / (round_threads * round_entries));
  launch("round_product", round_product<T, Limbs, Pairs>, {.grid = dim3(blocks), .block = dim3(round_threads)}, stream,
         block, CrtTables<Limbs>(residue_system(block.moduli)), units);
}

template <class T>
void round_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  check(cudaMemsetAsync(block.open_count, 0, sizeof *block.open_count, stream), "round_product");
  constexpr int usual_pairs = sizeof(T) == 8 ? 10 : 6;  // ordinary_exact_moduli() is 19, 20 or 11, 12
  constexpr int usual_limbs = exact_limbs(2 * usual_pairs);
  if ((block.moduli + 1) / 2 == usual_pairs) return launch_rounding<T, usual_limbs, usual_pairs>(block, stream);
  switch (exact_limbs(block.moduli)) {
    case 3:
      return launch_rounding<T, 3, 0>(block, stream);
    case 5:
      return launch_rounding<T, 5, 0>(block, stream);
    case 6:
      return launch_rounding<T, 6, 0>(block, stream);
    case 9:
      return launch_rounding<T, 9, 0>(block, stream);
    default:
      return launch_rounding<T, 11, 0>(block, stream);
  }
}

}  // namespace vernier::cuda
