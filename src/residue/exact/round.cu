// The kernel behind round_on_device: eight entries a thread, in the order in which the product kernel stores residues.

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "product/scalars.hpp"
#include "residue/exact/exact_cuda.hpp"
#include "residue/exact/round.hpp"
#include "residue/recombine/crt_words.cuh"

namespace vernier::cuda {

inline constexpr int round_threads = 128;
inline constexpr int round_entries = 8;  // of a thread: rows i0, i0 + 1, i0 + 8, i0 + 9 of columns j0 and j0 + 8

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

// Usual numbers of moduli fill their limbs, so that the leading ones suffice.
template <int Limbs, int Pairs>
using RoundSums = std::conditional_t<(Pairs > 0), LeadingSums<Limbs>, CrtSums<Limbs>>;

// What a thread knows of two rows or two columns.
struct TwoVectors {
  RoundError error[2];
  bool exists[2], finite[2];

  __device__ __forceinline__ TwoVectors(const RoundError* errors, const VectorStatistics* statistics, bool specials,
                                        std::int64_t first, int step, std::int64_t count) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const std::int64_t v = first + e * step;
      exists[e] = v < count;
      error[e] = exists[e] ? errors[v] : RoundError{};
      finite[e] = !specials || !exists[e] || !statistics[v].nonfinite;
    }
  }
};

// Entries that a block leaves open, with one addition to their count in memory.
struct OpenEntries {
  unsigned count;
  unsigned long long first;
  std::uint32_t entry[round_threads * round_entries];

  __device__ __forceinline__ void add(std::int64_t which) {
    entry[atomicAdd(&count, 1u)] = static_cast<std::uint32_t>(which);
  }
  // By all threads.
  __device__ __forceinline__ void publish(DeviceOpenCounts& counts, std::uint32_t* list) {
    __syncthreads();
    if (count == 0) return;
    if (threadIdx.x == 0) first = atomicAdd(&counts.open, static_cast<unsigned long long>(count));
    __syncthreads();
    for (unsigned e = threadIdx.x; e < count; e += round_threads) list[first + e] = entry[e];
  }
};

// Where a thread's entries lie: rows row + 8 w + x of columns column + 8 y have bit 4 w + 2 y + x.
struct RoundPlace : UnitPlace<round_entries> {
  std::int64_t byte;

  __device__ RoundPlace(const ProductUnits& units, std::int64_t at) : UnitPlace(units, at), byte(at * round_entries) {}
  __device__ std::int64_t row_of(int bit) const { return row + 8 * (bit / 4) + bit % 2; }
  __device__ std::int64_t column_of(int bit) const { return column + 8 * (bit / 2 % 2); }
};

// Bits of entries.
struct Undecided {
  unsigned open = 0, unclear = 0;
};

// Two entries of a column.
template <class T>
__device__ __forceinline__ void store_decided(T* c, const T (&result)[2], const bool (&decided)[2], bool aligned) {
  using Two = std::conditional_t<sizeof(T) == 8, double2, float2>;
  if (aligned && decided[0] && decided[1]) {
    *reinterpret_cast<Two*>(c) = Two{result[0], result[1]};
    return;
  }
  if (decided[0]) c[0] = result[0];
  if (decided[1]) c[1] = result[1];
}

// A thread's entries, where doubles decide them.
template <class T, int Limbs, int Pairs, bool Plain>
__device__ __forceinline__ Undecided round_entries_of(const DeviceExactBlock<T>& task, const CrtTables<Limbs>& tables,
                                                      const UpdateForm<T>& form, const RoundPlace& at,
                                                      std::size_t plane) {
  const auto plane_of = [&](int q) { return reinterpret_cast<const uint2*>(task.residues + at.byte + q * plane); };
  uint2 raw[Pairs > 0 ? 2 * Pairs : 1];
  if constexpr (Pairs > 0) {
#pragma unroll
    for (int q = 0; q < 2 * Pairs; ++q) raw[q] = q < task.moduli ? __ldcs(plane_of(q)) : make_uint2(0, 0);
  }
  const TwoVectors columns(task.errors.b, task.side.b.statistics, task.specials, at.column, 8, task.n);
  const bool aligned = task.to.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(task.to.c) % (2 * sizeof(T)) == 0;
  Undecided undecided;
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    const std::int64_t i = at.row + 8 * w;
    if (i >= task.m) break;
    const TwoVectors rows(task.errors.a, task.side.a.statistics, task.specials, i, 1, task.m);
    RoundSums<Limbs, Pairs> sums[4];
    const auto load = [&](int q) {
      const uint2 r = Pairs > 0 ? raw[q] : *plane_of(q);
      return w == 0 ? r.x : r.y;
    };
    sum_four<Pairs>(tables, task.moduli, load, sums);
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[e].reduce(tables);
#pragma unroll
    for (int y = 0; y < 2; ++y) {
      T* c = task.to.c + i + (at.column + 8 * y) * task.to.ldc;
      T result[2];
      bool decided[2];
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        decided[x] = rows.exists[x] && columns.exists[y];
        if (!decided[x]) continue;
        if (!Plain && form.alpha == 0) {  // the product is not looked at
          result[x] = form.beta == 0 ? T{0} : product_in_direction(form.beta, c[x], form.rounding);
          continue;
        }
        decided[x] = rows.finite[x] && columns.finite[y];
        if (!decided[x]) continue;
        const Verdict verdict =
            decided_by_doubles<Plain>(sums[x + 2 * y], entry_error(rows.error[x], columns.error[y]),
                                      rows.error[x].scale + columns.error[y].scale, form, c + x, result[x]);
        const unsigned bit = 1u << (4 * w + 2 * y + x);
        decided[x] = verdict == Verdict::decided;
        if (verdict == Verdict::open) undecided.open |= bit;
        if (verdict == Verdict::unclear) undecided.unclear |= bit;
      }
      store_decided(c, result, decided, aligned);
    }
  }
  return undecided;
}

