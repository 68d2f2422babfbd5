// The kernel behind refine_open_entries: Ct of an open entry once more from its residues, and with it what rounding
// took off the elements of its row and column that are no integers, whose places are known. 16 lanes an entry.
#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "product/scalars.hpp"
#include "residue/convert/digits.hpp"
#include "residue/exact/exact_cuda.hpp"
#include "residue/exact/round.hpp"

namespace vernier::cuda {

inline constexpr int refine_threads = 256, refine_lanes = 16;
inline constexpr int refine_blocks_of_a_multiprocessor = 6;

// Sums of all lanes of an entry, in each of them.
__device__ __forceinline__ double sum_of_lanes(double x) {
#pragma unroll
  for (int d = refine_lanes / 2; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

// The lane's share of Ct, all of whose sums are exact.
template <class T, int Limbs>
__device__ __forceinline__ CrtSums<Limbs> share_of_residues(const DeviceExactBlock<T>& task,
                                                            const CrtTables<Limbs>& tables, const ProductUnits& units,
                                                            std::int64_t i, std::int64_t j, int lane) {
  const std::int64_t plane = units.plane_bytes();
  const std::int8_t* residues = task.residues + (j / unit_columns * units.down + i / unit_rows) * unit_bytes +
                                unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns));
  CrtSums<Limbs> sums;
  for (int g = lane; g < tables.pairs; g += refine_lanes) {
    const std::uint32_t a = static_cast<std::uint8_t>(residues[2 * g * plane]);
    const std::uint32_t b = 2 * g + 1 < task.moduli ? static_cast<std::uint8_t>(residues[(2 * g + 1) * plane]) : 0;
    sums.add(joined_residues(tables.pair[g], a | b << 8, 0), tables, g);
  }
  return sums;
}

// The lane's share of the terms of the places of one side, row or column.
template <bool Row, class T>
__device__ __forceinline__ void add_terms(const DeviceExactBlock<T>& task, std::int64_t i, std::int64_t j,
                                          unsigned count, int lane, LostSum& lost) {
  const TwoFactors f = two_factors(task.side.a.scales[i]), g = two_factors(task.side.b.scales[j]);
  const std::uint32_t* places =
      Row ? task.lowest_bits.a.places + i * kept_places : task.lowest_bits.b.places + j * kept_places;
#pragma unroll 2
  for (unsigned t = lane; t < count; t += refine_lanes) {
    const std::uint32_t l = places[t];
    const double x = static_cast<double>(*task.side.a.x.at(i, l)) * f.first * f.second,
                 y = static_cast<double>(*task.side.b.x.at(j, l)) * g.first * g.second;
    lost.add(Row ? lost_by_row(x, y) : lost_by_column(x, y));
  }
}

// What doubles do not decide. Apart, since it takes many registers and is rare.
template <class T, int Limbs>
__noinline__ __device__ bool refined_by_integers(const CrtSums<Limbs> sums, double error, int scale,
                                                 const UpdateForm<T> form, T* c) {
  const std::optional<T> result = decided_by_integers(sums, error, scale, form, c);
  if (result) *c = *result;
  return result.has_value();
}

template <class T, int Limbs>
__global__ void __launch_bounds__(refine_threads, refine_blocks_of_a_multiprocessor)
    refine_entries(const __grid_constant__ DeviceExactBlock<T> task, const __grid_constant__ CrtTables<Limbs> tables,
                   ProductUnits units) {
  const int lane = threadIdx.x % refine_lanes;
  constexpr int together = refine_threads / refine_lanes;
  wait_for_previous_kernels();
  allow_next_kernel();
  const unsigned long long count = task.counts->open;
  if (count == 0 || !task.refines(count)) return;
  const UpdateForm<T> form(value_of(task.to.alpha), value_of(task.to.beta), task.rounding);
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * together;
  // Both entries of a warp go round together.
  for (unsigned long long e = first + threadIdx.x / refine_lanes; e / 2 * 2 < count;
       e += static_cast<unsigned long long>(gridDim.x) * together) {
    const bool exists = e < count;
    const std::uint32_t entry = task.open[exists ? e : 0];
    const std::int64_t j = entry / task.m, i = entry - j * task.m;
    const unsigned of_row = task.lowest_bits.a.counts[i].inexact, of_column = task.lowest_bits.b.counts[j].inexact;
    const VectorStatistics &row = task.side.a.statistics[i], &column = task.side.b.statistics[j];
    const bool known = of_row <= kept_places && of_column <= kept_places &&
                       row.lowest + task.side.a.scales[i] >= least_lost_exponent &&
                       column.lowest + task.side.b.scales[j] >= least_lost_exponent;
    CrtSums<Limbs> sums = share_of_residues(task, tables, units, i, j, lane);
    LostSum lost;
    if (known) {
      add_terms<true>(task, i, j, of_row, lane, lost);
      add_terms<false>(task, i, j, of_column, lane, lost);
    }
    __syncwarp();
#pragma unroll
    for (int l = 0; l < Limbs; ++l) sums.s[l] = sum_of_lanes(sums.s[l]);
    lost.sum = sum_of_lanes(lost.sum);
    lost.magnitude = sum_of_lanes(lost.magnitude);
    if (lane != 0 || !exists) continue;
    sums.reduce(tables);
    const double error = add_lost(sums, lost);
    const int scale = task.side.a.scales[i] + task.side.b.scales[j];
    T* c = task.to.c + i + j * task.to.ldc;
    T result{};
    const Verdict verdict = known ? decided_by_doubles(sums, error, scale, form, c, result) : Verdict::open;
    if (verdict == Verdict::decided)
      *c = result;
    else if (verdict == Verdict::open || !refined_by_integers(sums, error, scale, form, c))
      task.open[task.m * task.n - 1 - static_cast<std::int64_t>(atomicAdd(&task.counts->after_refining, 1ull))] = entry;
  }
}

template <class T, int Limbs>
void launch_refine(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  const auto most = static_cast<std::int64_t>(refine_blocks_of_a_multiprocessor) * current_device().multiprocessors;
  const std::int64_t wanted = divide_up(block.m * block.n, std::int64_t{refine_threads / refine_lanes});
  launch("refine_entries", refine_entries<T, Limbs>,
         {.grid = dim3(static_cast<unsigned>(std::min(most, wanted))),
          .block = dim3(refine_threads),
          .overlap_previous = true},
         stream, block, CrtTables<Limbs>(residue_system(block.moduli)), product_units(block.m, block.n));
}

template <class T>
void refine_open_entries(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  with_exact_limbs(block.moduli, [&](auto limbs) { launch_refine<T, decltype(limbs)::value>(block, stream); });
}

VERNIER_REAL_INSTANCES(refine_open_entries)

}  // namespace vernier::cuda
