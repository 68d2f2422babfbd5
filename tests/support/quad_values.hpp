// dd and binary128 as exact integers, and the one rounding of an integer to each.
#pragma once

#include <gmpxx.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/exact.hpp"
#include "support/random.hpp"
#include "vernier/quad.hpp"

namespace vernier::test {

// In units of 2^-2148.
inline mpz_class exact_value_of(double x) { return exact_value(x); }
inline mpz_class exact_value_of(const dd& x) { return exact_value(x.hi) + exact_value(x.lo); }

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef unsigned __int128 QuadWord;

inline mpz_class exact_value_of(binary128 x) {  // 2^-2036 <= |x| or x = 0
  const auto bits = std::bit_cast<QuadWord>(x);
  const int field = static_cast<int>(static_cast<std::uint64_t>(bits >> 112) & 0x7fff);
  const QuadWord fraction = bits & ((QuadWord{1} << 112) - 1);
  if (field == 0 && fraction == 0) return 0;
  mpz_class z = static_cast<unsigned long>(fraction >> 64) | 1ul << 48;
  z = (z << 64) + static_cast<unsigned long>(fraction);
  z <<= static_cast<unsigned long>(field - 16383 - 112 - exact_unit);
  return (bits >> 127) != 0 ? mpz_class(-z) : z;
}
#endif

// value 2^unit rounded once.
inline dd rounded_to(const mpz_class& value, int unit, Rounding rounding, const dd*) {
  const double hi = rounded<double>(value, unit);
  mpz_class rest = value - (exact_value(hi) << static_cast<unsigned long>(exact_unit - unit));
  return dd(hi, rounded<double>(rest, unit, rounding));
}
#if defined(__SIZEOF_FLOAT128__)
inline binary128 rounded_to(const mpz_class& value, int unit, Rounding rounding, const binary128*) {  // normal numbers
  if (value == 0) return 0;
  mpz_class kept = abs(value);
  const bool negative = sgn(value) < 0;
  const int drop = static_cast<int>(mpz_sizeinbase(kept.get_mpz_t(), 2)) - 113;
  if (drop > 0) {
    const mpz_class cut = kept & ((mpz_class(1) << static_cast<unsigned long>(drop)) - 1),
                    half = mpz_class(1) << static_cast<unsigned long>(drop - 1);
    kept >>= static_cast<unsigned long>(drop);
    const bool away = rounding == (negative ? Rounding::down : Rounding::up);
    const bool up = cut > half || (cut == half && mpz_odd_p(kept.get_mpz_t()) != 0);
    if (rounding == Rounding::nearest ? up : away && cut != 0) ++kept;
    unit += drop;
  }
  const mpz_class high = kept >> 60, low = kept & ((mpz_class(1) << 60) - 1);
  binary128 x = static_cast<binary128>(high.get_ui()) * 0x1p60 + static_cast<binary128>(low.get_ui());
  for (; unit > 0; --unit) x *= 2;
  for (; unit < 0; ++unit) x /= 2;
  return negative ? -x : x;
}
#endif

inline double random_quad(Random& r, double phi, const double*) { return r.scattered(phi); }
inline dd random_quad(Random& r, double phi, const dd*) {
  const double hi = r.scattered(phi), lo = std::ldexp(hi, -53) * (r.uniform() - 0.5);
  const double sum = hi + lo;
  return dd(sum, lo - (sum - hi));
}
#if defined(__SIZEOF_FLOAT128__)
inline binary128 random_quad(Random& r, double phi, const binary128*) {
  return static_cast<binary128>(r.scattered(phi)) * (1 + static_cast<binary128>(r.uniform()) * 0x1p-20);
}
#endif

template <class T>
std::vector<T> random_quads(std::int64_t count, double phi, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& e : x) e = random_quad(random, phi, static_cast<const T*>(nullptr));
  return x;
}

}  // namespace vernier::test
