// Kernels that round a block of C to dd: four entries a thread, in the order in which the product kernel stores
// residues; then those that are open, a warp an entry.
#pragma once

#include <type_traits>

#include "engine/panel_cuda.hpp"
#include "residue/binary128/entry.hpp"
#include "residue/quad/dd_arithmetic.hpp"
#include "residue/quad/leading_crt.hpp"
#include "residue/quad/quad_update.hpp"
#include "residue/quad/quad_warp.cuh"
#include "residue/recombine/crt_words.cuh"

namespace vernier::cuda {

inline constexpr int round_dd_threads = 128, round_dd_entries = 4;
inline constexpr int settle_threads = 128;

// C of an entry that is known.
__device__ __forceinline__ void store_dd(const DeviceDdBlock& task, std::int64_t i, std::int64_t j, const DdEntry& x) {
  dd* c = task.c + i + j * task.ldc;
  const dd t(x.hi, x.lo);
  if (task.only_rounded)
    *c = t;
  else
    update_quad({task.alpha, task.beta, false}, t, *c);
}

// T of the nearest numbers that the contract allows, or rounded once; in binary128.
enum class EntryForm { dd, exact_dd, binary128 };

template <EntryForm Form, int Limbs>
__device__ __forceinline__ DdEntry entry_of(const DeviceDdBlock& task, const CrtSums<Limbs>& sums, const DdVector& row,
                                            const DdVector& column) {
  if constexpr (Form == EntryForm::binary128)
    return binary128_entry(sums, row, column, task.rule);
  else if constexpr (Form == EntryForm::exact_dd)
    return exact_dd_entry(sums, row, column, task.rule);
  else
    return dd_entry(sums, row, column, task.rule);
}

// What sums an entry: all limbs, or first the leading ones.
template <int Limbs, bool Leading>
using RoundTables = std::conditional_t<Leading, LeadingCrtTables<Limbs>, CrtTables<Limbs>>;

// An entry's residues are plane bytes apart.
template <int Limbs>
__device__ VERNIER_NOINLINE DdOfSums dd_of_all_limbs(const CrtTables<Limbs>& tables, int moduli,
                                                     const std::int8_t* residues, std::int64_t plane) {
  CrtSums<Limbs> sums;
#pragma unroll 1
  for (int g = 0; g < tables.pairs; ++g) {
    const std::uint32_t a = static_cast<std::uint8_t>(residues[2 * g * plane]),
                        b = 2 * g + 1 < moduli ? static_cast<std::uint8_t>(residues[(2 * g + 1) * plane]) : 0;
    sums.add(joined_residues(tables.pair[g], a | b << 8, 0), tables, g);
  }
  sums.reduce(tables);
  return dd_of_sums(sums);
}

// Pairs > 0: there are 2 Pairs or 2 Pairs - 1 moduli; 0: any number.
template <int Limbs, int Pairs, EntryForm Form, bool Leading = false>
__global__ void __launch_bounds__(round_dd_threads, Leading ? 6 : 3)
    round_dd(const __grid_constant__ DeviceDdBlock task, const __grid_constant__ RoundTables<Limbs, Leading> tables,
             ProductUnits units) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * round_dd_threads + threadIdx.x;
  constexpr int unit_threads = unit_bytes / round_dd_entries;
  const std::int64_t unit = at / unit_threads, across = unit / units.down, down = unit - across * units.down;
  const int w = static_cast<int>(at % 2), half = static_cast<int>(at / 2 % 2), lane = static_cast<int>(at / 4 % 32),
            warp = static_cast<int>(at / 128 % 4);
  const std::int64_t j0 = across * unit_columns + warp * 16 + lane / 4,
                     i0 = down * unit_rows + half * 16 + lane % 4 * 2 + 8 * w, plane = units.plane_bytes();
  if (j0 >= task.n || i0 >= task.m) return;
  const std::int8_t* const residues = task.residues + at * round_dd_entries;
  const auto load = [&](int q) -> std::uint32_t {
    return q < task.moduli ? __ldcs(reinterpret_cast<const unsigned*>(residues + q * plane)) : 0;
  };
  std::uint32_t raw[Pairs > 0 ? 2 * Pairs : 1];  // all loads on their way at once, where their number is known
  if constexpr (Pairs > 0) {
#pragma unroll
    for (int q = 0; q < 2 * Pairs; ++q) raw[q] = load(q);
  }
  std::conditional_t<Leading, LeadingCrtSums<Limbs>, CrtSums<Limbs>> sums[4];
  sum_four<Pairs>(
      tables, task.moduli,
      [&](int q) {
        if constexpr (Pairs > 0)
          return raw[q];
        else
          return load(q);
      },
      sums);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const std::int64_t i = i0 + e % 2, j = j0 + e / 2 * 8;
    if (i >= task.m || j >= task.n) continue;
    sums[e].reduce(tables);
    DdEntry x;
    if constexpr (Leading) {
      DdOfSums known = leading_dd(sums[e]);
      if (known.doubt) known = dd_of_all_limbs(tables.all, task.moduli, residues + e, plane);
      x = dd_entry(known, task.a.dd[i], task.b.dd[j], task.rule);
    } else {
      x = entry_of<Form>(task, sums[e], task.a.dd[i], task.b.dd[j]);
    }
    if (x.state == DdState::known)
      store_dd(task, i, j, x);
    else
      task.open[atomicAdd(&task.counts->open, 1ull)] = static_cast<std::uint32_t>(i + j * task.m);
  }
}

