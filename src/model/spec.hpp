// The formats and roundings of engine descriptions, as shapes. Host and device.
#pragma once

#include <array>
#include <string_view>

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

// ---- names of the enumerators, both ways

template <std::size_t Count>
struct Names {
  std::string_view what;
  std::array<std::string_view, Count> list;
};
template <class E>
inline constexpr Names<0> names_of{};

template <>
inline constexpr Names<13> names_of<Format>{
    "format",
    {"fp16", "bf16", "tf32", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "fp32", "fp64", "int8", "uint8", "int32"}};
template <>
inline constexpr Names<5> names_of<Rounding>{"rounding", {"nearest even", "toward zero", "down", "up", "nearest away"}};
template <>
inline constexpr Names<3> names_of<Sum>{"kind of sum", {"block", "chain", "integer"}};
template <>
inline constexpr Names<2> names_of<Join>{"place of c", {"first", "last"}};
template <>
inline constexpr Names<5> names_of<Overflow>{"overflow",
                                             {"infinity", "largest", "wrap", "saturate blocks", "saturate end"}};
template <>
inline constexpr Names<2> names_of<ZeroSign>{"sign of zero", {"positive", "ieee"}};
template <>
inline constexpr Names<7> names_of<NanRule>{"rule for NaNs",
                                            {"canonical", "a b s", "a s b", "b a s", "b s a", "s a b", "s b a"}};

template <class E>
constexpr std::string_view name_of(E value) {
  return names_of<E>.list[static_cast<std::size_t>(value)];
}

}  // namespace vernier::model
