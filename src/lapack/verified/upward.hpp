// Upper bounds of nonnegative numbers, and sums in a direction, without changing the rounding mode. Host and device,
// the same bits on both.
#pragma once

#include <cmath>
#include <limits>

#include "number/host_device.hpp"

namespace vernier {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// At least the exact result that was rounded to nearest to give x.
VERNIER_HD inline double above(double x) { return ::nextafter(x, infinity); }
VERNIER_HD inline double below(double x) { return ::nextafter(x, -infinity); }

VERNIER_HD inline double sum_error(double x, double y, double s) {
  const double v = s - x;
  return (x - (s - v)) + (y - v);
}
VERNIER_HD inline double sum_up(double x, double y) {
  constexpr double most = std::numeric_limits<double>::max();
  const double s = x + y;
  if (s == -infinity && ::fabs(x) <= most && ::fabs(y) <= most) return -most;
  return sum_error(x, y, s) > 0 ? above(s) : s;
}
VERNIER_HD inline double sum_down(double x, double y) { return -sum_up(-x, -y); }

// Half a unit in the last place of an x that was rounded to nearest, at least.
VERNIER_HD inline double half_unit(double x) { return above(::fabs(x) * 0x1p-53); }

// At least |x + i y|, within six roundings of it. Scaled, the squares lose less than 2^-1000 of their sum.
VERNIER_HD inline double magnitude_above(double x, double y) {
  const double larger = ::fmax(::fabs(x), ::fabs(y)), smaller = ::fmin(::fabs(x), ::fabs(y));
  if (smaller == 0 || larger == infinity) return larger;
  int exponent = 0;
  const double p = ::frexp(larger, &exponent), q = ::ldexp(smaller, -exponent);
  return above(::ldexp(::sqrt(p * p + q * q) * (1 + 0x1p-51), exponent));
}

}  // namespace vernier
