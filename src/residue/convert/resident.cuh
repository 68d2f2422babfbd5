// The conversion kernel for elements of one to three words that measures, for k up to 8192: each element is read from
// memory once and stays in shared memory through all sweeps. A warp has a vector of the strip and, of each piece
// of 128 k, four elements a lane. Meeting: how the blocks of a strip learn what the others found, in a cluster
// (cluster.cuh) or through memory (without_clusters.cu).
#pragma once

#include "residue/convert/resident_strip.cuh"

namespace vernier::cuda {

inline constexpr int resident_vectors = convert_warps;  // of a strip, one for each warp

// ---- what a warp finds out about one vector, from `Count` elements a lane -------------------------------------------

struct alignas(sizeof(uint4)) ExponentRange {
  int largest, lowest;  // nothing_found and its negative for a vector of zeros
  bool nonfinite;
};
inline constexpr int nothing_found = -(1 << 20);

// Twice the leading word of |x|: in order, but for numbers that differ in the rest alone.
__device__ __forceinline__ std::uint32_t magnitude_key(double x) {
  return static_cast<std::uint32_t>(__double2hiint(x)) << 1;
}
__device__ __forceinline__ std::uint32_t magnitude_key(float x) { return __float_as_uint(x) << 1; }

// Whether some element is not zero but has all of it in the word that keys do not have. By all lanes.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ bool some_tiny(ResidentStrip<Pieces, Vectors>& strip, int v, int chunk) {
  constexpr int together = ResidentStrip<Pieces, Vectors>::together;
  bool tiny = false;
#pragma unroll 1
  for (int p = 0; p < Pieces; p += together) {  // zeros are common: sparse data, rectified ones
    T x[4 * together];
    strip.read(v, p, chunk, x);
#pragma unroll
    for (int i = 0; i < 4 * together; ++i) tiny = tiny || (magnitude_key(x[i]) == 0 && x[i] != 0);
  }
  return __any_sync(~0u, tiny) != 0;
}

// Of the lane's elements of vector v; all lanes get the result. The common case, neither subnormal nor infinite
// elements, looks at keys alone. Loops that are hardly ever taken are not unrolled: where one wave of blocks has all
// elements, reading instructions takes its time.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ ExponentRange warp_exponents(ResidentStrip<Pieces, Vectors>& strip, int v, int chunk) {
  constexpr int fraction_of_key = Ieee754<T>::precision - (sizeof(T) == 8 ? 32 : 0), bias = Ieee754<T>::max_exponent;
  constexpr std::uint32_t least_normal = 1u << fraction_of_key, infinity = static_cast<std::uint32_t>(2 * bias + 1)
                                                                           << fraction_of_key;
  constexpr int together = ResidentStrip<Pieces, Vectors>::together;
  std::uint32_t largest = 0, smallest = ~0u;
  bool some_zero = false;
#pragma unroll 1
  for (int p = 0; p < Pieces; p += together) {
    T x[4 * together];
    strip.read(v, p, chunk, x);
#pragma unroll
    for (int i = 0; i < 4 * together; ++i) {
      const std::uint32_t key = magnitude_key(x[i]);
      largest = max(largest, key);
      smallest = min(smallest, key - 1);  // zeros become the largest number
      if (sizeof(T) == 8) some_zero = some_zero || key == 0;
    }
  }
  const bool tiny = __any_sync(~0u, some_zero) != 0 && some_tiny<T>(strip, v, chunk);
  largest = __reduce_max_sync(~0u, largest);
  smallest = __reduce_min_sync(~0u, smallest);
  if (largest == 0 && !tiny) return {nothing_found, -nothing_found, false};
  if (smallest >= least_normal - 1 && largest < infinity && !tiny)
    return {static_cast<int>(largest >> fraction_of_key) - bias,
            static_cast<int>((smallest + 1) >> fraction_of_key) - bias, false};
  int high = nothing_found, low = -nothing_found;
  bool nonfinite = false;
