// Correct rounding of one entry: the error of an integer product, the interval that it makes, and the one
// floating-point number in it. Host and device, the same decisions on both (docs/accuracy.md, theorems 6 and 7).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "number/bracket.hpp"
#include "number/host_device.hpp"
#include "number/ieee754.hpp"
#include "product/statistics.hpp"

namespace vernier {

template <class T>
constexpr bool is_finite(T x) {
  return magnitude_bits(x) < infinity_bits<T>;
}

template <class T>
constexpr bool is_power_of_two(T x) {
  const DoubleParts p = parts_of(static_cast<double>(x));
  return is_finite(x) && p.significand != 0 && (p.significand & (p.significand - 1)) == 0;
}

// floor(log2 |x|), x finite and not zero
template <class T>
VERNIER_HD constexpr int exponent_of_value(T x) {
  return exponent_of<T>(magnitude_bits(x));
}

// What a vector x = 2^s a brings to the bound of theorem 6.
struct VectorError {
  double rounding = 0;   // half the number of elements that are no integers
  double half_norm = 0;  // at least |x|_1 / 2
  double largest = 0;    // at least max |x_l|
};

VERNIER_HD inline VectorError vector_error(const VectorStatistics& v, int scale, std::int64_t inexact) {
  if (v.zero()) return {};
  // The slack covers the rounding of the few operations up to the radius of a bracket, and elements that v leaves out.
  const double half_norm = ldexp(static_cast<double>(v.sum) * (1 + 0x1p-30), v.exponent + scale - quantum_bits - 1);
  return {static_cast<double>(inexact) / 2, half_norm, ldexp(1 + 0x1p-30, v.exponent + scale + 1)};
}

// Lengthened on one side so that the bound covers the product of both roundings as well.
VERNIER_HD inline VectorError with_partner_rounding(const VectorError& e) {
  return {e.rounding, e.half_norm + e.rounding / 2, e.largest + 0.5};
}

// Theorem 6; the row's error is the lengthened one.
VERNIER_HD inline double entry_error(const VectorError& row, const VectorError& column) {
  return fmin(row.rounding * column.largest, column.half_norm) + fmin(column.rounding * row.largest, row.half_norm);
}

// value * 2^unit up to an error (in units of one), as a bracket; nothing if it is hopelessly wide. cut: value's last
// bit is set for bits below it, which only a rounding alone need not know (only_rounded).
VERNIER_HD inline std::optional<Bracket> error_bracket(Int128 value, int unit, bool cut, double error,
                                                       bool only_rounded) {
  Bracket b;
  b.value = value;
  b.exponent = unit;
  if (error == 0 && (only_rounded || !cut)) return b;
  const double radius = ceil(ldexp(error, -unit));
  if (radius >= 0x1p120) return std::nullopt;
  b.value >>= 1;  // room for the radius
  b.radius = (static_cast<Uint128>(radius) + 3) / 2 + 1;
  b.exponent += 1;
  return b;
}

// alpha * special + beta * c where the product is a NaN or an infinity.
template <class T>
VERNIER_HD T combined_special(T special, T alpha, T beta, const T* c) {
  const T product = alpha * special;
  if (beta == 0) return product;
  return is_finite(beta) && is_finite(*c) ? product : product + beta * *c;
}

// alpha * product + beta * c rounded once, with the NaN and infinities of alpha, beta and c as IEEE 754 has them; +0
// where it is zero exactly; nothing where the bracket holds more than one result. c is not read if beta = 0.
template <class T>
VERNIER_HD std::optional<T> combined(const Bracket& product, T alpha, T beta, const T* c,
                                     Rounding rounding = Rounding::nearest) {
  if (!is_finite(alpha)) {
    const std::optional<int> sign = sign_of(product);
    if (!sign) return std::nullopt;
    return combined_special(static_cast<T>(*sign), alpha, beta, c);
  }
  if (beta != 0 && !(is_finite(beta) && is_finite(*c))) return beta * *c;
  if (beta == 0 && is_power_of_two(alpha)) {  // no bit of the bracket is lost
    Bracket scaled = product;
    if (alpha < 0) scaled.value = -scaled.value;
    scaled.exponent += exponent_of_value(alpha);
    return rounded<T>(scaled, rounding);
  }
  Bracket sum = multiplied(product, static_cast<double>(alpha));
  if (beta != 0) sum = sum_of(sum, product_of(static_cast<double>(beta), static_cast<double>(*c)));
  return rounded<T>(sum, rounding);
}

// beta c of real numbers, rounded once; c's own bits for beta = 1.
template <class T>
VERNIER_HD T product_in_direction(T beta, T c, Rounding rounding) {
  if (rounding == Rounding::nearest || c == 0) return beta == T{1} ? c : beta * c;
  return *combined(Bracket{}, T{1}, beta, &c, rounding);  // nothing but exact products: always one number
}

// ---- the error of a vector's rounding as kernels read it

// VectorError of one vector and its scale as kernels read them: rounded up, lengths in units of 2^error_unit, in which
// no product leaves the range of float.
struct alignas(16) RoundError {
  float rounding = 0, half_norm = 0, largest = 0;
  int scale = 0;
};
inline constexpr double error_unit = 0x1p96;

VERNIER_HD inline RoundError round_error(const VectorError& e, int scale) {
  const auto up = [](double x) { return static_cast<float>(x == 0 ? 0 : fmax(x * (1 + 0x1p-22), 0x1p-126)); };
  return {up(e.rounding), up(e.half_norm / error_unit), up(e.largest / error_unit), scale};
}

// No less than theorem 6 has it.
VERNIER_HD inline double entry_error(const RoundError& row, const RoundError& column) {
  const float sum =
      fminf(row.rounding * column.largest, column.half_norm) + fminf(column.rounding * row.largest, row.half_norm);
  return static_cast<double>(sum) * (error_unit * (1 + 0x1p-20));
}

}  // namespace vernier
