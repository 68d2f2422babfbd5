#include "decimal_digits.hpp"

#include <array>
#include <cmath>

namespace vernier::cli {

int significant_digits(std::string_view number) {
  int count = 0;
  for (const char c : number) {
    if (c == 'e' || c == 'E') break;
    if (c >= '0' && c <= '9' && (count > 0 || c != '0')) ++count;
  }
  return count;
}

DecimalDigits::DecimalDigits() {
  constexpr mpfr_prec_t bits = 400;
  mpfr_init2(sum_, bits);
  mpfr_init2(low_, 53);
}
DecimalDigits::~DecimalDigits() { mpfr_clears(sum_, low_, nullptr); }

dd DecimalDigits::read(std::string_view digits, double hi) {
  if (!std::isfinite(hi)) return dd(hi);
  mpfr_set_str(sum_, std::string(digits).c_str(), 10, MPFR_RNDN);
  mpfr_sub_d(sum_, sum_, hi, MPFR_RNDN);
  return {hi, mpfr_get_d(sum_, MPFR_RNDN)};
}

std::string DecimalDigits::write(const dd& x) {
  mpfr_set_d(sum_, x.hi, MPFR_RNDN);
  mpfr_set_d(low_, std::isfinite(x.hi) ? x.lo : 0, MPFR_RNDN);
  mpfr_add(sum_, sum_, low_, MPFR_RNDN);
  std::array<char, 80> text;
  mpfr_snprintf(text.data(), text.size(), "%.35Re", sum_);
  return text.data();
}

}  // namespace vernier::cli