#pragma unroll 1
  for (int i = 0; i < 4 * Pieces; ++i) {
    const auto bits = magnitude_bits(*reinterpret_cast<const T*>(strip.at(v, i / 4, chunk, i % 4)));
    if (bits >= infinity_bits<T>) {
      nonfinite = true;
    } else if (bits != 0) {
      high = max(high, exponent_of<T>(bits));
      low = min(low, exponent_of<T>(bits));
    }
  }
  return {__reduce_max_sync(~0u, high), __reduce_min_sync(~0u, low), __any_sync(~0u, nonfinite) != 0};
}

struct alignas(sizeof(uint4)) FoundSums {
  std::uint32_t squares_low, squares_high;  // sums of the halves of lanes' sums
  std::uint32_t sum, clipped[3];
};

// What a block finds. Blocks share it part by part, vector by vector.
struct ResidentFindings {
  ExponentRange exponents[resident_vectors];
  FoundSums sums[resident_vectors];
};

// One lane asks one block of the strip; all lanes get the result.
template <class Meeting>
__device__ __forceinline__ ExponentRange strip_exponents(const Meeting& meeting, int v, int lane) {
  ExponentRange r{nothing_found, -nothing_found, false};
  if (lane < meeting.blocks()) r = meeting.of(lane).exponents[v];
  return {__reduce_max_sync(~0u, r.largest), __reduce_min_sync(~0u, r.lowest), __any_sync(~0u, r.nonfinite) != 0};
}

// sum v_l^2 of vector v in the whole strip, in every lane.
template <class Meeting>
__device__ __forceinline__ std::uint64_t strip_squares(const Meeting& meeting, int v, int lane) {
  std::uint32_t low = 0, high = 0;
  if (lane < meeting.blocks()) {
    const FoundSums& theirs = meeting.of(lane).sums[v];
    low = theirs.squares_low;
    high = theirs.squares_high;
  }
  return (static_cast<std::uint64_t>(__reduce_add_sync(~0u, high)) << 16) + __reduce_add_sync(~0u, low);
}

// All that is known about vector v, in the one lane that asks.
template <class Meeting>
__device__ inline VectorStatistics strip_statistics(const Meeting& meeting, int v, std::int64_t k) {
  ExponentRange range{nothing_found, -nothing_found, false};
  VectorSums sums;
  for (int r = 0; r < meeting.blocks(); ++r) {
    const FoundSums& theirs = meeting.of(r).sums[v];
    const ExponentRange& found = meeting.of(r).exponents[v];
    range = {max(range.largest, found.largest), min(range.lowest, found.lowest), range.nonfinite || found.nonfinite};
    sums.squares += (static_cast<std::uint64_t>(theirs.squares_high) << 16) + theirs.squares_low;
    sums.sum += theirs.sum;
    for (std::size_t i = 0; i < 3; ++i) sums.clipped[i] += theirs.clipped[i];
  }
  VectorStatistics st;
  st.nonfinite = range.nonfinite;
  if (range.largest == nothing_found) return st;
  st.exponent = range.largest;
  st.lowest = range.lowest;
  st.squares = sums.squares;
  st.sum = sums.sum;
  st.flatness = shallow_flatness(sums, k);
  return st;
}

// Sums of one lane's elements: 16 bits hold the clipped ones, which are kept in pairs of elements.
struct LaneSums {
  std::uint32_t squares = 0, sum = 0, clipped[3] = {};

  template <int Count, class Quantise>
  __device__ __forceinline__ void add(Quantise quantise) {
    constexpr auto depths = shallow_depths;
    static_assert(Count <= 32 && depths[0] >= 2);
    std::uint32_t pairs[3] = {};
#pragma unroll
    for (int i = 0; i < Count; i += 2) {
      const std::uint32_t a = quantise(i), b = quantise(i + 1);  // at most 2^quantum_bits each
      squares += a * a;
      squares += b * b;
      sum += a + b;
      const std::uint32_t both = __byte_perm(a, b, 0x5410);
#pragma unroll
      for (int d = 0; d < 3; ++d) pairs[d] += __vminu2(both, 0x10001u << (quantum_bits - depths[d]));
    }
#pragma unroll
    for (int d = 0; d < 3; ++d) clipped[d] += (pairs[d] & 0xffff) + (pairs[d] >> 16);
  }
};

