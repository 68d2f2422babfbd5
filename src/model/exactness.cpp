// How many bits a slice may hold so that an engine sums products of slices without loss.
//
// Slices are integers |x| <= X and |y| <= Y, the numbers below 2^s in magnitude for s bits (times powers of two that
// keep them in range). Every product and every partial sum is then an integer multiple of one unit, and nothing is lost
// if
//   inputs     X and Y have no more bits than the inputs
//   products   the bits of X and Y together fit product_bits where products are rounded
//   alignment  the unit is not cut: e_max <= F, with e(product) <= log2 X + log2 Y and e(c) <= log2 of the partial sums
//              before the last block
//   rounding   every rounded partial sum holds in the rounding's bits: k X Y <= 2^p_out
//   carries    (4 L + 2) 2^e_max stays below the modulus 2^(e_max + 1 + carry_bits)
#include <algorithm>

#include "base/status.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

// The largest magnitudes of the factors.
struct Largest {
  std::int64_t a, b;
  int bits_a() const { return leading_bit(static_cast<Uint128>(a)) + 1; }
  int bits_b() const { return leading_bit(static_cast<Uint128>(b)) + 1; }
  Uint128 product() const { return static_cast<Uint128>(a) * static_cast<Uint128>(b); }
};

bool exact_integers(const Engine& e, const Largest& x, std::int64_t k) {
  const auto fits = [](Format format, std::int64_t largest) { return largest <= (format == Format::int8 ? 128 : 255); };
  return fits(e.a, x.a) && fits(e.b, x.b) && k <= 2147483647 / (x.a * x.b);
}

// Sums of magnitude up to `largest` in units of 1, of numbers with `bits` significand bits: all multiples of the unit.
bool holds(Uint128 largest, int bits) { return largest <= Uint128{1} << bits; }

bool exact_block(const Engine& e, const Largest& x, std::int64_t k) {
  const Uint128 square = x.product();
  if (!holds(square * static_cast<Uint128>(k), e.output_fraction_bits + 1)) return false;
  if (e.early_fraction_bits > 0 && !holds(square * static_cast<Uint128>(k), e.early_fraction_bits + 1)) return false;
  if (e.fraction_bits == exact_alignment) return true;
  const int product = x.bits_a() - 1 + x.bits_b() - 1 + (e.normalise_products ? 1 : 0);
  const std::int64_t before = k <= e.block ? 0 : e.interleave > 0 ? k - 1 : (k - 1) / e.block * e.block;
  const int c = before > 0 ? leading_bit(square * static_cast<Uint128>(before)) : 0;
  if (std::max(product, c) > e.fraction_bits) return false;
  return e.carry_bits == 0 || 4 * e.block + 2 <= 1LL << std::min(1 + e.carry_bits, 40);
}

bool reaches(Format format, int bits) {
  const FloatShape s = shape_of(format);
  return bits <= s.fraction_bits + 1 && bits - 1 <= s.emax() - (s.emin() - s.fraction_bits);
}

bool exact(const Engine& e, const Largest& x, std::int64_t k) {
  if (e.sum == Sum::integer) return exact_integers(e, x, k);
  if (!reaches(e.a, x.bits_a()) || !reaches(e.b, x.bits_b())) return false;
  if (leading_bit(x.product() * static_cast<Uint128>(k)) > shape_of(e.c).emax()) return false;
  if (e.product_bits > 0 && x.bits_a() + x.bits_b() > e.product_bits) return false;
  if (e.sum == Sum::block) return exact_block(e, x, k);
  return holds(x.product() * static_cast<Uint128>(k), std::min(e.sum_bits, e.output_fraction_bits + 1));
}

Largest of_bits(int bits) {
  const std::int64_t largest = (std::int64_t{1} << bits) - 1;
  return {largest, largest};
}

std::int64_t longest(const Engine& e, const Largest& x) {
  std::int64_t low = 0, high = std::int64_t{1} << 40;
  while (low < high) {  // exactness is monotonic in k
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (exact(e, x, middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace

int exact_bits(const Engine& engine, std::int64_t k) {
  validate(engine);
  require(k >= 1, "exact_bits: k is {}; expected at least 1", k);
  int bits = 0;
  while (bits < 53 && exact(engine, of_bits(bits + 1), k)) ++bits;
  return bits;
}

std::int64_t exact_length(const Engine& engine, int bits) {
  validate(engine);
  require(bits >= 1 && bits <= 53, "exact_length: bits is {}; expected 1 to 53", bits);
  return longest(engine, of_bits(bits));
}

std::int64_t exact_length(const Engine& engine, std::int64_t largest_a, std::int64_t largest_b) {
  validate(engine);
  for (const std::int64_t largest : {largest_a, largest_b})
    require(largest >= 1 && largest < std::int64_t{1} << 53,
            "exact_length: the largest magnitude is {}; expected 1 to 2^53 - 1", largest);
  return longest(engine, {largest_a, largest_b});
}

}  // namespace vernier::model