// Pairs > 0: there are 2 Pairs or 2 Pairs - 1 moduli; 0: any number. Plain: beta = 0 and alpha is a power of two, both
// known to the host, and rounding is to nearest.
template <class T, int Limbs, int Pairs, bool Plain>
__global__ void __launch_bounds__(round_threads, Pairs > 0 ? 4 : 3)
    round_product(const __grid_constant__ DeviceExactBlock<T> task, const __grid_constant__ CrtTables<Limbs> tables,
                  const __grid_constant__ UpdateForm<T> plain_form, ProductUnits units) {
  __shared__ OpenEntries entries;
  if (threadIdx.x == 0) entries.count = 0;
  const RoundPlace at(units, static_cast<std::int64_t>(blockIdx.x) * round_threads + threadIdx.x);
  const auto plane = static_cast<std::size_t>(units.plane_bytes());
  wait_for_previous_kernels();
  allow_next_kernel();
  __syncthreads();
  const UpdateForm<T> form =
      Plain ? plain_form : UpdateForm<T>(value_of(task.to.alpha), value_of(task.to.beta), task.rounding);
  Undecided undecided;
  if (at.column < task.n && at.row < task.m)
    undecided = round_entries_of<T, Limbs, Pairs, Plain>(task, tables, form, at, plane);
#pragma unroll 1
  for (unsigned rest = undecided.unclear; rest != 0; rest &= rest - 1) {
    const int bit = __ffs(static_cast<int>(rest)) - 1;
    const std::int64_t i = at.row_of(bit), j = at.column_of(bit);
    if (!write_by_integers(tables, task.moduli, task.residues + at.byte + bit, plane,
                           entry_error(task.errors.a[i], task.errors.b[j]),
                           task.errors.a[i].scale + task.errors.b[j].scale, form, task.to.c + i + j * task.to.ldc))
      undecided.open |= 1u << bit;
  }
#pragma unroll 1
  for (unsigned rest = undecided.open; rest != 0; rest &= rest - 1) {
    const int bit = __ffs(static_cast<int>(rest)) - 1;
    entries.add(at.row_of(bit) + at.column_of(bit) * task.m);
  }
  entries.publish(*task.counts, task.open);
}

template <class T, int Limbs, int Pairs, bool Plain>
void launch_rounding(const DeviceExactBlock<T>& block, const UpdateForm<T>& form, cudaStream_t stream) {
  const ProductUnits units = product_units(block.m, block.n);
  const auto blocks = static_cast<unsigned>(units.plane_bytes() / (round_threads * round_entries));
  launch("round_product", round_product<T, Limbs, Pairs, Plain>,
         {.grid = dim3(blocks), .block = dim3(round_threads), .overlap_previous = true}, stream, block,
         CrtTables<Limbs>(residue_system(block.moduli)), form, units);
}

// The numbers of moduli that ordinary data take have kernels of their own.
template <class T, int Pairs>
bool launch_usual_rounding(const DeviceExactBlock<T>& block, const UpdateForm<T>& form, cudaStream_t stream) {
  constexpr int limbs = exact_limbs(2 * Pairs - 1);
  if ((block.moduli + 1) / 2 != Pairs || exact_limbs(block.moduli) != limbs) return false;
  const bool known = block.to.alpha.in_device_memory == nullptr && block.to.beta.in_device_memory == nullptr;
  known&& form.only_rounded&& form.rounding == Rounding::nearest
      ? launch_rounding<T, limbs, Pairs, true>(block, form, stream)
      : launch_rounding<T, limbs, Pairs, false>(block, form, stream);
  return true;
}

template <class T>
void round_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream) {
  const UpdateForm<T> form(block.to.alpha.value, block.to.beta.value, block.rounding);
  if constexpr (sizeof(T) == 8) {
    if (launch_usual_rounding<T, 9>(block, form, stream) || launch_usual_rounding<T, 10>(block, form, stream)) return;
  } else {
    if (launch_usual_rounding<T, 5>(block, form, stream) || launch_usual_rounding<T, 6>(block, form, stream)) return;
  }
  with_exact_limbs(block.moduli,
                   [&](auto limbs) { launch_rounding<T, decltype(limbs)::value, 0, false>(block, form, stream); });
}

VERNIER_REAL_INSTANCES(round_on_device)

}  // namespace vernier::cuda
