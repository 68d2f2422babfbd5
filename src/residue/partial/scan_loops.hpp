// The scan's loops over finite elements, for one set of instructions. All give the same numbers.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "number/ieee754.hpp"
#include "product/flatness.hpp"
#include "product/operand.hpp"

namespace vernier {

// Bits of magnitudes, signed, as sets of instructions compare them.
template <class R>
using SignedBits = std::make_signed_t<typename Ieee754<R>::Bits>;

// Largest and smallest nonzero magnitude of one vector.
template <class R>
struct ScannedRange {
  SignedBits<R> largest = 0, smallest = std::numeric_limits<SignedBits<R>>::max();

  bool finite() const { return largest < static_cast<SignedBits<R>>(infinity_bits<R>); }
  void add(const ScannedRange& other) {
    largest = largest > other.largest ? largest : other.largest;
    smallest = smallest < other.smallest ? smallest : other.smallest;
  }
};

// Vectors first .. first + count - 1, at most scanned_vectors of them: out is set.
inline constexpr std::int64_t scanned_vectors = 32;
template <class R>
struct ScanLoops {
  void (*ranges)(const Operand<R>&, std::int64_t first, std::int64_t count, ScannedRange<R>* out);
  void (*sums)(const Operand<R>&, std::int64_t first, std::int64_t count, const int* exponents, VectorSums* out);
};

inline constexpr std::int64_t longest_summed = std::int64_t{1} << 27;  // k: sums of squares in double are exact

#define VERNIER_SCAN_LOOPS(set)                                                                           \
  template <class R>                                                                                      \
  void ranges_##set(const Operand<R>& x, std::int64_t first, std::int64_t count, ScannedRange<R>* out);   \
  template <class R>                                                                                      \
  void scan_sums_##set(const Operand<R>& x, std::int64_t first, std::int64_t count, const int* exponents, \
                       VectorSums* out);
VERNIER_SCAN_LOOPS(portable)
#if VERNIER_X86
VERNIER_SCAN_LOOPS(avx2)
VERNIER_SCAN_LOOPS(avx512)
#endif
#undef VERNIER_SCAN_LOOPS

// name: of a SchemeBackend
template <class R>
ScanLoops<R> scan_loops(std::string_view name) {
#if VERNIER_X86
  if (name == "avx512") return {ranges_avx512<R>, scan_sums_avx512<R>};
  if (name == "avx2") return {ranges_avx2<R>, scan_sums_avx2<R>};
#endif
  (void)name;
  return {ranges_portable<R>, scan_sums_portable<R>};
}

}  // namespace vernier
