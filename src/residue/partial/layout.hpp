// Elements that travel between parties: residues of an integer, or its digits, and classes for NaN and infinities.
//
//   moduli N > 0:  [part][N residues of 8 bits, symmetric], [part] classes, zeros up to a multiple of 8 bytes
//   digits:        an operand: [part] a double; a sum: [part][digits] words of 64 bits; then, in the last word, classes
//
// part: the real and, for complex T, the imaginary part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"

namespace vernier {

// Of an element of an operand; 0 stands for an entry that is not there, which meets nothing.
enum OperandClass : std::uint8_t {
  class_nan = 1,
  class_plus = 2,   // infinities
  class_minus = 4,  //
  class_positive = 8,
  class_negative = 16,
  class_zero = 32,
  class_special = class_nan | class_plus | class_minus,
};

// All products of doubles and sums of 2^40 of them lie in so many digits of 32 bits.
inline constexpr int most_digits = (2 * (1074 + 1024) + 64) / 32 + 2;

struct ElementLayout {
  int parts = 1;
  int moduli = 0;
  int digits = 0;  // where there are no moduli
  int lowest = 0;  // the first digit counts 2^lowest

  constexpr std::size_t class_offset() const {
    return static_cast<std::size_t>(moduli > 0 ? parts * moduli : 8 * parts * digits);
  }
  constexpr std::size_t bytes() const {
    return static_cast<std::size_t>(round_up(static_cast<std::int64_t>(class_offset()) + parts, 8));
  }
};

// Which terms the product of two classes brings to a sum: class_nan, class_plus, class_minus or none.
constexpr std::uint8_t class_product(std::uint8_t x, std::uint8_t y) {
  if (x == 0 || y == 0 || ((x | y) & class_special) == 0) return 0;
  if (((x | y) & (class_nan | class_zero)) != 0) return class_nan;
  const bool x_negative = (x & (class_minus | class_negative)) != 0;
  const bool y_negative = (y & (class_minus | class_negative)) != 0;
  return x_negative != y_negative ? class_minus : class_plus;
}

// Infinities of one sign stay one.
constexpr bool class_is_nan(std::uint8_t sum) {
  return (sum & class_nan) != 0 || (sum & (class_plus | class_minus)) == (class_plus | class_minus);
}

constexpr std::uint8_t negated_class(std::uint8_t x) {
  const auto swapped = [&](int a, int b) { return ((x & a) != 0 ? b : 0) | ((x & b) != 0 ? a : 0); };
  return static_cast<std::uint8_t>((x & (class_nan | class_zero)) | swapped(class_plus, class_minus) |
                                   swapped(class_positive, class_negative));
}

// Of the product of two elements, classes of their parts side by side, into those of a sum.
constexpr void add_class_products(int parts, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* sum) {
  sum[0] |= class_product(a[0], b[0]);
  if (parts == 1) return;
  sum[0] |= class_product(negated_class(a[1]), b[1]);
  sum[1] |= static_cast<std::uint8_t>(class_product(a[1], b[0]) | class_product(a[0], b[1]));
}

// The classes of a sum as counts in a word, which add up over sixteen parties; and back.
inline constexpr int class_counter_bits = 5, counted_classes = 3;
constexpr std::int64_t class_counts(std::uint8_t sum) {
  std::int64_t counts = 0;
  for (int c = 0; c < counted_classes; ++c)
    counts |= static_cast<std::int64_t>(sum >> c & 1) << (class_counter_bits * c);
  return counts;
}
constexpr std::uint8_t class_of_counts(std::int64_t counts) {
  unsigned sum = 0;
  for (int c = 0; c < counted_classes; ++c)
    if ((counts >> (class_counter_bits * c) & ((1 << class_counter_bits) - 1)) != 0) sum |= 1u << c;
  return static_cast<std::uint8_t>(sum);
}

}  // namespace vernier
