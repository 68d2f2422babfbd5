// Exact sums of products of dd and binary128 in MPFR, and whether a result is their one rounding.
#pragma once

#include <mpfr.h>

#include <bit>
#include <cstdint>
#include <stdexcept>

#include "vernier/quad.hpp"

namespace vernier::test {

inline constexpr mpfr_prec_t exact_bits = 512;  // of sums of products of the data below: nothing is rounded

// A number of that many bits; what is rounded stops the campaign.
class Real {
 public:
  Real() { mpfr_init2(x_, exact_bits), mpfr_set_zero(x_, 1); }
  ~Real() { mpfr_clear(x_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;

  mpfr_t& get() { return x_; }
  void set(double x) { mpfr_set_d(x_, x, MPFR_RNDN); }
  void set(const dd& x) {
    mpfr_set_d(x_, x.hi, MPFR_RNDN);
    exactly(mpfr_add_d(x_, x_, x.lo, MPFR_RNDN));
  }
#if defined(__SIZEOF_FLOAT128__)
  void set(binary128 x) {
    set(0.0);
    for (int part = 0; part < 3; ++part) {
      const auto leading = static_cast<double>(x);
      exactly(mpfr_add_d(x_, x_, leading, MPFR_RNDN));
      x -= leading;
    }
  }
#endif
  void add_product(Real& x, Real& y) { exactly(mpfr_fma(x_, x.x_, y.x_, x_, MPFR_RNDN)); }
  static void exactly(int ternary) {
    if (ternary != 0) throw std::runtime_error("the reference was rounded");
  }

 private:
  mpfr_t x_;
};

inline mpfr_rnd_t direction_of(Rounding r) {
  return r == Rounding::down          ? MPFR_RNDD
         : r == Rounding::up          ? MPFR_RNDU
         : r == Rounding::toward_zero ? MPFR_RNDZ
                                      : MPFR_RNDN;
}

inline bool same_bits(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

inline bool is_rounded_once(Real& exact, const dd& t, Rounding rounding) {
  const double hi = mpfr_get_d(exact.get(), MPFR_RNDN);
  Real rest;
  Real::exactly(mpfr_sub_d(rest.get(), exact.get(), hi, MPFR_RNDN));
  return same_bits(t.hi, hi) &&
         same_bits(t.lo, mpfr_zero_p(rest.get()) ? 0 : mpfr_get_d(rest.get(), direction_of(rounding)));
}
#if defined(__SIZEOF_FLOAT128__)
inline bool is_rounded_once(Real& exact, binary128 t, Rounding rounding) {
  Real found;
  found.set(t);
  mpfr_prec_round(exact.get(), 113, direction_of(rounding));
  return mpfr_equal_p(exact.get(), found.get()) != 0;
}
#endif

}  // namespace vernier::test
