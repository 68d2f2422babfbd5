// Recombination of the seven products of Strassen-Winograd: their sums and the Chinese remainder in one pass. A thread
// has the same four bytes of every product, and so four elements of each quarter of C.
#pragma once

#include "residue/convert/winograd_cuda.hpp"
#include "residue/recombine/crt.hpp"
#include "residue/recombine/recombine.cuh"

namespace vernier::cuda {

template <int Limbs>
using SumTables = CrtTables<Limbs, summed_limb_width<Limbs>>;

// Words of pairs of moduli on their way, each warp its own.
inline constexpr int pairs_ahead = 4, pair_planes = 2 * winograd_products, stored_planes = 16;
struct alignas(16) PairsAhead {
  std::uint32_t word[pairs_ahead][recombine_threads / 32][stored_planes][32];
};

// Pair g of a warp, by all its lanes, as one group of copies; nothing beyond the last pair. from: of the lane in the
// pair, an eighth of what the warp has of plane lane / 8.
template <int Pairs>
__device__ __forceinline__ void fetch_pair(PairsAhead& ahead, const std::int8_t* from, std::int64_t plane_bytes, int g,
                                           int planes) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t* to = &ahead.word[g % pairs_ahead][threadIdx.x / 32][lane / 8][lane % 8 * 4];
  if (g < Pairs) {
#pragma unroll
    for (int p = 0; p < stored_planes; p += 4, from += 4 * plane_bytes)
      copy_async_ahead(reinterpret_cast<uint4*>(to + 32 * p), reinterpret_cast<const uint4*>(from),
                       p + lane / 8 < min(pair_planes, planes - pair_planes * g));
  }
  close_copies();
}

template <int Limbs, int Pairs>
__device__ __forceinline__ void recombine_quarters(const DeviceRecombination<double>& task,
                                                   const SumTables<Limbs>& tables, std::int64_t half_m,
                                                   std::int64_t half_n, PairsAhead& ahead, std::int64_t block) {
  const ProductUnits& units = task.units;
  const std::int64_t word = block * recombine_threads + threadIdx.x;  // of the thread in each plane
  const UnitPlace<4> place(units, word);
  const int lane = static_cast<int>(threadIdx.x) % 32, planes = task.moduli * winograd_products;
  const std::int8_t* next = task.residues + 4 * (word - lane) + lane / 8 * units.plane_bytes() + lane % 8 * 16;
  const auto fetch = [&](int g) {
    fetch_pair<Pairs>(ahead, next, units.plane_bytes(), g, planes);
    next += pair_planes * units.plane_bytes();
  };
  __syncwarp();
#pragma unroll
  for (int g = 0; g < pairs_ahead - 1; ++g) fetch(g);
  CrtSums<Limbs, summed_limb_width<Limbs>> sums[quarters][4];
#pragma unroll 1
  for (int g = 0; g < Pairs; ++g) {
    wait_for_copies_but<pairs_ahead - 2>();
    __syncwarp();  // the copies of all lanes are there, and the pair before has been read
    fetch(g + pairs_ahead - 1);
    std::uint32_t low[winograd_products], high[winograd_products];
#pragma unroll
    for (int s = 0; s < winograd_products; ++s) {
      const auto& of_pair = ahead.word[g % pairs_ahead][threadIdx.x / 32];
      const std::uint32_t a = of_pair[s][lane], b = of_pair[winograd_products + s][lane];
      low[s] = __byte_perm(a, b, 0x5140);
      high[s] = __byte_perm(a, b, 0x7362);
    }
    std::uint32_t pair = tables.pair[g];  // in a register, or each product has a copy made
    keep(pair);
    const std::uint32_t minus = ~pair + 0x10001u;  // - p_b and - p_a
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const auto add = [&](int s, std::int32_t to, std::uint32_t weights) {
        return joined_residues(weights, e < 2 ? low[s] : high[s], e % 2, to);
      };
      const int first = add(0, sign_turned, pair), some = add(5, first, pair), all = add(6, some, pair);
      const int c[quarters] = {add(1, first, pair), add(2, add(4, some, pair), pair), add(3, all, minus),
                               add(4, all, pair)};
#pragma unroll
      for (int i = 0; i < quarters; ++i) sums[i][e].add(c[i], tables, g);
    }
  }
  if (place.row >= task.m || place.column >= task.n) return;
  const double alpha = value_of(task.to.alpha), beta = value_of(task.to.beta);
  const bool pairs_aligned = task.to.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(task.to.c) % 16 == 0;
