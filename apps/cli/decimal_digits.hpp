// Numbers of dd in decimal digits.
#pragma once

#include <mpfr.h>

#include <string>
#include <string_view>
#include <vernier/quad.hpp>

namespace vernier::cli {

// Of "-0012.50e3": 4, without the zeros in front.
int significant_digits(std::string_view number);

class DecimalDigits {
 public:
  DecimalDigits();
  ~DecimalDigits();
  DecimalDigits(const DecimalDigits&) = delete;
  DecimalDigits& operator=(const DecimalDigits&) = delete;

  // hi, the double nearest to what the digits say, and what they say beyond it, rounded once: all but what lies 2^-400
  // below hi counts.
  dd read(std::string_view digits, double hi);
  std::string write(const dd& x);  // 36 digits of hi + lo

 private:
  mpfr_t sum_, low_;
};

}  // namespace vernier::cli
