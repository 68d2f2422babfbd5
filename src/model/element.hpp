// The model: one element of one instruction, in integer arithmetic. Host and device, constexpr.
#pragma once

#include "model/spec.hpp"
#include "number/long_accumulator.hpp"

namespace vernier::model {

// Block sums, as docs/engines.md has them: exact products that are not normalised, alignment of all terms to the
// largest exponent, one exact sum, one rounding. Host and device, constexpr.

// ---- exact sums of two numbers, for engines that round after every addition

// (-1)^negative * significand * 2^exponent. In a sum bit 0 may stand for "something lies below".
struct Real {
  Uint128 significand = 0;
  int exponent = 0;
  bool negative = false;
  NumberClass kind = NumberClass::finite;
};

VERNIER_HD constexpr Real real_of(const Unpacked& x, const FloatShape& shape) {
  return {x.significand, x.exponent - shape.fraction_bits, x.negative, x.kind};
}

// The leading bit goes to bit 125: a sum of two then fits.
VERNIER_HD constexpr Real normalised(Real x) {
  const int up = 125 - leading_bit(x.significand);
  x.significand <<= up;
  x.exponent -= up;
  return x;
}

// x + y for x, y != 0 of at most 107 bits each. Bits are lost (into bit 0) only where the exponents differ so much that
// no cancellation can bring the place of rounding near them.
VERNIER_HD constexpr Real add_exact(Real x, Real y) {
  x = normalised(x);
  y = normalised(y);
  if (x.exponent < y.exponent || (x.exponent == y.exponent && x.significand < y.significand)) {
    const Real swap = x;
    x = y;
    y = swap;
  }
  const int down = x.exponent - y.exponent;
  Uint128 small = down > 127 ? Uint128{0} : y.significand >> down;
  if (down > 127 || (small << down) != y.significand) small |= 1;
  x.significand = x.negative == y.negative ? x.significand + small : x.significand - small;
  return x;
}

// The encoding of x + y in the shape, specials and signs of zero as IEEE 754 has them.
VERNIER_HD constexpr std::uint64_t round_sum(const Engine& e, const FloatShape& shape, Rounding rounding, const Real& x,
                                             const Real& y) {
  const bool x_inf = x.kind == NumberClass::infinite, y_inf = y.kind == NumberClass::infinite;
  if (x.kind == NumberClass::nan || y.kind == NumberClass::nan || (x_inf && y_inf && x.negative != y.negative))
    return shape.infinity() | (std::uint64_t{1} << (shape.fraction_bits - 1));
  if (x_inf || y_inf) return shape.infinity() | ((x_inf ? x.negative : y.negative) ? shape.sign_bit() : 0);
  Real s;
  if (x.significand == 0 && y.significand == 0)
    s.negative = x.negative == y.negative ? x.negative : rounding == Rounding::down;
  else if (x.significand == 0)
    s = y;
  else if (y.significand == 0)
    s = x;
  else
    s = add_exact(x, y);
  if (s.significand == 0) {
    if (x.significand != 0) s.negative = rounding == Rounding::down;  // exact cancellation
    return s.negative ? shape.sign_bit() : 0;
  }
  return round_to(shape, rule_of(e, rounding), s.negative, s.significand, s.exponent);
}

// ---- block sums

struct Product {
  std::uint64_t significand = 0;  // in units of 2^(exponent - product_fraction_bits)
  int exponent = 0;
  bool negative = false;
  NumberClass kind = NumberClass::finite;
};

VERNIER_HD constexpr int product_fraction_bits(const Engine& e) {
  return shape_of(e.a).fraction_bits + shape_of(e.b).fraction_bits;
}

VERNIER_HD constexpr Unpacked load_input(const Engine& e, Format format, std::uint64_t word) {
  Unpacked x = unpack(shape_of(format), word);
  if (e.flush_inputs && x.kind == NumberClass::finite && x.significand >> shape_of(format).fraction_bits == 0)
    x.significand = 0;
  return x;
}

VERNIER_HD constexpr Unpacked load_c(const Engine& e, std::uint64_t word) {
  Unpacked x = unpack(shape_of(e.c), word);
  if (e.flush_c && x.kind == NumberClass::finite && x.significand >> shape_of(e.c).fraction_bits == 0)
    x.significand = 0;
  return x;
}

VERNIER_HD constexpr NumberClass product_class(const Unpacked& a, const Unpacked& b) {
  if (a.kind == NumberClass::finite && b.kind == NumberClass::finite) return NumberClass::finite;
  if (a.kind == NumberClass::nan || b.kind == NumberClass::nan || a.is_zero() || b.is_zero()) return NumberClass::nan;
  return NumberClass::infinite;
}

// Exact unless e.product_bits asks for a rounding; not normalised unless e.normalise_products.
VERNIER_HD constexpr Product multiply(const Engine& e, const Unpacked& a, const Unpacked& b) {
  Product p{a.significand * b.significand, a.exponent + b.exponent, a.negative != b.negative, product_class(a, b)};
  if (p.significand == 0) {
    if (!e.zero_keeps_exponent) p.exponent = e.zero_exponent;
    return p;
  }
  const int f = product_fraction_bits(e);
  if (e.product_bits > 0) {
    const int lost = leading_bit(p.significand) + 1 - e.product_bits;
    if (lost > 0) p.significand = shift_right(p.significand, lost, RoundingMode::nearest_even, p.negative) << lost;
  }
  if (e.normalise_products) p.exponent += leading_bit(p.significand) - f;
  return p;
}

// Infinities and NaNs of products and c: 0 none, 1 NaN, 2 +infinity, 3 -infinity.
struct SpecialScan {
  bool nan = false, plus = false, minus = false;
  VERNIER_HD constexpr void see(NumberClass kind, bool negative) {
    nan = nan || kind == NumberClass::nan;
    plus = plus || (kind == NumberClass::infinite && !negative);
    minus = minus || (kind == NumberClass::infinite && negative);
  }
  VERNIER_HD constexpr bool any() const { return nan || plus || minus; }
  VERNIER_HD constexpr std::uint64_t result(const Engine& e) const {
    if (nan || (plus && minus)) return e.nan;
    return shape_of(e.c).infinity() | (minus ? shape_of(e.c).sign_bit() : 0);
  }
};

// The magnitude of a term with `from` fraction bits at 2^exponent, cut at 2^(e_max - F).
VERNIER_HD constexpr std::uint64_t align(const Engine& e, std::uint64_t significand, int from, int exponent, int e_max,
                                         bool negative) {
  if (significand == 0) return 0;  // whose exponent may lie far above e_max
  return shift_right(significand, (e_max - exponent) + from - e.fraction_bits, mode_of(e.alignment), negative);
}

// Rounds a block's exact sum, in units of 2^exponent.
template <class U>
VERNIER_HD constexpr std::uint64_t finish(const Engine& e, bool negative, U magnitude, int exponent) {
  if (e.early_fraction_bits > 0) {
    const int lost = leading_bit(magnitude) - e.early_fraction_bits;
    if (lost > 0) magnitude = (magnitude >> lost) << lost;
  }
  const FloatShape shape = output_shape(e);
  const std::uint64_t d = round_to(shape, rule_of(e, e.rounding), negative, magnitude, exponent) << output_shift(e);
  const bool vanished = (d & (shape_of(e.c).sign_bit() - 1)) == 0;
  return vanished && e.zero_sign == ZeroSign::positive ? 0 : d;
}

VERNIER_HD constexpr std::uint64_t zero_result(const Engine& e, bool all_minus_zero) {
  return all_minus_zero && e.zero_sign == ZeroSign::ieee ? shape_of(e.c).sign_bit() : 0;
}

// c plus `count` products. load(t, a, b) unpacks the factors of product t; max_count bounds count at compile time so
// that a GPU keeps everything in registers.
template <int max_count, class Load>
VERNIER_HD constexpr std::uint64_t sum_block(const Engine& e, int count, const Load& load, std::uint64_t c_word) {
  const Unpacked c = load_c(e, c_word);
  Product p[max_count];
  SpecialScan specials;
  specials.see(c.kind, c.negative);
  bool minus_zero = c.is_zero() && c.negative;
  int e_max = c.significand == 0 ? e.zero_exponent : c.exponent;
  VERNIER_UNROLL
  for (int t = 0; t < max_count; ++t) {
    if (t >= count) break;
    Unpacked a, b;
    load(t, a, b);
    p[t] = multiply(e, a, b);
    specials.see(p[t].kind, p[t].negative);
    minus_zero = minus_zero && p[t].significand == 0 && p[t].negative;
    e_max = p[t].exponent > e_max ? p[t].exponent : e_max;
  }
  if (specials.any()) return specials.result(e);

  const int f = product_fraction_bits(e), fc = shape_of(e.c).fraction_bits;
  std::int64_t sum = static_cast<std::int64_t>(align(e, c.significand, fc, c.exponent, e_max, c.negative));
  if (c.negative) sum = -sum;
  VERNIER_UNROLL
  for (int t = 0; t < max_count; ++t) {
    if (t >= count) break;
    // A normalised product keeps its bits in place: its leading bit is the unit of its exponent.
    const int from = e.normalise_products && p[t].significand != 0 ? leading_bit(p[t].significand) : f;
    const auto x = static_cast<std::int64_t>(align(e, p[t].significand, from, p[t].exponent, e_max, p[t].negative));
    sum += p[t].negative ? -x : x;
  }
  const bool negative = sum < 0;
  std::uint64_t magnitude = negative ? ~static_cast<std::uint64_t>(sum) + 1 : static_cast<std::uint64_t>(sum);
  if (e.carry_bits > 0) magnitude &= (std::uint64_t{1} << (e.fraction_bits + 1 + e.carry_bits)) - 1;
  if (magnitude == 0) return zero_result(e, minus_zero);
  return finish(e, negative, magnitude, e_max - e.fraction_bits);
}

// The same with an alignment that loses nothing (fraction_bits = exact_alignment).
template <class Load>
VERNIER_HD constexpr std::uint64_t sum_exact(const Engine& e, int count, const Load& load, std::uint64_t c_word) {
  const Unpacked c = load_c(e, c_word);
  const int f = product_fraction_bits(e), fc = shape_of(e.c).fraction_bits;
  SpecialScan specials;
  specials.see(c.kind, c.negative);
  bool minus_zero = c.is_zero() && c.negative;
  ShortAccumulator sum;
  if (c.kind == NumberClass::finite) sum.add(c.negative, c.significand, c.exponent - fc);
  for (int t = 0; t < count; ++t) {
    Unpacked a, b;
    load(t, a, b);
    const Product p = multiply(e, a, b);
    specials.see(p.kind, p.negative);
    minus_zero = minus_zero && p.significand == 0 && p.negative;
    if (p.kind == NumberClass::finite && p.significand != 0) sum.add(p.negative, p.significand, p.exponent - f);
  }
  if (specials.any()) return specials.result(e);
  const LeadingBits s = sum.leading();
  if (s.value == 0) return zero_result(e, minus_zero);
  return finish(e, s.value < 0, magnitude_of(s.value), s.exponent);
}

VERNIER_HD constexpr std::uint64_t canonical(const Engine& e, std::uint64_t d) {
  return unpack(shape_of(e.c), d).kind == NumberClass::nan ? e.nan : d;
}

// D = s + c for Join::last, rounded as join_rounding says.
VERNIER_HD constexpr std::uint64_t join_c(const Engine& e, const FloatShape& shape, std::uint64_t s, std::uint64_t c) {
  const Real x = real_of(unpack(shape, s), shape), y = real_of(load_c(e, c), shape_of(e.c));
  return canonical(e, round_sum(e, output_shape(e), e.join_rounding, x, y) << output_shift(e));
}

template <int max_count, class Load>
VERNIER_HD constexpr std::uint64_t sum_blocks(const Engine& e, const Load& load, std::uint64_t c) {
  const int blocks = (e.k + e.block - 1) / e.block;
  std::uint64_t d = e.join == Join::first ? c : 0;
  for (int q = 0; q < blocks; ++q) {
    const int count = e.k - q * e.block < e.block ? e.k - q * e.block : e.block;
    const auto part = [&](int t, Unpacked& a, Unpacked& b) { load(block_index(e, blocks, q, t), a, b); };
    if (e.fraction_bits == exact_alignment)
      d = sum_exact(e, count, part, d);
    else
      d = sum_block<max_count>(e, count, part, d);
  }
  return e.join == Join::first ? d : join_c(e, shape_of(e.c), d, c);
}

// Chains: sums that are rounded after every addition. Host and device, constexpr.

// The partial sums of a chain, encoded: sum_bits of significand, exponents of c.
VERNIER_HD constexpr FloatShape chain_shape(const Engine& e) {
  return {shape_of(e.c).exponent_bits, e.sum_bits - 1, SpecialCodes::ieee, 0};
}

// The NaN x of a narrower or equal format, made quiet: its sign and the leading bits of its payload stay.
VERNIER_HD constexpr std::uint64_t quiet_nan(const FloatShape& shape, const FloatShape& from, const Unpacked& x) {
  const std::uint64_t payload = x.significand & ((std::uint64_t{1} << from.fraction_bits) - 1);
  return shape.infinity() | std::uint64_t{1} << (shape.fraction_bits - 1) |
         payload << (shape.fraction_bits - from.fraction_bits) | (x.negative ? shape.sign_bit() : 0);
}

// The NaN among the terms of a step that e.nan_rule prefers; 0 if there is none.
VERNIER_HD constexpr std::uint64_t preferred_nan(const Engine& e, const Unpacked& a, const Unpacked& b,
                                                 const Unpacked& s) {
  constexpr char orders[7][4] = {"", "abs", "asb", "bas", "bsa", "sab", "sba"};
  const FloatShape shape = chain_shape(e);
  for (const char name : orders[static_cast<int>(e.nan_rule)]) {
    const Unpacked& x = name == 'a' ? a : name == 'b' ? b : s;
    if (name != 0 && x.kind == NumberClass::nan)
      return quiet_nan(shape, name == 'a' ? shape_of(e.a) : name == 'b' ? shape_of(e.b) : shape, x);
  }
  return 0;
}

VERNIER_HD constexpr std::uint64_t fma_step(const Engine& e, const Unpacked& a, const Unpacked& b, std::uint64_t s) {
  const FloatShape shape = chain_shape(e);
  if (e.nan_rule != NanRule::canonical) {
    const std::uint64_t nan = preferred_nan(e, a, b, unpack(shape, s));
    if (nan != 0) return nan;
    if (product_class(a, b) == NumberClass::nan) return e.nan;
  }
  const int f = product_fraction_bits(e);
  Real p{Uint128{a.significand} * b.significand, a.exponent + b.exponent - f, a.negative != b.negative,
         product_class(a, b)};
  if (e.product_bits > 0 && p.significand != 0) {
    const int lost = leading_bit(p.significand) + 1 - e.product_bits;
    if (lost > 0) p.significand = shift_right(p.significand, lost, RoundingMode::nearest_even, p.negative) << lost;
  }
  const std::uint64_t d = round_sum(e, shape, e.rounding, real_of(unpack(shape, s), shape), p);
  return e.nan_rule != NanRule::canonical && unpack(shape, d).kind == NumberClass::nan ? e.nan : d;
}

// x + y, both of the chain's shape. The NaN of x goes before that of y.
VERNIER_HD constexpr std::uint64_t add_sums(const Engine& e, std::uint64_t x, std::uint64_t y) {
  const FloatShape shape = chain_shape(e);
  const Unpacked u = unpack(shape, x), v = unpack(shape, y);
  const std::uint64_t d = round_sum(e, shape, e.rounding, real_of(u, shape), real_of(v, shape));
  if (e.nan_rule == NanRule::canonical || unpack(shape, d).kind != NumberClass::nan) return d;
  if (u.kind == NumberClass::nan) return quiet_nan(shape, shape, u);
  return v.kind == NumberClass::nan ? quiet_nan(shape, shape, v) : e.nan;
}

// The last addition, c + s. A NaN of c goes before that of the products.
VERNIER_HD constexpr std::uint64_t join_chain(const Engine& e, std::uint64_t s, std::uint64_t c) {
  const FloatShape shape = chain_shape(e);
  if (e.nan_rule != NanRule::canonical) {
    const Unpacked last = load_c(e, c);
    if (last.kind == NumberClass::nan) return quiet_nan(shape, shape, last);
    if (unpack(shape, s).kind == NumberClass::nan) return s;
  }
  return join_c(e, shape, s, c);
}

template <class Load>
VERNIER_HD constexpr std::uint64_t sum_chain(const Engine& e, const Load& load, std::uint64_t c) {
  const FloatShape shape = chain_shape(e);
  std::uint64_t start = 0;
  if (e.join == Join::first) {
    const Real zero{0, 0, true, NumberClass::finite};  // -0 + c is c, rounded to the chain's bits
    start = round_sum(e, shape, e.rounding, real_of(load_c(e, c), shape_of(e.c)), zero);
    if (e.nan_rule != NanRule::canonical && unpack(shape, c).kind == NumberClass::nan) start = c;
  }
  std::uint64_t total = start;
  for (int lane = 0; lane < e.lanes; ++lane) {
    std::uint64_t s = lane == 0 ? start : 0;
    for (int t = lane; t < e.k; t += e.lanes) {
      Unpacked a, b;
      load(e.reverse_pairs && (t ^ 1) < e.k ? t ^ 1 : t, a, b);
      s = fma_step(e, a, b, s);
    }
    total = lane == 0 ? s : add_sums(e, total, s);
  }
  if (e.join == Join::last) return join_chain(e, total, c);
  if (e.nan_rule != NanRule::canonical) return total;
  if (shape == output_shape(e)) return canonical(e, total << output_shift(e));
  const Real zero{0, 0, unpack(shape, total).negative, NumberClass::finite};
  return canonical(e, round_sum(e, output_shape(e), e.join_rounding, real_of(unpack(shape, total), shape), zero)
                          << output_shift(e));
}

// ---- integers ------------------------------------------------------------------------------------------------------

VERNIER_HD constexpr std::int32_t integer_of(Format format, std::uint64_t word) {
  return format == Format::int8 ? static_cast<std::int8_t>(word) : static_cast<std::uint8_t>(word);
}

// x + y modulo 2^32, or the nearest end of the range. In 32 bits on purpose: nvcc 13.0 turns sums of byte products in
// 64 bits into DP4A, which keeps 32.
VERNIER_HD constexpr std::uint32_t add_integers(std::uint32_t x, std::uint32_t y, bool saturate) {
  const std::uint32_t s = x + y;
  const bool overflows = ((x ^ s) & (y ^ s)) >> 31 != 0;
  return saturate && overflows ? 0x7fffffffu + (x >> 31) : s;
}

VERNIER_HD constexpr std::uint64_t sum_integers(const Engine& e, const std::uint64_t* a, const std::uint64_t* b,
                                                std::uint64_t c) {
  const bool saturate = e.overflow != Overflow::wrap;
  auto s = static_cast<std::uint32_t>(c);
  std::uint32_t part = 0;  // k <= 4096 products fit 32 bits
  for (int i = 0; i < e.k; ++i) {
    part += static_cast<std::uint32_t>(integer_of(e.a, a[i]) * integer_of(e.b, b[i]));
    if (e.overflow != Overflow::saturate_blocks || (i + 1) % e.block != 0) continue;
    s = add_integers(s, part, true);
    part = 0;
  }
  return add_integers(s, part, saturate);
}

// ---- one instruction -----------------------------------------------------------------------------------------------

// a and b hold e.k encodings; max_count >= e.block for block sums that cut their terms.
template <int max_count>
VERNIER_HD constexpr std::uint64_t element(const Engine& e, const std::uint64_t* a, const std::uint64_t* b,
                                           std::uint64_t c) {
  if (e.sum == Sum::integer) return sum_integers(e, a, b, c);
  const auto load = [&](int i, Unpacked& x, Unpacked& y) {
    x = load_input(e, e.a, a[i]);
    y = load_input(e, e.b, b[i]);
  };
  return e.sum == Sum::block ? sum_blocks<max_count>(e, load, c) : sum_chain(e, load, c);
}

}  // namespace vernier::model
