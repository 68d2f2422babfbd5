// Sums of limbs of the Chinese remainder -> T in dd, rounded once to nearest where doubles decide it. Host and device;
// where it is decided the result is that of round_to_dd.
#pragma once

#include <cmath>

#include "residue/quad/quad_scale.hpp"
#include "residue/recombine/crt.hpp"

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

// c is reduced.
template <int Limbs>
VERNIER_HD inline DdOfSums dd_of_sums(CrtSums<Limbs> c) {
  constexpr double back = static_cast<double>(std::uint64_t{1} << crt_limb_width<Limbs>);
  carry_limbs(c);
  // All of it is sum + errors: each digit is zero or larger than the sum of those below.
  double sum = c.s[0], unit = 1, error[Limbs - 1];
  VERNIER_UNROLL
  for (int l = 1; l < Limbs; ++l) {
    unit *= back;
    const double digit = c.s[l] * unit, next = digit + sum;
    error[l - 1] = sum - (next - digit);
    sum = next;
  }
  // ... and sum + t + rest, but for what rest missed: nothing most often, as of integers that end soon.
  DdSum top{error[0], 0}, below;
  double lost = 0, missed = 0;
  VERNIER_UNROLL
  for (int l = 1; l < Limbs - 1; ++l) {
    top = dd_sum(top.sum, error[l]);
    below = dd_sum(below.sum, top.rest);
    lost += fabs(top.rest), missed += fabs(below.rest);
  }
  const double hi = sum + top.sum, r = top.sum - (hi - sum), lo = r + below.sum;
  const double beyond = 2 * lost + fabs(r) * 0x1p-51;  // more than a unit of r, which may be half of one of hi
  const bool other_hi = lost != 0 && (hi + (r + beyond) != hi || hi + (r - beyond) != hi);
  const double margin = 2 * missed + fabs(below.sum) * 0x1p-51;
  const bool other_lo = missed != 0 && r + (below.sum - margin) != r + (below.sum + margin);
  return {hi, lo, other_hi || other_lo};
}

// A row's or column's share in what becomes of an entry.
struct alignas(16) DdVector {
  double rounding = 0, half_norm = 0, largest = 0;
  int exponent = 0;  // of one unit of the scaled elements
  int special = 0;   // it has a NaN or an infinity
};

VERNIER_HD inline double dd_error(const DdVector& row, const DdVector& column) {
  return entry_error(VectorError{row.rounding, row.half_norm, row.largest},
                     VectorError{column.rounding, column.half_norm, column.largest});
}

// What becomes of an entry: known, T is in hi and lo; doubtful: its integer has to decide; open: its bound has to.
enum class DdState { known, doubtful, open, special };

struct DdEntry {
  double hi, lo;
  DdState state;
};

// share, exponent and sign: as DdTask has them.
struct DdRule {
  double share, sign;
  int exponent;
};

template <int Limbs>
VERNIER_HD inline DdEntry dd_entry(const CrtSums<Limbs>& reduced, const DdVector& row, const DdVector& column,
                                   const DdRule& rule) {
  if (row.special + column.special != 0) return {0, 0, DdState::special};
  const DdOfSums x = dd_of_sums(reduced);
  const double error = dd_error(row, column);
  if (!(error <= rule.share * (fabs(x.hi) * (1 - 0x1p-40) - 2 * error))) return {0, 0, DdState::open};
  const int power = row.exponent + column.exponent + rule.exponent;
  if (x.doubt || power < -900 || power > 650) return {0, 0, DdState::doubtful};  // |Ct| < 2^341
  const double factor = rule.sign * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
  return {x.hi * factor + 0.0, x.lo * factor + 0.0, DdState::known};  // a zero is +0
}

}  // namespace vernier
