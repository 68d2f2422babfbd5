// Arithmetic of dd, each operation within 6 u^2 of its exact result, u = 2^-53 (Joldes, Muller, Popescu, ACM TOMS 44,
// 2017: AccurateDWPlusDW 3 u^2, DWTimesDW3 5 u^2, DWDivDW3).
#pragma once

#include <cmath>

#include "number/host_device.hpp"
#include "number/two_sum.hpp"
#include "vernier/quad.hpp"

namespace vernier {

VERNIER_HD inline dd exact_sum(double x, double y) {
  const double s = x + y, v = s - x;
  return {s, (x - (s - v)) + (y - v)};
}
VERNIER_HD inline dd fast_exact_sum(double x, double y) {  // |x| >= |y|
  const double s = x + y;
  return {s, y - (s - x)};
}
// Of any hi and lo: |lo| is at most half a unit in the last place of hi afterwards, as operations expect it.
VERNIER_HD inline dd normalised(dd x) {
  if (!std::isfinite(x.hi)) return {x.hi, 0};
  if (!std::isfinite(x.lo)) return {x.lo, 0};
  const dd s = exact_sum(x.hi, x.lo);
  return std::isfinite(s.hi) ? s : x;
}
VERNIER_HD inline dd exact_product(double x, double y) {
  const double p = x * y;
  return {p, std::fma(x, y, -p)};
}

VERNIER_HD inline dd operator-(dd x) { return {-x.hi, -x.lo}; }
VERNIER_HD inline dd operator+(dd x, dd y) {
  const dd s = exact_sum(x.hi, y.hi), t = exact_sum(x.lo, y.lo);
  if (!std::isfinite(s.hi)) return {s.hi, 0};
  const dd v = fast_exact_sum(s.hi, s.lo + t.hi);
  return fast_exact_sum(v.hi, t.lo + v.lo);
}
VERNIER_HD inline dd operator-(dd x, dd y) { return x + -y; }
VERNIER_HD inline dd operator*(dd x, double y) {
  const dd p = exact_product(x.hi, y);
  return std::isfinite(p.hi) ? fast_exact_sum(p.hi, std::fma(x.lo, y, p.lo)) : dd(p.hi, 0);
}
VERNIER_HD inline dd operator*(dd x, dd y) {
  const dd p = exact_product(x.hi, y.hi);
  if (!std::isfinite(p.hi)) return {p.hi, 0};
  return fast_exact_sum(p.hi, p.lo + (std::fma(x.hi, y.lo, x.lo * y.hi) + x.lo * y.lo));
}
inline dd operator/(dd x, dd y) {
  const double q = x.hi / y.hi;
  if (!std::isfinite(q) || q == 0) return {q, 0};
  const dd rest = x - y * q;
  const double q2 = rest.hi / y.hi;
  const dd last = rest - y * q2;
  return fast_exact_sum(q, q2) + dd(last.hi / y.hi);
}
inline dd root(dd x) {  // 0 for x <= 0
  if (!(x.hi > 0)) return {};
  const double s = std::sqrt(x.hi);
  const dd rest = x - exact_product(s, s);
  return fast_exact_sum(s, rest.hi / (2 * s));
}
inline double magnitude(dd x) { return std::fabs(x.hi + x.lo); }

}  // namespace vernier
