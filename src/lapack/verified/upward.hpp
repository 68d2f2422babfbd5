// Upper bounds of nonnegative numbers, and sums in a direction, without changing the rounding mode.
#pragma once

#include <cmath>
#include <limits>

namespace vernier {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// At least the exact result that was rounded to nearest to give x.
inline double above(double x) { return std::nextafter(x, infinity); }
inline double below(double x) { return std::nextafter(x, -infinity); }

inline double sum_error(double x, double y, double s) {
  const double v = s - x;
  return (x - (s - v)) + (y - v);
}
inline double sum_up(double x, double y) {
  const double s = x + y;
  if (s == -infinity && std::isfinite(x) && std::isfinite(y)) return -std::numeric_limits<double>::max();
  return sum_error(x, y, s) > 0 ? above(s) : s;
}
inline double sum_down(double x, double y) { return -sum_up(-x, -y); }

// Half a unit in the last place of an x that was rounded to nearest, at least.
inline double half_unit(double x) { return above(std::fabs(x) * 0x1p-53); }

}  // namespace vernier
