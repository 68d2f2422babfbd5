// The integer that a scaled element is rounded to.
#pragma once

#include <cmath>

#include "support/exact.hpp"

namespace vernier::test {

// RN(a 2^scale), ties to even.
inline mpz_class scaled_integer(double a, int scale) {
  if (!std::isfinite(a)) return 0;
  const mpz_class x = exact_value(a);
  const int shift = scale + exact_unit;
  if (shift >= 0) return x << static_cast<unsigned long>(shift);
  const auto drop = static_cast<mp_bitcnt_t>(-shift);
  mpz_class whole;
  mpz_fdiv_q_2exp(whole.get_mpz_t(), x.get_mpz_t(), drop);
  const mpz_class rest = x - (whole << drop), half = mpz_class(1) << (drop - 1);
  if (rest > half || (rest == half && mpz_odd_p(whole.get_mpz_t()) != 0)) ++whole;
  return whole;
}

}  // namespace vernier::test