// Where an entry's residues lie, plane_bytes() apart.
VERNIER_HD inline std::int64_t residue_place(const ProductUnits& units, std::int64_t i, std::int64_t j) {
  return (j / unit_columns * units.down + i / unit_rows) * unit_bytes +
         unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns));
}

// An entry's sums, in all lanes: exact, so that their order does not matter.
template <int Limbs>
__device__ __forceinline__ CrtSums<Limbs> sums_by_warp(const DeviceDdBlock& task, const CrtTables<Limbs>& tables,
                                                       const std::int8_t* residues, std::int64_t plane) {
  CrtSums<Limbs> sums;
  for (int g = static_cast<int>(threadIdx.x) % 32; g < tables.pairs; g += 32) {
    const std::uint32_t a = static_cast<std::uint8_t>(residues[2 * g * plane]),
                        b = 2 * g + 1 < task.moduli ? static_cast<std::uint8_t>(residues[(2 * g + 1) * plane]) : 0;
    sums.add(joined_residues(tables.pair[g], a | b << 8, 0), tables, g);
  }
#pragma unroll
  for (int l = 0; l < Limbs; ++l)
#pragma unroll
    for (int d = 16; d > 0; d /= 2) sums.s[l] += __shfl_xor_sync(~0u, sums.s[l], d);
  sums.reduce(tables);
  return sums;
}

// Open entries: |A||B| tells most of them; the others are left to the host, at the end of the list.
template <int Limbs, EntryForm Form>
__global__ void __launch_bounds__(settle_threads)
    settle_dd(const __grid_constant__ DeviceDdBlock task, const __grid_constant__ CrtTables<Limbs> tables,
              ProductUnits units) {
  constexpr unsigned warps = settle_threads / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned long long count = task.counts->open;
  if (!task.settles(count)) return;
  for (unsigned long long e = blockIdx.x * warps + threadIdx.x / 32; e < count; e += gridDim.x * warps) {
    const std::uint32_t entry = task.open[e];
    const std::int64_t j = entry / task.m, i = entry - j * task.m;
    const DdVector &row = task.a.dd[i], &column = task.b.dd[j];
    const CrtSums<Limbs> sums =
        sums_by_warp(task, tables, task.residues + residue_place(units, i, j), units.plane_bytes());
    DdEntry x = entry_of<Form>(task, sums, row, column);
    if (x.state == DdState::open) {
      if (lane == 0) atomicAdd(&task.counts->looked_at, 1ull);
      const double error = dd_error(row, column);
      const int exponent = task.a.scales[i].exponent + task.b.scales[j].exponent;
      for (std::int64_t elements = min(first_look, task.a.x.k);; elements = task.a.x.k) {
        if (error <= task.rule.share * ldexp(magnitude_by_warp(task.a, i, task.b, j, elements), exponent)) {
          x = dd_entry(sums, {.exponent = row.exponent}, {.exponent = column.exponent}, task.rule);
          break;
        }
        if (elements == task.a.x.k) break;
      }
    }
    if (lane != 0) continue;
    if (x.state == DdState::known)
      store_dd(task, i, j, x);
    else
      task.open[task.m * task.n - 1 - static_cast<std::int64_t>(atomicAdd(&task.counts->left, 1ull))] = entry;
  }
}

template <int Limbs, int Pairs, EntryForm Form, bool Leading = false>
void launch_round(const DeviceDdBlock& block, cudaStream_t stream) {
  const ProductUnits units = product_units(block.m, block.n);
  launch("round_dd", round_dd<Limbs, Pairs, Form, Leading>,
         {.grid = dim3(static_cast<unsigned>(units.plane_bytes() / (round_dd_threads * round_dd_entries))),
          .block = dim3(round_dd_threads)},
         stream, block, RoundTables<Limbs, Leading>(residue_system(block.moduli)), units);
}

template <int Limbs, int Pairs, EntryForm Form = EntryForm::dd, bool Leading = false>
void launch_round_dd(const DeviceDdBlock& block, unsigned settle_blocks, cudaStream_t stream) {
  launch_round<Limbs, Pairs, Form, Leading>(block, stream);
  launch("settle_dd", settle_dd<Limbs, Form>, {.grid = dim3(settle_blocks), .block = dim3(settle_threads)}, stream,
         block, CrtTables<Limbs>(residue_system(block.moduli)), product_units(block.m, block.n));
}

}  // namespace vernier::cuda