#pragma unroll
  for (int quarter = 0; quarter < quarters; ++quarter) {
    const std::int64_t i = place.row + quarter / 2 * half_m;
    if (i >= task.m) break;
    const bool second = i + 1 < task.m;
    const int row_scale[2] = {task.side.a.scales[i], second ? task.side.a.scales[i + 1] : 0};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::int64_t j = place.column + quarter % 2 * half_n + 8 * h;
      if (j >= task.n) break;
      const int column_scale = task.side.b.scales[j];
      double t[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        auto& sum = sums[quarter][2 * h + e];
        sum.reduce(tables);
        t[e] = rounded_crt<double>(sum, -(row_scale[e] + column_scale));
      }
      double* c = task.to.c + i + j * task.to.ldc;
      if (pairs_aligned && second) {
        auto* two = reinterpret_cast<double2*>(c);
        double2 before{};
        if (beta != 0) before = *two;
        *two = double2{updated(t[0], alpha, beta, before.x), updated(t[1], alpha, beta, before.y)};
      } else {
        c[0] = updated(t[0], alpha, beta, beta != 0 ? c[0] : 0.0);
        if (second) c[1] = updated(t[1], alpha, beta, beta != 0 ? c[1] : 0.0);
      }
    }
  }
}

// Behind a gate that is seldom open a launch has few blocks, which take turns.
template <int Limbs, int Pairs>
__global__ void __launch_bounds__(recombine_threads, Limbs > 4 ? 2 : 3)
    recombine_winograd(const __grid_constant__ DeviceRecombination<double> task,
                       const __grid_constant__ SumTables<Limbs> tables, std::int64_t half_m, std::int64_t half_n,
                       int blocks) {
  __shared__ PairsAhead ahead;
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
#pragma unroll 1
  for (int block = static_cast<int>(blockIdx.x); block < blocks; block += static_cast<int>(gridDim.x))
    recombine_quarters<Limbs, Pairs>(task, tables, half_m, half_n, ahead, block);
}

template <int Limbs, int Pairs>
void launch_pairs(const DeviceRecombination<double>& task, cudaStream_t stream) {
  constexpr unsigned at_once = 3 * h200_multiprocessors;
  const auto blocks = static_cast<unsigned>(task.units.plane_bytes() / (recombine_threads * 4));
  launch("recombine_winograd", recombine_winograd<Limbs, Pairs>,
         {.grid = dim3(task.seldom ? std::min(blocks, at_once) : blocks),
          .block = dim3(recombine_threads),
          .overlap_previous = true},
         stream, task, SumTables<Limbs>(residue_system(task.moduli)), half_vectors(task.m), half_vectors(task.n),
         static_cast<int>(blocks));
}

inline bool launch_winograd_recombination(const DeviceRecombination<double>& task, cudaStream_t stream) {
  if (task.specials || task.proofs.a != nullptr) return false;
  switch (task.moduli) {
    case 13:
    case 14:
      launch_pairs<3, 7>(task, stream);
      return true;
    case 15:
    case 16:
      launch_pairs<4, 8>(task, stream);
      return true;
    case 17:
    case 18:
      launch_pairs<4, 9>(task, stream);
      return true;
    case 19:
      launch_pairs<5, 10>(task, stream);
      return true;
    default:
      return false;
  }
}

}  // namespace vernier::cuda
