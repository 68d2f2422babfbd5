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

// What doubles do not decide, once more from its residues, one byte a plane. Apart, since it takes many registers and
// is rare.
template <class T, int Limbs>
__noinline__ __device__ bool write_by_integers(const CrtTables<Limbs>& tables, int moduli, const std::int8_t* residues,
                                               std::size_t plane, double error, int scale, const UpdateForm<T>& form,
                                               T* c) {
  CrtSums<Limbs> sums;
#pragma unroll 1
  for (int q = 0; q < moduli; q += 2) {
    const std::uint32_t a = static_cast<std::uint8_t>(residues[q * plane]);
    const std::uint32_t b = q + 1 < moduli ? static_cast<std::uint8_t>(residues[(q + 1) * plane]) : 0;
    sums.add(joined_residues(tables.pair[q / 2], a | b << 8, 0), tables, q / 2);
  }
  sums.reduce(tables);
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

// What a thread knows of two rows or two columns.
struct TwoVectors {
  VectorError error[2];
  int scale[2];
  bool exists[2], finite[2];

  __device__ __forceinline__ TwoVectors(const VectorError* errors, const int* scales,
                                        const VectorStatistics* statistics, bool specials, std::int64_t first, int step,
                                        std::int64_t count) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const std::int64_t v = first + e * step;
      exists[e] = v < count;
      error[e] = exists[e] ? errors[v] : VectorError{};
      scale[e] = exists[e] ? scales[v] : 0;
      finite[e] = !specials || !exists[e] || !statistics[v].nonfinite;
    }
  }
};

// Pairs > 0: there are 2 Pairs or 2 Pairs - 1 moduli; 0: any number. Plain: beta = 0 and alpha is a power of two, both
// known to the host.
template <class T, int Limbs, int Pairs, bool Plain>
__global__ void __launch_bounds__(round_threads, Pairs > 0 ? 4 : 3)
    round_product(const __grid_constant__ DeviceExactBlock<T> task, const __grid_constant__ CrtTables<Limbs> tables,
                  const __grid_constant__ UpdateForm<T> plain_form, ProductUnits units) {
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
  const UpdateForm<T> form = Plain ? plain_form : UpdateForm<T>(value_of(task.alpha), value_of(task.beta));
  const TwoVectors columns(task.column_errors, task.column_scales, task.column_statistics, task.specials, j0, 8,
                           task.n);
  unsigned undecided = 0;  // bit 4 w + e
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    const std::int64_t i = i0 + 8 * w;
    if (i >= task.m) break;
    const TwoVectors rows(task.row_errors, task.row_scales, task.row_statistics, task.specials, i, 1, task.m);
    CrtSums<Limbs> sums[4];
    const auto load = [&](int q) {
      const uint2 r = Pairs > 0 ? raw[q] : *plane_of(q);
      return w == 0 ? r.x : r.y;
    };
    sum_four<Limbs, Pairs>(tables, task.moduli, load, sums);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int x = e % 2, y = e / 2;
      if (!rows.exists[x] || !columns.exists[y]) continue;
      T* c = task.c + (i + x) + (j0 + 8 * y) * task.ldc;
      if (!Plain && form.alpha == 0) {  // the product is not looked at
        *c = form.beta == 0 ? T{0} : form.beta == 1 ? *c : form.beta * *c;
        continue;
      }
      if (!rows.finite[x] || !columns.finite[y]) continue;
      const double error = entry_error(rows.error[x], columns.error[y]);
      T result;
      if (decided_by_doubles<Plain>(sums[e], error, rows.scale[x] + columns.scale[y], form, c, result))
        *c = result;
      else
        undecided |= 1u << (4 * w + e);
    }
  }
#pragma unroll 1
  for (; undecided != 0; undecided &= undecided - 1) {
    const int bit = __ffs(static_cast<int>(undecided)) - 1;
    const std::int64_t i = i0 + 8 * (bit / 4) + bit % 2, j = j0 + 8 * (bit / 2 % 2);
    if (!write_by_integers(tables, task.moduli, task.residues + at * round_entries + bit, plane,
                           entry_error(task.row_errors[i], task.column_errors[j]),
                           task.row_scales[i] + task.column_scales[j], form, task.c + i + j * task.ldc))
      task.open[atomicAdd(task.open_count, 1ull)] = static_cast<std::uint32_t>(i + j * task.m);
  }
}

template <class T, int Limbs, int Pairs, bool Plain>
void launch_rounding(const DeviceExactBlock<T>& block, const UpdateForm<T>& form, cudaStream_t stream) {
  const ProductUnits units = product_units(block.m, block.n);
  const auto blocks = static_cast<unsigned>(units.plane_bytes() / (round_threads * round_entries));
  launch("round_product", round_product<T, Limbs, Pairs, Plain>, {.grid = dim3(blocks), .block = dim3(round_threads)},
         stream, block, CrtTables<Limbs>(residue_system(block.moduli)), form, units);
}

template <class T>
void round_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  check(cudaMemsetAsync(block.open_count, 0, sizeof *block.open_count, stream), "round_product");
  constexpr int usual_pairs = sizeof(T) == 8 ? 10 : 6;  // ordinary_exact_moduli() is 19, 20 or 11, 12
  constexpr int usual_limbs = exact_limbs(2 * usual_pairs);
  const UpdateForm<T> form(block.alpha.value, block.beta.value);
  const bool known = block.alpha.in_device_memory == nullptr && block.beta.in_device_memory == nullptr;
  if ((block.moduli + 1) / 2 == usual_pairs)
    return known && form.only_rounded ? launch_rounding<T, usual_limbs, usual_pairs, true>(block, form, stream)
                                      : launch_rounding<T, usual_limbs, usual_pairs, false>(block, form, stream);
  switch (exact_limbs(block.moduli)) {
    case 3:
      return launch_rounding<T, 3, 0, false>(block, form, stream);
    case 5:
      return launch_rounding<T, 5, 0, false>(block, form, stream);
    case 6:
      return launch_rounding<T, 6, 0, false>(block, form, stream);
    case 9:
      return launch_rounding<T, 9, 0, false>(block, form, stream);
    default:
      return launch_rounding<T, 11, 0, false>(block, form, stream);
  }
}

}  // namespace vernier::cuda
