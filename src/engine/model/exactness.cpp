// How many bits a slice may hold so that an engine sums products of slices without loss.
//
// Slices are integers |x| <= M = 2^s - 1 (times a power of two that keeps them in range). Every product and every
// partial sum is then an integer multiple of one unit, and nothing is lost if
//   inputs     2^s - 1 is an input: s <= p
//   products   2 s <= product_bits where products are rounded
//   alignment  the unit is not cut: e_max <= F, with e(product) <= 2 (s - 1) and e(c) <= log2 of the partial sums
//   before
//              the last block
//   rounding   every rounded partial sum holds in the rounding's bits: k M^2 <= 2^p_out
//   carries    (4 L + 2) 2^e_max stays below the modulus 2^(e_max + 1 + carry_bits)
#include <algorithm>
#include <bit>

#include "engine/spec.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model {
namespace {

// floor(log2 x) of x >= 1
int log2_floor(Uint128 x) { return leading_bit(x); }

bool exact_integers(const Engine& e, int bits, std::int64_t k) {
  const int limit = e.a == Format::int8 || e.b == Format::int8 ? 7 : 8;
  const std::int64_t largest = (std::int64_t{1} << bits) - 1;
  return bits <= limit && k <= 2147483647 / (largest * largest);
}

// Sums of magnitude up to `largest` in units of 1, of numbers with `bits` significand bits: all multiples of the unit.
bool holds(Uint128 largest, int bits) { return largest <= Uint128{1} << bits; }

bool exact_block(const Engine& e, int bits, Uint128 square, std::int64_t k) {
  if (!holds(square * static_cast<Uint128>(k), e.output_fraction_bits + 1)) return false;
  if (e.early_fraction_bits > 0 && !holds(square * static_cast<Uint128>(k), e.early_fraction_bits + 1)) return false;
  if (e.fraction_bits == exact_alignment) return true;
  const int product = 2 * (bits - 1) + (e.normalise_products ? 1 : 0);
  const std::int64_t before = k <= e.block ? 0 : e.interleave > 0 ? k - 1 : (k - 1) / e.block * e.block;
  const int c = before > 0 ? log2_floor(square * static_cast<Uint128>(before)) : 0;
  if (std::max(product, c) > e.fraction_bits) return false;
  return e.carry_bits == 0 || 4 * e.block + 2 <= 1LL << std::min(1 + e.carry_bits, 40);
}

bool exact_chain(const Engine& e, Uint128 square, std::int64_t k) {
  return holds(square * static_cast<Uint128>(k), std::min(e.sum_bits, e.output_fraction_bits + 1));
}

// The largest integer of the output must not overflow, and inputs must reach 2^bits - 1.
bool in_range(const Engine& e, int bits, Uint128 largest) {
  for (Format f : {e.a, e.b}) {
    const FloatShape s = shape_of(f);
    if (bits > s.fraction_bits + 1 || bits - 1 > s.emax() - (s.emin() - s.fraction_bits)) return false;
  }
  return log2_floor(largest) <= shape_of(e.c).emax();
}

bool exact(const Engine& e, int bits, std::int64_t k) {
  if (e.sum == Sum::integer) return exact_integers(e, bits, k);
  const Uint128 m = (Uint128{1} << bits) - 1;
  const Uint128 square = m * m;
  if (!in_range(e, bits, square * static_cast<Uint128>(k))) return false;
  if (e.product_bits > 0 && 2 * bits > e.product_bits) return false;
  return e.sum == Sum::block ? exact_block(e, bits, square, k) : exact_chain(e, square, k);
}

}  // namespace

int exact_bits(const Engine& engine, std::int64_t k) {
  validate(engine);
  if (k < 1) throw Error(Status::invalid_argument, "exact_bits: k is " + std::to_string(k) + "; expected at least 1");
  int bits = 0;
  while (bits < 53 && exact(engine, bits + 1, k)) ++bits;
  return bits;
}

std::int64_t exact_length(const Engine& engine, int bits) {
  validate(engine);
  if (bits < 1 || bits > 53)
    throw Error(Status::invalid_argument, "exact_length: bits is " + std::to_string(bits) + "; expected 1 to 53");
  std::int64_t low = 0, high = std::int64_t{1} << 40;
  while (low < high) {  // exactness is monotonic in k
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (exact(engine, bits, middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace vernier::model
