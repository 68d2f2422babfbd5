// Sums of limbs of the Chinese remainder -> T in dd, rounded once where doubles decide it. Host and device; where it is
// decided the result is that of round_to_dd.
#pragma once

#include <cmath>

#include "residue/quad/quad_scale.hpp"
#include "residue/recombine/crt.hpp"
#include "vernier/rounding.hpp"

namespace vernier {

// An integer as hi = RN(it), lo = RN(it - hi); doubt: either may be another number.
struct DdOfSums {
  double hi, lo;
  bool doubt;
};

// Digits of both signs, the leading one below 2^53: from there down each is at most half of the next one's unit.
template <int Limbs>
VERNIER_HD inline void carry_limbs(CrtSums<Limbs>& c) {
  constexpr double back = static_cast<double>(std::uint64_t{1} << crt_limb_width<Limbs>), magic = 6755399441055744.0;
  VERNIER_UNROLL
  for (int l = 0; l + 1 < Limbs; ++l) {
    const double carry = (c.s[l] * (1 / back) + magic) - magic;
    c.s[l] -= carry * back;
    c.s[l + 1] += carry;
  }
}

// x + y = sum + rest, exactly.
struct DdSum {
  double sum = 0, rest = 0;
};
VERNIER_HD inline DdSum dd_sum(double x, double y) {
  const double s = x + y, of_x = s - y;
  return {s, (x - of_x) + (y - (s - of_x))};
}

// An integer as digits say: hi = RN(it), r = it - hi but for what lies further below, which is below + at most missed;
// other_hi: hi may be another number, if the integer is off by `error` too.
struct DdDigits {
  double hi, r, below, missed;
  bool other_hi;
};

// c is reduced.
template <int Limbs>
VERNIER_HD inline DdDigits dd_digits(CrtSums<Limbs> c, double error) {
  constexpr double back = static_cast<double>(std::uint64_t{1} << crt_limb_width<Limbs>);
  carry_limbs(c);
  // All of it is sum + errors: each digit is zero or larger than the sum of those below.
  double sum = c.s[0], unit = 1, errors[Limbs - 1];
  VERNIER_UNROLL
  for (int l = 1; l < Limbs; ++l) {
    unit *= back;
    const double digit = c.s[l] * unit, next = digit + sum;
    errors[l - 1] = sum - (next - digit);
    sum = next;
  }
  // ... and sum + t + rest, but for what rest missed: nothing most often, as of integers that end soon.
  DdSum top{errors[0], 0}, below;
  double lost = 0, missed = 0;
  VERNIER_UNROLL
  for (int l = 1; l < Limbs - 1; ++l) {
    top = dd_sum(top.sum, errors[l]);
    below = dd_sum(below.sum, top.rest);
    lost += fabs(top.rest), missed += fabs(below.rest);
  }
  lost += error;
  const double hi = sum + top.sum, r = top.sum - (hi - sum);
  const double beyond = 2 * lost + fabs(r) * 0x1p-51;  // more than a unit of r, which may be half of one of hi
  return {hi, r, below.sum, missed, lost != 0 && (hi + (r + beyond) != hi || hi + (r - beyond) != hi)};
}

template <int Limbs>
VERNIER_HD inline DdOfSums dd_of_sums(const CrtSums<Limbs>& c) {
  const DdDigits x = dd_digits(c, 0);
  const double margin = 2 * x.missed + fabs(x.below) * 0x1p-51;
  const bool other_lo = x.missed != 0 && x.r + (x.below - margin) != x.r + (x.below + margin);
  return {x.hi, x.r + x.below, x.other_hi || other_lo};
}

// lo = it - hi in the direction, of an integer that is off by at most `error`.
template <int Limbs>
VERNIER_HD inline DdOfSums dd_in_direction(const CrtSums<Limbs>& c, Rounding rounding, double error) {
  DdDigits x = dd_digits(c, error);
  // The integers around it that doubles cannot tell apart; a unit of 2^-120 covers what the CPU's 127 bits do not hold.
  double margin = 2 * x.missed + fabs(x.below) * (x.missed != 0 ? 0x1p-51 : 0);
  if (error != 0) margin += 2 * error + fabs(x.hi) * 0x1p-120;
  const DdSum lo = dd_sum(x.r, x.below);
  if (rounding == Rounding::nearest)
    return {x.hi, lo.sum, x.other_hi || (margin != 0 && x.r + (x.below - margin) != x.r + (x.below + margin))};
  const bool up = rounding == Rounding::up || (rounding == Rounding::toward_zero && lo.sum < 0);
  const double outward = up ? lo.rest : -lo.rest;  // beyond lo on the side to which it is rounded
  const bool doubt = x.other_hi || (margin != 0 && (fabs(outward) <= margin || lo.sum == 0));
  if (!(outward > 0)) return {x.hi, lo.sum, doubt};
  const double next = nextafter(lo.sum, up ? HUGE_VAL : -HUGE_VAL);
  return {x.hi, next, doubt};
}

// A row's or column's share in what becomes of an entry.
struct alignas(16) DdVector {
  double rounded = 0, half_norm = 0, floor = 0;  // QuadError
  int exponent = 0;                              // of one unit of the scaled elements
  int special = 0;                               // it has a NaN or an infinity
};

VERNIER_HD inline double dd_error(const DdVector& row, const DdVector& column) {
  return quad_error({row.rounded, row.half_norm, row.floor}, {column.rounded, column.half_norm, column.floor});
}

// What becomes of an entry: known, T is in hi and lo; doubtful: its integer has to decide; open: its bound has to.
enum class DdState { known, doubtful, open, special };

struct DdEntry {
  double hi, lo;
  DdState state;
};

// share, exponent and sign: as DdTask has them. exact: T in a direction, whatever share is; host: decides everything.
struct DdRule {
  double share, sign;
  int exponent;
  bool exact = false, host = false;
  Rounding rounding = Rounding::nearest;
};

// Of T from that of Ct.
VERNIER_HD inline DdEntry scaled_entry(const DdOfSums& x, const DdVector& row, const DdVector& column,
                                       const DdRule& rule) {
  const int power = row.exponent + column.exponent + rule.exponent;
  if (x.doubt || power < -900 || power > 650) return {0, 0, DdState::doubtful};  // |Ct| < 2^341
  const double factor = rule.sign * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
  return {x.hi * factor + 0.0, x.lo * factor + 0.0, DdState::known};  // a zero is +0
}

template <int Limbs>
VERNIER_HD inline DdEntry exact_dd_entry(const CrtSums<Limbs>& reduced, const DdVector& row, const DdVector& column,
                                         const DdRule& rule) {
  if (row.special + column.special != 0) return {0, 0, DdState::special};
  if (rule.host) return {0, 0, DdState::doubtful};
  const bool turned = rule.sign < 0;
  const Rounding rounding = !turned                           ? rule.rounding
                            : rule.rounding == Rounding::down ? Rounding::up
                            : rule.rounding == Rounding::up   ? Rounding::down
                                                              : rule.rounding;
  return scaled_entry(dd_in_direction(reduced, rounding, dd_error(row, column)), row, column, rule);
}

VERNIER_HD inline DdEntry dd_entry(const DdOfSums& x, const DdVector& row, const DdVector& column, const DdRule& rule) {
  if (row.special + column.special != 0) return {0, 0, DdState::special};
  const double error = dd_error(row, column);
  const double size = fmax(fabs(x.hi) * (1 - 0x1p-40) - 2 * error, row.floor * column.floor);  // at most |A||B|
  if (!(error <= rule.share * size)) return {0, 0, DdState::open};
  return scaled_entry(x, row, column, rule);
}
template <int Limbs>
VERNIER_HD inline DdEntry dd_entry(const CrtSums<Limbs>& reduced, const DdVector& row, const DdVector& column,
                                   const DdRule& rule) {
  return dd_entry(dd_of_sums(reduced), row, column, rule);
}

}  // namespace vernier
