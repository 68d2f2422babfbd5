// The model: one element of one instruction, in integer arithmetic. Host and device, constexpr.
#pragma once

#include "model/block.hpp"

namespace vernier::model {

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
