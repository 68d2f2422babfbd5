// The largest and the smallest magnitude of a vector.
#pragma once

#include <limits>
#include <type_traits>

#include "number/ieee754.hpp"
#include "product/flatness.hpp"

namespace vernier {

// Bits of magnitudes, signed, as sets of instructions compare them.
template <class R>
using SignedBits = std::make_signed_t<typename Ieee754<R>::Bits>;

// Largest and smallest nonzero magnitude of one vector.
template <class R>
struct MagnitudeRange {
  SignedBits<R> largest = 0, smallest = std::numeric_limits<SignedBits<R>>::max();

  bool finite() const { return largest < static_cast<SignedBits<R>>(infinity_bits<R>); }
  void add(const MagnitudeRange& other) {
    largest = largest > other.largest ? largest : other.largest;
    smallest = smallest < other.smallest ? smallest : other.smallest;
  }
};

inline constexpr std::int64_t longest_summed = std::int64_t{1} << 27;  // k: sums of squares in double are exact

}  // namespace vernier
