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

// ---- rows of the engine table as constant expressions, so that a GPU kernel can be compiled for a row

constexpr Engine block_engine(Format in, Format out, int k, int block, int fraction_bits, int zero_exponent) {
  Engine e;
  e.a = e.b = in;
  e.c = out;
  e.k = k;
  e.block = block;
  e.fraction_bits = fraction_bits;
  e.zero_exponent = zero_exponent;
  if (out == Format::fp16) {
    e.rounding = Rounding::nearest_even;
    e.output_fraction_bits = 10;
    e.nan = 0x7fff;
  }
  return e;
}

// fp8 engines with a 13-bit alignment: fp32 results keep 13 fraction bits.
constexpr Engine fp8_engine(Format in, Format out, int k, int block, int zero_exponent) {
  Engine e = block_engine(in, out, k, block, 13, zero_exponent);
  if (out == Format::fp32) e.output_fraction_bits = 13;
  return e;
}

// mma.sync fp8 of Hopper: two blocks of 16 by k mod 4, from zero, then c is added to nearest.
// fp16 results: every block is rounded to nearest.
constexpr Engine split_fp8_engine(Format in, Format out) {
  Engine e = block_engine(in, out, 32, 16, 25, -133);
  e.interleave = 2;
  e.join = Join::last;
  return e;
}

constexpr Engine fma_chain(Format in, Format out, int k) {
  Engine e;
  e.a = e.b = in;
  e.c = out;
  e.k = k;
  e.sum = Sum::chain;
  e.block = k;
  e.sum_bits = out == Format::fp64 ? 53 : 24;
  e.output_fraction_bits = e.sum_bits - 1;
  e.rounding = Rounding::nearest_even;
  e.zero_sign = ZeroSign::ieee;
  e.nan = out == Format::fp64 ? 0x7ff8000000000000 : 0x7fc00000;
  return e;
}

// DMMA of Hopper hands NaNs on.
constexpr Engine hopper_double(int k) {
  Engine e = fma_chain(Format::fp64, Format::fp64, k);
  e.nan = 0xfff8000000000000;
  e.nan_rule = NanRule::bsa;
  return e;
}

// x86 hands NaNs on; the NaN of an invalid operation is the negative one.
constexpr Engine x86_chain(Format in, int k) {
  Engine e = fma_chain(in, Format::fp32, k);
  e.nan = 0xffc00000;
  e.nan_rule = NanRule::abs;
  return e;
}

constexpr Engine amx_float(Format in) {
  Engine e = x86_chain(in, 32);
  e.lanes = 2;
  e.join = Join::last;
  e.flush_inputs = in == Format::bf16;
  e.flush_c = e.flush_output = true;
  return e;
}

constexpr Engine vdpbf16ps() {
  Engine e = x86_chain(Format::bf16, 2);
  e.reverse_pairs = true;
  e.flush_inputs = e.flush_c = e.flush_output = true;
  return e;
}

constexpr Engine integer_engine(Format a, Format b, int k, int block, Overflow overflow) {
  Engine e;
  e.a = a, e.b = b, e.c = Format::int32;
  e.k = k;
  e.sum = Sum::integer;
  e.block = block;
  e.overflow = overflow;
  e.output_fraction_bits = 0;
  e.nan = 0;
  return e;
}

// Ootomo and Yokota 2021, section 3.2: A B in fp32 toward zero, then + C to nearest or toward zero.
constexpr Engine ootomo(Rounding join) {
  Engine e = fma_chain(Format::fp16, Format::fp32, 16);
  e.rounding = Rounding::toward_zero;
  e.join = Join::last;
  e.join_rounding = join;
  return e;
}

}  // namespace vernier::model
