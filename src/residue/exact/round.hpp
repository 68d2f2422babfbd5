// Correct rounding from residues as a GPU does it, entry by entry: Ct and its error as an interval in two doubles, the
// test whether it rounds to one number, and by integers what doubles cannot decide. Host and device, the same
// decisions on both.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "number/digit_sum.hpp"
#include "product/exact/entry.hpp"
#include "product/exact/exact_sum.hpp"
#include "residue/recombine/crt.hpp"

namespace vernier {

// crt.hpp's count is for products whose numbers of moduli are few; under `exact` 20 and 21, too, are common:
// they take limbs of 32 bits, the leading one up to 36.
constexpr int exact_limbs(int moduli) {
  return moduli <= most_moduli_of_three_limbs  ? 3
         : moduli <= most_moduli_of_four_limbs ? 4
         : moduli <= 21                        ? 5
         : moduli <= 24                        ? 6
         : moduli <= 36                        ? 9
                                               : 11;
}

template <class Body>
void with_exact_limbs(int moduli, Body body) {
  const int limbs = exact_limbs(moduli);
  const auto attempt = [&](auto number) {
    if (limbs == decltype(number)::value) body(number);
  };
  [&]<int... Limbs>(std::integer_sequence<int, Limbs...>) { (attempt(std::integral_constant<int, Limbs>{}), ...); }
  (std::integer_sequence<int, 3, 4, 5, 6, 9, 11>{});
}

// The three leading limbs of CrtSums<Limbs>: all that the rounding of an ordinary entry asks for.
template <int Limbs>
struct LeadingSums {
  double s[3] = {};

  template <class Tables>
  VERNIER_HD void add(std::int32_t joined, const Tables& tables, int g) {
    const double d = exact_double(joined);
    VERNIER_UNROLL
    for (int l = 0; l < 3; ++l) s[l] = fma(d, tables.weight[g][Limbs - 3 + l], s[l]);
  }
  // As CrtSums has it. The limbs that are missing count 2^-80 of P, where kappa has room for 2^-20.
  template <class Tables>
  VERNIER_HD void reduce(const Tables& tables) {
    constexpr double step = power_of_two(-crt_limb_width<Limbs>), magic = 6755399441055744.0;
    const double top = fma(fma(s[0], step, s[1]), step, s[2]);
    const double kappa = fma(top, tables.inverse_top, magic) - magic;
    VERNIER_UNROLL
    for (int l = 0; l < 3; ++l) s[l] = fma(-kappa, tables.product[Limbs - 3 + l], s[l]);
  }
};

template <class Sums>
inline constexpr int limbs_of = 0;
template <int Limbs>
inline constexpr int limbs_of<CrtSums<Limbs>> = Limbs;
template <int Limbs>
inline constexpr int limbs_of<LeadingSums<Limbs>> = Limbs;

// Ct = (high + low) 2^(crt_limb_width (Limbs - 2)), to within slack in the same unit.
struct TwoSumOfLimbs {
  double high, low, slack;
};

template <int Limbs>
VERNIER_HD inline TwoSumOfLimbs leading_sum(const CrtSums<Limbs>& c) {
  constexpr double unit = static_cast<double>(std::uint64_t{1} << crt_limb_width<Limbs>), step = 1 / unit;
  const double a = c.s[Limbs - 1] * unit, b = c.s[Limbs - 2];
  const double h = a + b, v = h - a, t = (a - (h - v)) + (b - v);
  if constexpr (Limbs == 3) {
    const double low = fma(c.s[0], step, t);
    return {h, low, 0x1p-52 * fabs(low)};
  } else {
    const double d = c.s[Limbs - 3] * step;
    const double h2 = h + d, v2 = h2 - h, t2 = (h - (h2 - v2)) + (d - v2);
    double rest = c.s[0];
    VERNIER_UNROLL
    for (int l = 1; l < Limbs - 3; ++l) rest = fma(rest, step, c.s[l]);
    rest *= step * step;
    const double small = t2 + rest, low = t + small;
    // Each sum and each fma is wrong by 2^-53 of its result; the Horner sum's first steps count 2^-32 of that.
    return {h2, low, 0x1p-51 * ((fabs(rest) + 0x1p-40) + (fabs(small) + fabs(low)))};
  }
}

template <int Limbs>
VERNIER_HD inline TwoSumOfLimbs leading_sum(const LeadingSums<Limbs>& c) {
  constexpr double unit = power_of_two(crt_limb_width<Limbs>);
  constexpr double missing = Limbs > 3 ? power_of_two(54 - 2 * crt_limb_width<Limbs>) : 0;  // limbs below 2^53
  const double a = c.s[2] * unit, b = c.s[1];
  const double h = a + b, v = h - a, t = (a - (h - v)) + (b - v);
  const double low = fma(c.s[0], 1 / unit, t);
  return {h, low, fma(0x1p-52, fabs(low), missing)};
}

// What doubles say about an interval: it rounds to one number, or to more than one, or they cannot tell.
enum class Verdict { decided, open, unclear };

// Bits of 2^exponent x where the exponent is in range; x's own exponent field, moved.
template <class T>
VERNIER_HD inline bool ordinary_field(std::uint64_t bits, int exponent) {
  const int own_field = static_cast<int>(bits >> 52 & 0x7ff), field = own_field + exponent;
  constexpr int bias = Ieee754<double>::max_exponent;
  // A bit off either end, so that neighbours and the rounding to float stay inside as well.
  return own_field != 0 && field > Ieee754<T>::min_exponent + bias && field < Ieee754<T>::max_exponent + bias;
}

// The number that all of [high + (low - radius), high + (low + radius)] 2^exponent becomes in a direction, if there is
// one: high + low = x + rest exactly, |rest| at most half a unit of x, and no number of the type lies within the
// radius.
template <class T>
VERNIER_HD inline Verdict directed_interval(double high, double low, double radius, int exponent, Rounding rounding,
                                            T& result) {
  const double x = high + low, v = x - high, rest = (high - (x - v)) + (low - v);
  const auto bits = std::bit_cast<std::uint64_t>(x);
  if (x == 0 && rest == 0 && radius == 0) {
    result = T{0};
    return Verdict::decided;
  }
  if (!ordinary_field<T>(bits, exponent)) return Verdict::unclear;
  constexpr std::uint64_t below = sizeof(T) == 8 ? 0 : 0x1fffffff;  // bits of a double that the type lacks
  const bool on_number = (bits & below) == 0;
  if (on_number && !(fabs(rest) > radius) && (rest != 0 || radius != 0)) return Verdict::open;
  if (!on_number && radius >= fabs(x) * 0x1p-54) return Verdict::open;
  const bool negative = (bits >> 63) != 0, inexact = !on_number || rest != 0;
  std::uint64_t magnitude = (bits & ~below) + (static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)) << 52);
  if (on_number && rest != 0 && (rest < 0) != negative) magnitude -= below + 1;  // the number next to zero
  if (inexact && rounds_away(rounding, negative)) magnitude += below + 1;
  result = static_cast<T>(std::bit_cast<double>(magnitude));
  return Verdict::decided;
}

