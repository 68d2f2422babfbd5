// Sums over one vector, and the numbers that VectorStatistics makes of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "number/ieee754.hpp"
#include "product/statistics.hpp"

namespace vernier {

// Flatness tries thresholds tau = 2^-r of the maximum. The first three use the quantised elements and cost one minimum
// each; above them, the chord of two known sums serves (chord_depths). Only where all of them fail is the vector read
// again for the deeper ones, which count exponents.
inline constexpr std::array<int, 3> shallow_depths = {2, 4, 6};
inline constexpr int chord_depths = 2;  // 0 and 1
inline constexpr std::array<int, 13> deep_depths = {8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192};

struct VectorSums {
  std::uint64_t squares = 0, sum = 0;
  std::array<std::uint64_t, shallow_depths.size()> clipped{};  // sum over l of min(v_l, 2^(quantum_bits - r))
};

constexpr TwoFactors quantum_scale(int exponent) { return two_factors(quantum_bits - exponent); }

// Smallest t with numerator * 2^t >= denominator > 0; not_flat if numerator <= 0.
constexpr int log2_ratio_up(std::int64_t numerator, std::int64_t denominator) {
  if (numerator <= 0) return not_flat;
  int t = 0;
  for (; numerator < denominator; ++t) denominator = denominator / 2 + denominator % 2;
  return t;
}

// 2 log2(1 / G) from the clipped sums; not_flat if no threshold serves.
constexpr int shallow_flatness(const VectorSums& sums, std::int64_t k) {
  // |x_l| 2^(quantum_bits - exponent) >= v_l - 1, hence the - k. With M = sum min(|x_l|, tau) / tau, G^2 = tau^2 (2 M -
  // k) / k.
  constexpr auto depths = shallow_depths;
  int best = not_flat;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const std::int64_t tau = std::int64_t{1} << (quantum_bits - depths[i]);
    const std::int64_t surplus = 2 * (static_cast<std::int64_t>(sums.clipped[i]) - k) - k * tau;
    const int ratio = log2_ratio_up(surplus, k * tau);
    if (ratio != not_flat) best = std::min(best, 2 * depths[i] + ratio);
  }
  // sum min(|x_l|, tau) is concave in tau, and sum |x_l| from tau = 2^(exponent + 1) on: in between it is no less than
  // the chord from the first threshold, in whose units all tau are whole.
  constexpr std::int64_t end = std::int64_t{1} << (depths[0] + 1);
  const std::int64_t first = static_cast<std::int64_t>(sums.clipped[0]) - k,
                     last = static_cast<std::int64_t>(sums.sum) - k;
  for (int r = 0; r < chord_depths; ++r) {
    const std::int64_t at = std::int64_t{1} << (depths[0] - r), tau = std::int64_t{1} << (quantum_bits - r);
    const std::int64_t chord = first * (end - at) + last * (at - 1);  // times end - 1
    const int ratio = log2_ratio_up(2 * chord - (end - 1) * k * tau, (end - 1) * k * tau);
    if (ratio != not_flat) best = std::min(best, 2 * r + ratio);
  }
  return best;
}

// The same from the number of elements of each depth r, from 2^(exponent - r) up to twice that.
template <class Count>
constexpr int deep_flatness_of(const Count* at_depth, std::int64_t count) {
  constexpr auto depths = deep_depths;
  int best = not_flat, depth = 0;
  std::int64_t large = 0;  // elements of at least 2^(exponent - r)
  for (const int r : depths) {
    for (; depth <= r; ++depth) large += at_depth[depth];
    const int ratio = log2_ratio_up(2 * large - count, count);
    if (ratio != not_flat) best = std::min(best, 2 * r + ratio);
  }
  return best;
}

// Sums of a vector, and flatness as far as these tell it; false if it is to be read for the deeper thresholds.
constexpr bool set_shallow_sums(VectorStatistics& s, const VectorSums& sums, std::int64_t count) {
  s.squares = sums.squares;
  s.sum = sums.sum;
  s.flatness = shallow_flatness(sums, count);
  return s.flatness != not_flat;
}

// Both of a vector, count elements stride apart, whose exponent stands in s already.
template <class T>
void set_sums(VectorStatistics& s, const VectorSums& sums, const T* x, std::int64_t stride, std::int64_t count);

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