// One factor serves where neither it nor any quantised element leaves the range of normal numbers.
constexpr bool has_one_factor(const ExponentRange& range) {
  const int shift = quantum_bits - range.largest, least = Ieee754<double>::min_exponent;
  return shift <= Ieee754<double>::max_exponent && shift >= least && range.lowest + shift >= least;
}

// Of the lane's elements of vector v; all lanes get the result.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ FoundSums warp_sums(ResidentStrip<Pieces, Vectors>& strip, int v, int chunk,
                                               const ExponentRange& range) {
  LaneSums s;
  if (range.largest == nothing_found) {
  } else if (has_one_factor(range)) {
    const double factor = power_of_two(quantum_bits - range.largest);
    constexpr int together = ResidentStrip<Pieces, Vectors>::together;
#pragma unroll 1
    for (int p = 0; p < Pieces; p += together) {
      T x[4 * together];
      strip.read(v, p, chunk, x);
      s.add<4 * together>([&](int i) {
        return static_cast<std::uint32_t>(__double2loint(__fma_ru(fabs(static_cast<double>(x[i])), factor, 0x1p52)));
      });
    }
  } else {
    const TwoFactors scale = quantum_scale(range.largest);
#pragma unroll 1
    for (int i = 0; i < 4 * Pieces; i += 2)
      s.add<2>([&](int j) {
        return quantised_finite(*reinterpret_cast<const T*>(strip.at(v, i / 4, chunk, i % 4 + j)), scale);
      });
  }
  FoundSums found{__reduce_add_sync(~0u, s.squares & 0xffff),
                  __reduce_add_sync(~0u, s.squares >> 16),
                  __reduce_add_sync(~0u, s.sum),
                  {}};
#pragma unroll
  for (int d = 0; d < 3; ++d) found.clipped[d] = __reduce_add_sync(~0u, s.clipped[d]);
  return found;
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

// The first warp of a strip: everything that is known about its vectors. Returns whether some vector needs the deeper
// thresholds of flatness.
template <class T, class Meeting>
__device__ __forceinline__ bool complete_statistics(const ConvertTask<T>& task, const ConvertStrip<T>& strip,
                                                    const Meeting& meeting, StripResult& result) {
  bool deep = false;
  const int v = threadIdx.x;
  if (v < strip.part.vectors) {
    meeting.wait(&ResidentFindings::sums, v);
    const VectorStatistics st = strip_statistics(meeting, v, strip.operand->x.k);
    deep = task.deep && !st.zero() && st.flatness == not_flat;
    result.statistics[v] = st;
    result.scale[v] = st.zero() ? 0 : task.chooser[strip.side].ordinary_exponent(st) - st.exponent;
  }
  return __any_sync(~0u, deep);
}

template <int Words, int Pieces>  // of a multiprocessor, by shared memory
inline constexpr int resident_blocks = Pieces > 4 ? (Words == 3 ? 2 : 3) : 4;

template <class T, int Words, int Pieces, template <class> class Meeting>
__global__ void __launch_bounds__(convert_threads, resident_blocks<Words, Pieces>)
    convert_resident(const __grid_constant__ ConvertTask<T> task,
                     const __grid_constant__ DigitReductions<Words> reductions) {
  extern __shared__ __align__(16) std::uint8_t dynamic[];
  auto& elements = *reinterpret_cast<WordsStrip<Words, Pieces, resident_vectors>*>(dynamic);
  using Findings = ResidentFindings;
  __shared__ typename Meeting<Findings>::Shared met;
  __shared__ StripResult result;
  __shared__ ReductionTable<Words> table;
  Meeting<Findings> meeting(met, task);
  const ConvertStrip<T> strip(task, resident_vectors, meeting.block());
  const StripPart<T>& part = strip.part;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, chunk = chunk_of_lane(lane);
  store_reductions<Words>(table, reductions, task.moduli);
  if (!task.beside_previous) wait_for_previous_kernels();
  allow_next_kernel();
  fetch_strip(part, warp, lane, elements);
  const ExponentRange own = warp_exponents<T>(elements, warp, chunk);
  if (own.nonfinite) keep_finite<T>(elements, warp, chunk);
  meeting.begin();
  meeting.share(&Findings::exponents, warp, own, lane);
  const ExponentRange range = strip_exponents(meeting, warp, lane);
  meeting.share(&Findings::sums, warp, warp_sums<T>(elements, warp, chunk, range), lane);
  VectorStatistics st;
  st.exponent = range.largest;
  st.lowest = range.lowest;
  st.squares = strip_squares(meeting, warp, lane);
  const int scale = st.squares == 0 ? 0 : task.chooser[strip.side].ordinary_exponent(st) - st.exponent;
  bool deep = false;
  if (strip.rank == 0 && warp == 0) deep = complete_statistics(task, strip, meeting, result);
  // Early, so that nobody waits for it at the end.
  if (strip.rank == 0 && warp == 0) {
    if (!deep) publish(task, strip.side, strip.first, part.vectors, result.statistics, result.scale);
    if (lane == 0) result.deep = deep;
  }
  if (strip.operand->bound_bytes != nullptr) {
    const std::uint32_t filled = write_bound_bytes<T>(elements, strip, warp, chunk, range.largest, task.pitch);
    if (lane == 0) fill_pieces(strip.operand->filled_bytes, strip, task.pitch, filled);
  }
  if (strip.operand->planes != nullptr) {
    bool third = false;
    if (Words == 3 && scale + range.largest <= exponent_of_64_bits)
      scale_strip<T, 2>(elements, warp, chunk, scale_factors<2>(scale));
    else
      third = scale_strip<T, Words>(elements, warp, chunk, scale_factors<Words>(scale));
    write_strip<Words>(elements, table, lane_planes(strip, task, warp, lane), warp, lane, third);
  }
  if (task.beside_previous) wait_for_previous_kernels();  // so that the next kernel need not
  if (strip.rank != 0) return;
  __syncthreads();
  if (!result.deep) return;
  auto& depths = *reinterpret_cast<DepthHistograms*>(dynamic);
  static_assert(sizeof(DepthHistograms) <= sizeof elements);
  find_deep_flatness_alone(part, strip.operand->x.k, depths, result.statistics);
  if (warp == 0) publish(task, strip.side, strip.first, part.vectors, result.statistics, result.scale);
}

// ---- host side -----------------------------------------------------------------------------------------------------

// Blocks that share a strip, and the part of k that each takes.
struct StripShare {
  int blocks;
  std::int64_t chunk;
};

constexpr StripShare share_of_strip(std::int64_t k, std::int64_t wanted) {
  const auto blocks = std::min<std::int64_t>(most_strip_blocks, divide_up(k, wanted));
  return {static_cast<int>(blocks), round_up(divide_up(k, blocks), convert_k)};
}

inline constexpr std::int64_t short_resident_k = 4 * convert_k * most_strip_blocks,
                              long_resident_k = 8 * convert_k * most_strip_blocks;
static_assert(long_resident_k == longest_resident_k);

// Does a measuring kernel hold its strips whole, so that it reads them once?
template <class T>
bool measures_resident(const DeviceOperand<T>& a, int words) {
  return words <= 3 && a.x.k <= long_resident_k;
}

template <class T, int Words, template <class> class Meeting>
void launch_resident(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  const auto with = [&](auto pieces) {
    constexpr int Pieces = decltype(pieces)::value;
    using Meet = Meeting<ResidentFindings>;
    const StripShare share = share_of_strip(task.operand[0].x.k, Pieces * convert_k);
    task.parts = share.blocks;
    task.chunk = share.chunk;
    for (int side = 0; side < 2; ++side)
      task.strips[side] = static_cast<int>(divide_up(task.operand[side].x.vectors, resident_vectors));
    Meet::prepare(task.strips[0] + task.strips[1], form.meeting, stream);
    task.meeting = form.meeting.data;
    launch("convert_resident", convert_resident<T, Words, Pieces, Meeting>,
           {.grid = conversion_grid(task),
            .block = dim3(convert_threads),
            .shared_bytes = sizeof(WordsStrip<Words, Pieces, resident_vectors>),
            .cluster = dim3(Meet::in_cluster ? static_cast<unsigned>(share.blocks) : 1),
            .overlap_previous = true},
           stream, task, digit_reductions<Words>(form));
  };
  if (task.operand[0].x.k <= short_resident_k)
    with(std::integral_constant<int, 4>());
  else
    with(std::integral_constant<int, 8>());
}

}  // namespace vernier::cuda