// The number that all of [high + (low - radius), high + (low + radius)] 2^exponent rounds to, if there is one. Rounding
// is monotonic, so the ends decide.
template <class T>
VERNIER_HD inline Verdict rounded_interval(double high, double low, double radius, int exponent, T& result) {
  const double up = high + (low + radius), down = high + (low - radius);
  const auto bits = std::bit_cast<std::uint64_t>(up), other = std::bit_cast<std::uint64_t>(down);
  const bool inside = ordinary_field<T>(bits, exponent);
  bool decided = inside;
  const auto moved = static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)) << 52;
  if constexpr (sizeof(T) == 8) {
    decided = decided && bits == other;
    result = std::bit_cast<double>(bits + moved);
  } else {
    constexpr std::uint64_t below = 0x1fffffff, half = 0x10000000;  // bits that the second rounding drops
    decided = decided && (bits & below) != half && (other & below) != half && up * down > 0;
    result = static_cast<float>(std::bit_cast<double>(bits + moved));
    decided = decided && result == static_cast<float>(std::bit_cast<double>(other + moved));
  }
  if (decided) return Verdict::decided;
  if (up != 0 || down != 0) return inside ? Verdict::open : Verdict::unclear;
  result = T{0};
  return Verdict::decided;
}

// x * y as a sum of two doubles.
struct TwoProduct {
  double high, low;
  VERNIER_HD TwoProduct(double x, double y) : high(x * y), low(fma(x, y, -high)) {}
};

