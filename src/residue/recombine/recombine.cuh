// The kernel behind recombine_cuda.hpp: eight elements a thread, half of what one thread of the product kernel
// stored, or four.
#pragma once

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "product/plan/gpu_model.hpp"
#include "product/scalars.hpp"
#include "product/specials.cuh"
#include "residue/recombine/crt_words.cuh"
#include "residue/recombine/recombine_cuda.hpp"

namespace vernier::cuda {

inline constexpr int recombine_threads = 128;
inline constexpr int thread_elements = 8;

template <class T>
__device__ T with_specials(const DeviceRecombination<T>& task, std::int64_t i, std::int64_t j, T t) {
  const unsigned terms = special_terms(task.side.a, i, task.side.b, j);
  return terms == 0 ? t : sum_of_special_terms<T>(terms);
}

template <class T>
__device__ __forceinline__ T updated(T t, T alpha, T beta, T c) {
  if (alpha == 0) return beta == 0 ? T{0} : beta == 1 ? c : beta * c;  // the product is not looked at
  return beta == 0 ? alpha * t : fma(alpha, t, beta * c);
}

// T of four elements: bytes of one word of every plane. Pairs: how many there are, or 0 for tables.pairs.
template <class T, int Limbs, int Pairs, class Load>
__device__ __forceinline__ void four_entries(const CrtTables<Limbs>& tables, int moduli, Load load,
                                             const int (&exponents)[4], T (&out)[4]) {
  CrtSums<Limbs> sums[4];
  sum_four<Pairs>(tables, moduli, load, sums);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    sums[e].reduce(tables);
    out[e] = rounded_crt<T>(sums[e], -exponents[e]);
  }
}

// Of few limbs threads take four entries each: more of them find registers, and small products fill the GPU more evenly
// (docs/decisions.md).
template <int Limbs, int Pairs, bool InTurns>
inline constexpr int recombine_share = !InTurns && Limbs == 3 && Pairs > 0 ? 2 : 1;

// Pairs > 0: the whole product is regular, and has 2 Pairs or 2 Pairs - 1 moduli. 0: any product. InTurns: the gate is
// known to be open.
template <class T, int Limbs, int Pairs, bool InTurns, bool Symmetric = false>
__device__ __forceinline__ void recombine_entries(const DeviceRecombination<T>& task, const CrtTables<Limbs>& tables,
                                                  const ProductUnits& units, std::int64_t block) {
  constexpr int share = recombine_share<Limbs, Pairs, InTurns>;  // threads of eight elements
  const int own = static_cast<int>(threadIdx.x) % share;         // of these
  const std::int64_t at = (block * recombine_threads + threadIdx.x) / share;
  const auto [i0, j0] = UnitPlace<thread_elements>(units, at);
  const auto plane = static_cast<std::size_t>(task.plane_stride != 0 ? task.plane_stride : units.plane_bytes());
  const std::int64_t product = blockIdx.y;
  const auto* residues =
      reinterpret_cast<const uint2*>(task.residues + product * units.plane_bytes() + at * thread_elements);
  const int *row_scales = task.side.a.scales + product * task.m, *column_scales = task.side.b.scales + product * task.n;
  T* const result = task.to.c + product * task.product_stride_c;
  if constexpr (!InTurns) {
    wait_for_previous_kernels();
    allow_next_kernel();
    if (task.gate.closed()) return;
  }
  const bool symmetric = Symmetric && *task.asymmetric == 0;
  if (j0 >= task.n || i0 >= task.m || (symmetric && i0 + 9 < j0)) return;  // all above the diagonal
  using Word = std::conditional_t<share == 2, std::uint32_t, uint2>;
  Word raw[Pairs > 0 ? 2 * Pairs : 1];
  const auto plane_of = [&](int q) {
    return reinterpret_cast<const Word*>(reinterpret_cast<const std::int8_t*>(residues) + q * plane) + own;
  };
  if constexpr (Pairs > 0) {
    const auto* from = reinterpret_cast<const std::int8_t*>(plane_of(0));
#pragma unroll
    for (int q = 0; q < 2 * Pairs; ++q, from += plane)  // only the last may be missing
      raw[q] = q + 1 < 2 * Pairs || q < task.moduli ? __ldcs(reinterpret_cast<const Word*>(from)) : Word{};
  }
  const T alpha = value_of(task.to.alpha), beta = value_of(task.to.beta);
  const bool upper = j0 + 8 < task.n;
  const int column_scale[2] = {column_scales[j0], upper ? column_scales[j0 + 8] : 0};
  const bool pairs_aligned = task.to.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(result) % (2 * sizeof(T)) == 0;
#pragma unroll
  for (int w = 0; w < 2 / share; ++w) {
    const std::int64_t i = i0 + 8 * (w + own);
    if (i >= task.m) return;
    const bool second = i + 1 < task.m;
    const int row_scale[2] = {row_scales[i], second ? row_scales[i + 1] : 0};
    const int exponents[4] = {row_scale[0] + column_scale[0], row_scale[1] + column_scale[0],
                              row_scale[0] + column_scale[1], row_scale[1] + column_scale[1]};
    T t[4];
    const auto load = [&](int q) {
      const Word r = Pairs > 0 ? raw[q] : *plane_of(q);
      if constexpr (share == 2)
        return r;
      else
        return w == 0 ? r.x : r.y;
    };
    four_entries<T, Limbs, Pairs>(tables, task.moduli, load, exponents, t);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::int64_t j = j0 + 8 * h;
      if (h == 1 && !upper) break;
      T* c = result + i + j * task.to.ldc;
      if (Pairs > 0 && pairs_aligned && second && !symmetric) {
        using Two = std::conditional_t<sizeof(T) == 8, double2, float2>;
        auto* two = reinterpret_cast<Two*>(c);
        Two before{};
        if (beta != 0) before = *two;
        *two = Two{updated(t[2 * h], alpha, beta, before.x), updated(t[2 * h + 1], alpha, beta, before.y)};
        continue;
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (e == 1 && !second) break;
        if constexpr (Pairs == 0) {
          if (task.proofs.a != nullptr && entry_is_ordinary(task.proofs.a[i + e], task.proofs.b[j]) != task.ordinary)
            continue;
          if (task.specials) t[2 * h + e] = with_specials(task, i + e, j, t[2 * h + e]);
        }
        if (symmetric && i + e < j) continue;
        c[e] = updated(t[2 * h + e], alpha, beta, beta != 0 ? c[e] : T{0});
        if (symmetric) result[j + (i + e) * task.to.ldc] = c[e];
      }
    }
  }
}

