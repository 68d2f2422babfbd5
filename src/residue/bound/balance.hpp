// Balancing along k: A B = (A D)(D^-1 B) for any powers of two D, and |A||B| is the same, but vectors of A D and D^-1 B
// may be flatter than those of graded data, so that fewer moduli hold scales that serve (docs/accuracy.md, theorem 12).
// D comes from a sample, and makes no difference to what is proved. Host and device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "number/host_device.hpp"

namespace vernier {

inline constexpr int most_balance = 120;  // of an exponent of D

// What sums of squares of normalised elements of index l, of A and of B, make of its exponent. 0 where one side has
// none. before: by the exponent that norms know. Of elements that decay from a diagonal each exponent goes half of the
// way that is left, so that a large one goes all of it.
VERNIER_HD inline int balance_exponent(double a, double b, int before = 0) {
  constexpr int large = 8;
  if (!(a > 0) || !(b > 0)) return 0;
  double wanted = std::rint(0.25 * std::log2(b / a));
  if (before >= large || before <= -large) wanted = 2 * wanted - before;
  return static_cast<int>(wanted < -most_balance ? -most_balance : wanted > most_balance ? most_balance : wanted);
}

// 2^exponent, |exponent| <= most_balance.
VERNIER_HD inline double balance_factor(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

// The balanced element, exactly; not a number where it leaves the normal ones, so that what is proved of its vector
// does not count.
VERNIER_HD inline double balanced_element(double x, double factor) {
  const double y = x * factor;
  return x != 0 && std::fabs(y) < 0x1p-1022 ? std::numeric_limits<double>::quiet_NaN() : y;
}

// Exponents of D differ by at least so much where balancing is worth a trial: samples of data without grades differ by
// less.
inline constexpr int least_grading = 6;

}  // namespace vernier