// alpha Ct 2^-scale + beta c rounded once, where doubles decide it. error: of Ct; where it is no more than what doubles
// add to it, integers may decide what they leave open. c is read if beta is not 0. Plain: the form is only_rounded, to
// nearest.
template <bool Plain = false, class T, class Sums>
VERNIER_HD inline Verdict decided_by_doubles(const Sums& sums, double error, int scale, const UpdateForm<T>& form,
                                             const T* c, T& result) {
  constexpr int limbs = limbs_of<Sums>, unit = crt_limb_width<limbs> * (limbs - 2);
  constexpr double one = power_of_two(-unit);
  const TwoSumOfLimbs x = leading_sum(sums);
  // With the roundings of the few operations from here on.
  const double own = x.slack + 0x1p-50 * fabs(x.low), radius = error * one * (1 + 0x1p-48) + own;
  const auto decide = [&](double high, double low, double width, int exponent) {
    const Verdict v = Plain || form.rounding == Rounding::nearest
                          ? rounded_interval<T>(high, low, width, exponent, result)
                          : directed_interval<T>(high, low, width, exponent, form.rounding, result);
    return v == Verdict::open && error * one <= own ? Verdict::unclear : v;
  };
  if (Plain || form.only_rounded)
    return decide(form.alpha < 0 ? -x.high : x.high, form.alpha < 0 ? -x.low : x.low, radius,
                  unit - scale + form.alpha_exponent);
  if (!form.moderate) return Verdict::unclear;
  const auto alpha = static_cast<double>(form.alpha);
  const TwoProduct p(alpha, x.high);
  TwoProduct added(0, 0);
  if (form.beta != 0) {
    if (!is_finite(*c)) return Verdict::unclear;
    if (*c != 0) {  // in the unit of Ct, if it has an ordinary exponent there
      const auto value = static_cast<double>(*c);
      const int exponent = exponent_of_value(value) + scale - unit;
      if (exponent < -400 || exponent > 400) return Verdict::unclear;
      added = TwoProduct(static_cast<double>(form.beta), ldexp(value, scale - unit));
    }
  }
  const double z = p.high + added.high, v = z - p.high, t = (p.high - (z - v)) + (added.high - v);
  const double q = alpha * x.low, rest = (t + p.low) + (added.low + q);
  const double magnitude = (fabs(t) + fabs(p.low)) + (fabs(added.low) + fabs(q));
  return decide(z, rest, fabs(alpha) * radius * (1 + 0x1p-48) + 0x1p-49 * magnitude, unit - scale);
}

// The same by integers, for any exponents, NaN and infinities of alpha, beta and c included; nothing where the
// interval holds more than one result. Of any number of limbs: compiled once, for it is long and rare.
template <class T>
VERNIER_NOINLINE VERNIER_HD std::optional<T> decided_by_integers(const double* limb, int limbs, int width, double error,
                                                                 int scale, const UpdateForm<T>& form, const T* c) {
  constexpr int most_digits = (32 * (exact_limbs(max_moduli) - 1) + 64) / digit_bits + 2;
  const int digits = (width * (limbs - 1) + 64) / digit_bits + 2;
  std::int64_t words[most_digits] = {};
  const auto word = [&](int d) -> std::int64_t& { return words[d]; };
  for (int l = 0; l < limbs; ++l)
    add_to_digits(limb[l] < 0, static_cast<Uint128>(static_cast<std::uint64_t>(fabs(limb[l]))), width * l, 0, digits,
                  word);
  const bool negative = order_digits(digits, word);
  const LeadingBits x = leading_bits(negative, 0, digits, word);
  std::optional<Bracket> product = error_bracket(x.value, x.exponent, x.cut, error, form.only_rounded);
  if (!product) return std::nullopt;
  product->exponent -= scale;
  return combined(*product, form.alpha, form.beta, c, form.rounding);
}

template <class T, int Limbs>
VERNIER_HD inline std::optional<T> decided_by_integers(const CrtSums<Limbs>& sums, double error, int scale,
                                                       const UpdateForm<T>& form, const T* c) {
  return decided_by_integers(sums.s, Limbs, crt_limb_width<Limbs>, error, scale, form, c);
}

// ---- what rounding lost --------------------------------------------------------------------------------------------

// With x, y the scaled vectors and [.] for rounding to an integer, sum x_l y_l - Ct is the sum of the row's terms and
// the column's (docs/accuracy.md, theorem 8), which are zero but where x_l or y_l is no integer.
VERNIER_HD inline double lost_by_row(double x, double y) { return (x - rint(x)) * y; }
VERNIER_HD inline double lost_by_column(double x, double y) { return rint(x) * (y - rint(y)); }

struct LostSum {
  double sum = 0, magnitude = 0;  // of up to 2^9 terms

  VERNIER_HD void add(double term) {
    sum += term;
    magnitude += fabs(term);
  }
};

// Scaled elements that are not zero are no smaller: products of two parts do not underflow.
inline constexpr int least_lost_exponent = -400;

// Adds it to Ct, and returns the error that is left: of the sum, 2^9 + 1 roundings; of one more, and of the fraction
// that Ct then has, which integers do not see.
template <int Limbs>
VERNIER_HD inline double add_lost(CrtSums<Limbs>& sums, const LostSum& lost) {
  double rest = lost.sum;
  VERNIER_UNROLL
  for (int l = Limbs - 1; l > 0; --l) {
    const double part = trunc(rest * power_of_two(-crt_limb_width<Limbs> * l));
    sums.s[l] += part;
    rest -= part * power_of_two(crt_limb_width<Limbs> * l);
  }
  sums.s[0] += rest;
  return 0x1p-43 * lost.magnitude + 2;
}

}  // namespace vernier
