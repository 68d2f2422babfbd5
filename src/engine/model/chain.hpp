// Chains: sums that are rounded after every addition. Host and device, constexpr.
#pragma once

#include "engine/model/block.hpp"

namespace vernier::model {

// The partial sums of a chain, encoded: sum_bits of significand, exponents of c.
VERNIER_HD constexpr FloatShape chain_shape(const Engine& e) {
  return {shape_of(e.c).exponent_bits, e.sum_bits - 1, SpecialCodes::ieee, 0};
}

VERNIER_HD constexpr std::uint64_t fma_step(const Engine& e, const Unpacked& a, const Unpacked& b, std::uint64_t s) {
  const FloatShape shape = chain_shape(e);
  const int f = product_fraction_bits(e);
  Real p{Uint128{a.significand} * b.significand, a.exponent + b.exponent - f, a.negative != b.negative,
         product_class(a, b)};
  if (e.product_bits > 0 && p.significand != 0) {
    const int lost = leading_bit(p.significand) + 1 - e.product_bits;
    if (lost > 0) p.significand = shift_right(p.significand, lost, RoundingMode::nearest_even, p.negative) << lost;
  }
  return round_sum(e, shape, e.rounding, real_of(unpack(shape, s), shape), p);
}

template <class Load>
VERNIER_HD constexpr std::uint64_t sum_chain(const Engine& e, const Load& load, std::uint64_t c) {
  const FloatShape shape = chain_shape(e);
  std::uint64_t start = 0;
  if (e.join == Join::first) {
    const Real zero{0, 0, true, NumberClass::finite};  // -0 + c is c, rounded to the chain's bits
    start = round_sum(e, shape, e.rounding, real_of(load_c(e, c), shape_of(e.c)), zero);
  }
  std::uint64_t total = start;
  for (int lane = 0; lane < e.lanes; ++lane) {
    std::uint64_t s = lane == 0 ? start : 0;
    for (int t = lane; t < e.k; t += e.lanes) {
      Unpacked a, b;
      load(e.reverse_pairs && (t ^ 1) < e.k ? t ^ 1 : t, a, b);
      s = fma_step(e, a, b, s);
    }
    total = lane == 0 ? s
                      : round_sum(e, shape, e.rounding, real_of(unpack(shape, total), shape),
                                  real_of(unpack(shape, s), shape));
  }
  if (e.join == Join::last) return join_c(e, shape, total, c);
  if (shape == output_shape(e)) return canonical(e, total << output_shift(e));
  const Real zero{0, 0, unpack(shape, total).negative, NumberClass::finite};
  return canonical(e, round_sum(e, output_shape(e), e.join_rounding, real_of(unpack(shape, total), shape), zero)
                          << output_shift(e));
}

}  // namespace vernier::model
