// The formats and roundings of engine descriptions, as shapes. Host and device.
#pragma once

#include "number/formats.hpp"
#include "vernier/model.hpp"

namespace vernier::model {

VERNIER_HD constexpr bool is_integer(Format format) {
  return format == Format::int8 || format == Format::uint8 || format == Format::int32;
}

VERNIER_HD constexpr FloatShape shape_of(Format format) {
  switch (format) {
    case Format::fp16:
      return {5, 10, SpecialCodes::ieee, 0};
    case Format::bf16:
      return {8, 7, SpecialCodes::ieee, 0};
    case Format::tf32:
      return {8, 10, SpecialCodes::ieee, 13};
    case Format::e4m3:
      return {4, 3, SpecialCodes::nan_only, 0};
    case Format::e5m2:
      return {5, 2, SpecialCodes::ieee, 0};
    case Format::e3m2:
      return {3, 2, SpecialCodes::none, 0};
    case Format::e2m3:
      return {2, 3, SpecialCodes::none, 0};
    case Format::e2m1:
      return {2, 1, SpecialCodes::none, 0};
    case Format::fp64:
      return {11, 52, SpecialCodes::ieee, 0};
    default:
      return {8, 23, SpecialCodes::ieee, 0};
  }
}

VERNIER_HD constexpr RoundingMode mode_of(Rounding rounding) { return static_cast<RoundingMode>(rounding); }

VERNIER_HD constexpr RoundingRule rule_of(const Engine& engine, Rounding rounding) {
  return {mode_of(rounding), engine.flush_output, engine.overflow != Overflow::largest};
}

// Results are rounded to this shape and then moved up by shift_of bits: fp32 results may keep 13 fraction bits.
VERNIER_HD constexpr FloatShape output_shape(const Engine& engine) {
  return {shape_of(engine.c).exponent_bits, engine.output_fraction_bits, SpecialCodes::ieee, 0};
}
VERNIER_HD constexpr int output_shift(const Engine& engine) {
  return shape_of(engine.c).fraction_bits - engine.output_fraction_bits;
}

// Product t of block q (of `blocks`) is product block_index(...) of the instruction.
VERNIER_HD constexpr int block_index(const Engine& engine, int blocks, int q, int t) {
  const int g = engine.interleave;
  if (g == 0) return q * engine.block + t;
  return ((t / g) * blocks + q) * g + t % g;
}

}  // namespace vernier::model
