// Recombination of the seven products of Strassen-Winograd: their sums, modulo two p at once, and the Chinese remainder
// in one pass. A thread has the same four bytes of every product, and so four elements of each quarter of C.
#pragma once

#include "residue/convert/winograd_cuda.hpp"
#include "residue/recombine/crt.hpp"
#include "residue/recombine/recombine.cuh"

namespace vernier::cuda {

template <int Pairs>
struct PairReductions {
  PairReduction of[Pairs];
};

// u of the four bytes of each product -> the same of each quarter of C, plus `start`.
__device__ __forceinline__ void sum_products(const int (&u)[winograd_products], int start, int (&c)[quarters]) {
  const int first = u[0] + start, some = first + u[5], all = some + u[6];
  c[0] = first + u[1];
  c[1] = some + u[4] + u[2];
  c[2] = all - u[3];
  c[3] = all + u[4];
}

// Words of pairs of moduli on their way, each thread its own.
inline constexpr int pairs_ahead = 4;
struct PairsAhead {
  std::uint32_t word[pairs_ahead][2][winograd_products][recombine_threads];
};

// Pair g, as one group of copies; nothing beyond the last pair.
template <int Pairs>
__device__ __forceinline__ void fetch_pair(PairsAhead& ahead, const std::uint32_t* from, std::int64_t plane_words,
                                           int g, int moduli) {
  if (g < Pairs) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const bool exists = 2 * g + side < moduli;
      const std::uint32_t* plane = from + (exists ? 2 * g + side : 0) * winograd_products * plane_words;
#pragma unroll
      for (int s = 0; s < winograd_products; ++s)
        copy_async(&ahead.word[g % pairs_ahead][side][s][threadIdx.x], plane + s * plane_words, exists);
    }
  }
  close_copies();
}

template <int Limbs, int Pairs>
__device__ __forceinline__ void recombine_quarters(const DeviceRecombination<double>& task,
                                                   const CrtTables<Limbs>& tables,
                                                   const PairReductions<Pairs>& reductions, std::int64_t half_m,
                                                   std::int64_t half_n, PairsAhead& ahead, std::int64_t block) {
  const ProductUnits& units = task.units;
  const std::int64_t word = block * recombine_threads + threadIdx.x;  // of the thread in each plane
  const UnitPlace<4> place(units, word);
  const std::int64_t plane_words = units.plane_bytes() / 4;
  const auto* residues = reinterpret_cast<const std::uint32_t*>(task.residues) + word;
  if (place.row >= task.m || place.column >= task.n) return;
#pragma unroll
  for (int g = 0; g < pairs_ahead - 1; ++g) fetch_pair<Pairs>(ahead, residues, plane_words, g, task.moduli);
  CrtSums<Limbs> sums[quarters][4];
#pragma unroll 1
  for (int g = 0; g < Pairs; ++g) {
    fetch_pair<Pairs>(ahead, residues, plane_words, g + pairs_ahead - 1, task.moduli);
    wait_for_copies_but<pairs_ahead - 1>();
    std::uint32_t low[winograd_products], high[winograd_products];
#pragma unroll
    for (int s = 0; s < winograd_products; ++s) {
      const std::uint32_t a = ahead.word[g % pairs_ahead][0][s][threadIdx.x],
                          b = ahead.word[g % pairs_ahead][1][s][threadIdx.x];
      low[s] = __byte_perm(a, b, 0x5140);
      high[s] = __byte_perm(a, b, 0x7362);
    }
    const PairReduction& r = reductions.of[g];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      int u[winograd_products], c[quarters];
#pragma unroll
      for (int s = 0; s < winograd_products; ++s)
        u[s] = joined_residues(tables.pair[g], e < 2 ? low[s] : high[s], e % 2) ^ sign_turned;
      sum_products(u, r.start, c);
#pragma unroll
      for (int i = 0; i < quarters; ++i) sums[i][e].add_exact(exact_sum(c[i], r), tables, g);
    }
  }
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
        CrtSums<Limbs>& sum = sums[quarter][2 * h + e];
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
__global__ void __launch_bounds__(recombine_threads, 3)
    recombine_winograd(const __grid_constant__ DeviceRecombination<double> task,
                       const __grid_constant__ CrtTables<Limbs> tables,
                       const __grid_constant__ PairReductions<Pairs> reductions, std::int64_t half_m,
                       std::int64_t half_n, int blocks) {
  __shared__ PairsAhead ahead;
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
#pragma unroll 1
  for (int block = static_cast<int>(blockIdx.x); block < blocks; block += static_cast<int>(gridDim.x))
    recombine_quarters<Limbs, Pairs>(task, tables, reductions, half_m, half_n, ahead, block);
}

template <int Limbs, int Pairs>
void launch_pairs(const DeviceRecombination<double>& task, cudaStream_t stream) {
  constexpr unsigned at_once = 3 * h200_multiprocessors;
  PairReductions<Pairs> reductions{};
  for (int g = 0; g < Pairs; ++g) reductions.of[g] = pair_reduction(task.moduli, g);
  const auto blocks = static_cast<unsigned>(task.units.plane_bytes() / (recombine_threads * 4));
  launch("recombine_winograd", recombine_winograd<Limbs, Pairs>,
         {.grid = dim3(task.seldom ? std::min(blocks, at_once) : blocks),
          .block = dim3(recombine_threads),
          .overlap_previous = true},
         stream, task, CrtTables<Limbs>(residue_system(task.moduli)), reductions, half_vectors(task.m),
         half_vectors(task.n), static_cast<int>(blocks));
}

inline bool launch_winograd_recombination(const DeviceRecombination<double>& task, cudaStream_t stream) {
  if (task.specials || task.proofs.a != nullptr) return false;
  switch (task.moduli) {
    case 13:
    case 14:
      launch_pairs<3, 7>(task, stream);
      return true;
    case 15:
      launch_pairs<3, 8>(task, stream);
      return true;
    case 16:
      launch_pairs<4, 8>(task, stream);
      return true;
    case 17:
    case 18:
      launch_pairs<4, 9>(task, stream);
      return true;
    case 19:
      launch_pairs<4, 10>(task, stream);
      return true;
    default:
      return false;
  }
}

}  // namespace vernier::cuda