// InTurns: the launch has fewer blocks than the planes. A loop costs registers, so there is a kernel without.
template <int Limbs, int Pairs, bool InTurns>
inline constexpr int recombine_blocks = recombine_share<Limbs, Pairs, InTurns> == 2 ? 8
                                        : Pairs > 8 || (Pairs > 0 && Limbs > 3)     ? 4
                                        : Pairs > 0                                 ? 6
                                                                                    : 2;
template <class T, int Limbs, int Pairs, bool InTurns, bool Symmetric = false>
__global__ void __launch_bounds__(recombine_threads, recombine_blocks<Limbs, Pairs, InTurns>)
    recombine_product(const __grid_constant__ DeviceRecombination<T> task,
                      const __grid_constant__ CrtTables<Limbs> tables, ProductUnits units) {
  if constexpr (!InTurns) {
    recombine_entries<T, Limbs, Pairs, false, Symmetric>(task, tables, units, blockIdx.x);
  } else {
    const std::int64_t blocks = units.plane_bytes() / (recombine_threads * thread_elements);
    wait_for_previous_kernels();
    allow_next_kernel();
    if (task.gate.closed()) return;
#pragma unroll 1
    for (std::int64_t block = blockIdx.x; block < blocks; block += gridDim.x)
      recombine_entries<T, Limbs, Pairs, true>(task, tables, units, block);
  }
}

template <class T, int Limbs, int Pairs>
void launch_recombination(const DeviceRecombination<T>& task, cudaStream_t stream) {
  constexpr std::int64_t at_once = std::int64_t{6} * h200_multiprocessors;
  const ProductUnits units = task.units.down != 0 ? task.units : product_units(task.m, task.n);
  const std::int64_t blocks = units.plane_bytes() / (recombine_threads * thread_elements);
  const auto launch_as = [&](auto kernel, std::int64_t count) {
    launch("recombine_product", kernel,
           {.grid = dim3(static_cast<unsigned>(count), static_cast<unsigned>(task.products)),
            .block = dim3(recombine_threads),
            .overlap_previous = true},
           stream, task, CrtTables<Limbs>(residue_system(task.moduli, task.list)), units);
  };
  if constexpr (std::is_same_v<T, double>)
    if (task.asymmetric != nullptr)
      return launch_as(recombine_product<T, Limbs, Pairs, false, true>, blocks * recombine_share<Limbs, Pairs, false>);
  if constexpr (std::is_same_v<T, double> && Pairs >= 7)
    if (task.seldom && blocks > at_once) return launch_as(recombine_product<T, Limbs, Pairs, true>, at_once);
  launch_as(recombine_product<T, Limbs, Pairs, false>, blocks * recombine_share<Limbs, Pairs, false>);
}

template <class T>
void recombine_on_device(const DeviceRecombination<T>& task, cudaStream_t stream) {
  if (!task.specials && task.proofs.a == nullptr) {
    switch ((task.moduli + 1) / 2) {
      case 4:
        return launch_recombination<T, 3, 4>(task, stream);
      case 7:
        return launch_recombination<T, 3, 7>(task, stream);
      case 8:
        if (three_limbs_hold(task.moduli, task.list)) return launch_recombination<T, 3, 8>(task, stream);
        break;
      default:
        break;
    }
    if constexpr (std::is_same_v<T, double>) {  // what wide exponents often take
      switch ((task.moduli + 1) / 2) {
        case 8:
          return launch_recombination<T, 4, 8>(task, stream);
        case 9:
          return launch_recombination<T, 4, 9>(task, stream);
        case 10:
          if (task.moduli <= most_moduli_of_four_limbs) return launch_recombination<T, 4, 10>(task, stream);
          break;
        case 13:
          return launch_recombination<T, 6, 13>(task, stream);
        default:
          break;
      }
    }
  }
  switch (crt_limbs(task.moduli)) {
    case 3:
      return launch_recombination<T, 3, 0>(task, stream);
    case 4:
      return launch_recombination<T, 4, 0>(task, stream);
    case 6:
      return launch_recombination<T, 6, 0>(task, stream);
    case 9:
      return launch_recombination<T, 9, 0>(task, stream);
    default:
      return launch_recombination<T, 11, 0>(task, stream);
  }
}

}  // namespace vernier::cuda
