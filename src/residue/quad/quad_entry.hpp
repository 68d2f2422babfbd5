// One entry of a quadruple product: from Ct, its integer, to C.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "number/long_accumulator.hpp"
#include "residue/quad/quad_update.hpp"
#include "residue/quad/wide_round.hpp"

namespace vernier {

inline std::optional<dd> round_wide_to(const WideNumber& x, Rounding rounding, dd*) { return round_to_dd(x, rounding); }
inline dd from_double(double x, dd*) { return dd(x); }
inline double leading_double(const dd& x) { return std::isfinite(x.hi) && !std::isfinite(x.lo) ? x.hi + x.lo : x.hi; }
#if defined(__SIZEOF_FLOAT128__)
inline std::optional<binary128> round_wide_to(const WideNumber& x, Rounding rounding, binary128*) {
  return round_to_binary128(x, rounding);
}
inline binary128 from_double(double x, binary128*) { return x; }
inline double leading_double(const binary128& x) {  // of finite ones the sign: a double may not hold more
  return QuadBits(std::bit_cast<Uint128>(x)).finite() ? (x > 0) - (x < 0) : static_cast<double>(x);
}
#endif

// Multiplies the sum by a power of two until doubles hold its leading bits; returns the exponent.
inline int bring_into_range(LongAccumulator& sum) {
  constexpr int step = 600;
  int raised = 0;
  while (sum.sign() != 0) {
    const double size = std::fabs(sum.rounded<double>(Rounding::toward_zero));
    if (size >= 0x1p-500 && size <= 0x1p500) break;
    const int by = size < 1 ? step : -step;
    sum.multiply(std::ldexp(1.0, by));
    raised += by;
  }
  return raised;
}

// The sum's leading bits by three cuts, each toward zero: 159 bits, of which the last stands for what is left.
inline WideNumber leading_bits_of(LongAccumulator sum) {
  WideNumber r;
  const int raised = bring_into_range(sum);
  double cut[3];
  for (double& part : cut) {
    part = sum.rounded<double>(Rounding::toward_zero);
    sum.add_product(-part, 1);
  }
  if (cut[0] == 0) return r;
  const DoubleParts high = parts_of(cut[0]);
  constexpr int room = 72;  // below the last bit of the first part
  r.exponent = high.exponent - room;
  r.value = static_cast<Int128>(static_cast<Uint128>(high.significand) << room);
  for (const double part : {cut[1], cut[2]}) {
    if (part == 0) continue;
    const DoubleParts low = parts_of(part);
    const int shift = low.exponent - r.exponent;
    const auto whole = static_cast<Uint128>(low.significand);
    r.value += static_cast<Int128>(shift >= 0 ? whole << shift : shift > -64 ? whole >> -shift : 0);
    r.cut = r.cut || (shift < 0 && (shift <= -64 || (whole & ((Uint128{1} << -shift) - 1)) != 0));
  }
  r.cut = r.cut || sum.sign() != 0;
  if (r.cut) r.value |= 1;
  r.exponent -= raised;
  if (high.negative) r.value = -r.value;
  return r;
}

inline dd rounded_sum(LongAccumulator sum, Rounding rounding, dd*) {
  const double hi = sum.rounded<double>();
  if (std::isinf(hi)) return *round_to_dd(leading_bits_of(sum), rounding);
  sum.add_product(-hi, 1);
  const double lo = sum.sign() == 0 ? 0 : sum.rounded<double>(rounding);
  return std::fabs(hi) < 0x1p-1022 ? dd(hi + lo) : dd(hi, lo);
}
#if defined(__SIZEOF_FLOAT128__)
// times 2^exponent
inline binary128 rounded_sum(const LongAccumulator& sum, int exponent, Rounding rounding, binary128*) {
  WideNumber x = leading_bits_of(sum);
  x.exponent += exponent;
  return round_to_binary128(x, rounding);
}
#endif
inline dd rounded_sum(const LongAccumulator& sum, int exponent, Rounding rounding, dd* type) {
  if (exponent == 0) return rounded_sum(sum, rounding, type);
  WideNumber x = leading_bits_of(sum);
  x.exponent += exponent;
  return *round_to_dd(x, rounding);
}

// sum += y x, of finite ones; the sum is in units of 2^exponent, between 2^-2300 and 2^2200 of these.
inline void add_scaled(LongAccumulator& sum, int& /* 0 */, double y, const dd& x) {
  sum.add_product(y, x.hi), sum.add_product(y, x.lo);
}
#if defined(__SIZEOF_FLOAT128__)
inline void add_scaled(LongAccumulator& sum, int& exponent, double y, const binary128& x) {
  const QuadBits bits(std::bit_cast<Uint128>(x));
  if (bits.zero() || y == 0) return;
  const DoubleParts factor = parts_of(y);
  const Uint128 low = static_cast<Uint128>(static_cast<std::uint64_t>(bits.significand())) * factor.significand,
                high = (bits.significand() >> 64) * factor.significand + (low >> 64);
  const std::array<std::uint64_t, 3> product = {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high),
                                                static_cast<std::uint64_t>(high >> 64)};
  const bool negative = bits.negative != factor.negative;
  // Where one lies far above the other, of the lower one the sign decides.
  constexpr int highest = 2600, lowest = -3000, beneath = -200;
  int unit = bits.unit() + factor.exponent - exponent;
  if (unit > highest && sum.sign() != 0) {
    const bool below = sum.sign() < 0;
    sum = {};
    sum.add(below, 1, beneath);
    exponent += unit, unit = 0;
  } else if (sum.sign() == 0) {
    exponent += unit, unit = 0;
  }
  unit < lowest ? sum.add(negative, 1, lowest) : sum.add(negative, product, unit);
}
#endif

// c = alpha sum + beta c, rounded once, of a sum in units of 2^exponent; NaN and infinities as in double.
template <class TC>
void update_exactly(LongAccumulator sum, int exponent, double alpha, double beta, Rounding rounding, TC& c) {
  const double old = beta == 0 ? 0 : leading_double(c);
  if (!std::isfinite(alpha) || !std::isfinite(beta) || !std::isfinite(old)) {
    const double product = std::isfinite(alpha) ? 0 : alpha * sum.sign();
    c = from_double(beta == 0 ? product : product + beta * old, static_cast<TC*>(nullptr));
    return;
  }
  int power = 0;
  sum.multiply(std::is_same_v<TC, dd> ? alpha : std::frexp(alpha, &power));
  exponent += power;
  if (beta != 0) add_scaled(sum, exponent, beta, c);
  c = rounded_sum(sum, exponent, rounding, static_cast<TC*>(nullptr));
}

}  // namespace vernier
