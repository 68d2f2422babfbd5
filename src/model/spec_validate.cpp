// Which parameters an engine can have. Messages name the field, its value and what was expected.
#include <algorithm>
#include <bit>
#include <cmath>

#include "model/spec.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model {
namespace {

[[noreturn]] void reject(const std::string& field, const std::string& value, const std::string& expected) {
  throw Error(Status::invalid_argument, "engine description: " + field + " is " + value + "; expected " + expected);
}

void in_range(const char* field, long value, long low, long high) {
  if (value < low || value > high)
    reject(field, std::to_string(value), std::to_string(low) + " to " + std::to_string(high));
}

void one_of(const char* field, Format value, std::initializer_list<Format> allowed) {
  std::string list;
  for (Format f : allowed) {
    if (f == value) return;
    list += (list.empty() ? "" : ", ") + std::string(to_string(f));
  }
  reject(field, to_string(value), list);
}

void validate_integer(const Engine& e) {
  for (const auto& [field, format] : {std::pair{"a", e.a}, {"b", e.b}})
    one_of(field, format, {Format::int8, Format::uint8});
  one_of("c", e.c, {Format::int32});
  if (e.overflow == Overflow::infinity || e.overflow == Overflow::largest)
    reject("overflow", std::string(name_of(e.overflow)), "wrap, saturate blocks or saturate end for integers");
}

void validate_block(const Engine& e) {
  if (e.nan_rule != NanRule::canonical)
    reject("nan_rule", std::string(name_of(e.nan_rule)), "canonical for a block sum");
  one_of("c", e.c, {Format::fp16, Format::bf16, Format::fp32});
  for (Format f : {e.a, e.b})
    if (f == Format::fp64) reject("a or b", "fp64", "at most fp32 for a block sum");
  if (e.fraction_bits != exact_alignment) {
    in_range("block", e.block, 1, 256);
    in_range("fraction_bits", e.fraction_bits, 1, 60 - std::bit_width(static_cast<unsigned>(e.block)));
    in_range("carry_bits", e.carry_bits, 0, 61 - e.fraction_bits);
  }
  in_range("zero_exponent", e.zero_exponent, -400, 400);
  in_range("early_fraction_bits", e.early_fraction_bits, 0, 60);
  if (e.interleave != 0 && (e.k % e.block != 0 || e.interleave < 0 || e.block % e.interleave != 0))
    reject("interleave", std::to_string(e.interleave), "a divisor of block, and k a multiple of block");
}

void validate_chain(const Engine& e) {
  one_of("c", e.c, {Format::fp16, Format::bf16, Format::fp32, Format::fp64});
  in_range("sum_bits", e.sum_bits, 2, 53);
  in_range("lanes", e.lanes, 1, e.k);
  const auto widens = [&](Format f) {
    return shape_of(f).specials == SpecialCodes::ieee && shape_of(f).fraction_bits <= shape_of(e.c).fraction_bits;
  };
  const int bits = shape_of(e.c).fraction_bits;
  const bool sums_like_c = e.sum_bits == bits + 1 && e.output_fraction_bits == bits;
  if (e.nan_rule != NanRule::canonical && (!sums_like_c || !widens(e.a) || !widens(e.b)))
    reject("nan_rule", std::string(name_of(e.nan_rule)),
           "canonical, unless the sums have the format of c, and a and b have NaNs that fit it");
}

}  // namespace

void validate(const Engine& e) {
  in_range("k", e.k, 1, 4096);
  in_range("block", e.block, 1, 4096);
  if (is_integer(e.a) != (e.sum == Sum::integer) || is_integer(e.b) != (e.sum == Sum::integer) ||
      is_integer(e.c) != (e.sum == Sum::integer))
    reject("sum", std::string(name_of(e.sum)), "integer exactly for integer formats");
  if (e.sum == Sum::integer) return validate_integer(e);
  if (e.overflow != Overflow::infinity && e.overflow != Overflow::largest)
    reject("overflow", std::string(name_of(e.overflow)), "infinity or largest for floating point");
  if (e.sum == Sum::block)
    validate_block(e);
  else
    validate_chain(e);
  in_range("product_bits", e.product_bits, 0, 106);
  in_range("output_fraction_bits", e.output_fraction_bits, 1, shape_of(e.c).fraction_bits);
  if (unpack(shape_of(e.c), e.nan).kind != NumberClass::nan ||
      (shape_of(e.c).bits() < 64 && e.nan >> shape_of(e.c).bits() != 0))
    reject("nan", std::to_string(e.nan), std::string("a NaN of ") + to_string(e.c));
}

const char* to_string(Format format) { return name_of(format).data(); }
const char* to_string(Rounding rounding) { return name_of(rounding).data(); }

int storage_bytes(Format format) {
  switch (format) {
    case Format::fp16:
    case Format::bf16:
      return 2;
    case Format::tf32:
    case Format::fp32:
    case Format::int32:
      return 4;
    case Format::fp64:
      return 8;
    default:
      return 1;
  }
}

double decode(Format format, std::uint64_t word) {
  if (format == Format::int8) return static_cast<std::int8_t>(word);
  if (format == Format::uint8) return static_cast<std::uint8_t>(word);
  if (format == Format::int32) return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
  const FloatShape shape = shape_of(format);
  const Unpacked x = unpack(shape, word);
  if (x.kind == NumberClass::nan) return std::nan("");
  const double magnitude = x.kind == NumberClass::infinite
                               ? INFINITY
                               : std::ldexp(static_cast<double>(x.significand), x.exponent - shape.fraction_bits);
  return x.negative ? -magnitude : magnitude;
}

std::uint64_t encode(Format format, double value) {
  if (is_integer(format)) {
    const double low = format == Format::uint8 ? 0 : format == Format::int8 ? -128 : -2147483648.0;
    const double high = format == Format::uint8 ? 255 : format == Format::int8 ? 127 : 2147483647.0;
    const double x = std::nearbyint(std::fmin(std::fmax(value, low), high));
    const std::uint64_t mask = format == Format::int32 ? 0xffffffff : 0xff;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) & mask;
  }
  const FloatShape shape = shape_of(format);
  const Unpacked x = unpack(shape_fp64, std::bit_cast<std::uint64_t>(value));
  const std::uint64_t sign = x.negative ? shape.sign_bit() : 0;
  const std::uint64_t top = shape.sign_bit() - 1;  // the largest code
  std::uint64_t d = sign;
  if (x.kind == NumberClass::nan)
    d = shape.specials == SpecialCodes::ieee ? shape.infinity() | (std::uint64_t{1} << (shape.fraction_bits - 1)) : top;
  else if (x.kind == NumberClass::infinite || std::fabs(value) >= std::ldexp(1.0, shape.emax() + 1))
    d = sign | (shape.specials == SpecialCodes::ieee ? shape.infinity() : top);
  else if (x.significand != 0) {
    // One exponent bit more, with the bias moved so that the codes agree, has room for the codes that IEEE 754
    // reserves.
    const FloatShape wider{shape.exponent_bits + 1, shape.fraction_bits};
    d = sign | std::min(top, round_to(wider, RoundingRule{}, false, x.significand,
                                      x.exponent - 52 - (1 << (shape.exponent_bits - 1))));
  }
  return d << shape.ignored_bits;
}

}  // namespace vernier::model
