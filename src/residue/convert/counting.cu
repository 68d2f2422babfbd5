// convert_scaled (scaled.cuh) for contract `exact`: residues, and counts of what the scale leaves of the elements.
// These are in shared memory anyway; a kernel of its own would read them once more.
#include "base/instantiate.hpp"
#include "number/digit_sum.hpp"
#include "residue/convert/scaled.cuh"
#include "residue/exact/exact_cuda.hpp"

namespace vernier::cuda {
namespace {

// The exponent of the lowest bit of x that is set; no_bit for zero and what is not finite. By 32-bit words, of which
// one decides.
constexpr int no_bit = DeviceLowestBits::lowest_bit_offset;

__device__ __forceinline__ int lowest_bit(double x) {
  const std::uint32_t high = static_cast<std::uint32_t>(__double2hiint(x)) & 0x7fffffff,
                      low = static_cast<std::uint32_t>(__double2loint(x));
  const std::uint32_t leading = (high & 0xfffff) | (high >= 0x100000 ? 0x100000 : 0);
  const std::uint32_t word = low != 0 ? low : leading;
  const int exponent = max(static_cast<int>(high >> 20), 1) - 1075 + (low != 0 ? 0 : 32);
  return word == 0 || high >= 0x7ff00000 ? no_bit : exponent + __ffs(static_cast<int>(word)) - 1;
}
__device__ __forceinline__ int lowest_bit(float x) {
  const std::uint32_t bits = __float_as_uint(x) & 0x7fffffff;
  const std::uint32_t word = (bits & 0x7fffff) | (bits >= 0x800000 ? 0x800000 : 0);
  const int exponent = max(static_cast<int>(bits >> 23), 1) - 150;
  return word == 0 || bits >= 0x7f800000 ? no_bit : exponent + __ffs(static_cast<int>(word)) - 1;
}

// Of up to 32 elements, numbered by the caller.
struct FoundLowestBits {
  int lowest = no_bit;
  unsigned inexact = 0;  // which are no integers

  template <class T>
  __device__ __forceinline__ void add(T x, int scale, int number) {
    const int bit = lowest_bit(x);
    lowest = min(lowest, bit);
    inexact |= bit < -scale ? 1u << number : 0;
  }
  __device__ __forceinline__ int depth() const { return DeviceLowestBits::lowest_bit_offset - lowest; }
};

// Remembers the elements that `inexact` names; place_of(number) is where they lie along k.
template <class PlaceOf>
__device__ __forceinline__ void keep_places(unsigned inexact, unsigned position, std::uint32_t* places,
                                            PlaceOf place_of) {
  for (; inexact != 0 && position < kept_places; inexact &= inexact - 1)
    places[position++] = static_cast<std::uint32_t>(place_of(__ffs(static_cast<int>(inexact)) - 1));
}

// By a warp, whose lanes have elements of the same vector.
template <class PlaceOf>
__device__ __forceinline__ void publish_warp_lowest_bits(const FoundLowestBits& found,
                                                         const DeviceLowestBitsLists& lowest_bits, std::int64_t v,
                                                         int lane, PlaceOf place_of) {
  const int depth = __reduce_max_sync(~0u, found.depth());
  if (lane == 0 && depth != 0) atomicMax(&lowest_bits.counts[v].depth, depth);
  if (!__any_sync(~0u, found.inexact != 0)) return;
  const auto mine = static_cast<unsigned>(__popc(found.inexact));
  unsigned before = mine;  // of the lanes up to this one
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(~0u, before, d);
    before += lane >= d ? other : 0;
  }
  unsigned position = lane == 31 ? atomicAdd(&lowest_bits.counts[v].inexact, before) : 0;
  position = __shfl_sync(~0u, position, 31) + before - mine;
  keep_places(found.inexact, position, lowest_bits.places + v * kept_places, place_of);
}

struct LowestBitsCounted {
  static constexpr bool counts = true;
  DeviceLowestBitsLists of[2];

  // The lane's elements of vector v.
  template <class T, class Strip>
  __device__ __forceinline__ void operator()(const ConvertStrip<T>& strip, Strip& elements, int v, int chunk,
                                             int scale) const {
    FoundLowestBits found;
#pragma unroll
    for (int i = 0; i < 4 * Strip::pieces; ++i)
      found.add(*reinterpret_cast<const T*>(elements.at(v, i / 4, chunk, i % 4)), scale, i);
    publish_warp_lowest_bits(found, of[strip.side], strip.first + v, threadIdx.x % 32,
                             [&](int i) { return strip.part.begin + i / 4 * convert_k + 4 * chunk + i % 4; });
  }
};

}  // namespace

template <class T>
void decompose_counting_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b,
                                  const Sides<DeviceLowestBitsLists>& lowest_bits, const ConversionForm& form,
                                  cudaStream_t stream) {
  const ConvertTask<T> task = Conversion<T>{.a = a, .b = b, .form = form}.task();
  const LowestBitsCounted count{{lowest_bits.a, lowest_bits.b}};
  if (form.words == 2) return launch_scaled<T, 2>(task, form, stream, count);
  if (form.words == 3) return launch_scaled<T, 3>(task, form, stream, count);
  fail_words("convert_scaled, counting", form.words);
}

VERNIER_REAL_INSTANCES(decompose_counting_on_device)

}  // namespace vernier::cuda
