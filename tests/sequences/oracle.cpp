#include "sequences/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/exact.hpp"

namespace vernier::sequences {
namespace {

using test::exact_unit;
using test::exact_value;
using test::joined;

constexpr mp_bitcnt_t digits = 8192;  // hold every sum of products of three doubles

mpf_class number(double x) { return mpf_class(x, digits); }
mpf_class power(int exponent) {
  mpf_class x(1, digits);
  if (exponent < 0)
    mpf_div_2exp(x.get_mpf_t(), x.get_mpf_t(), static_cast<mp_bitcnt_t>(-exponent));
  else
    mpf_mul_2exp(x.get_mpf_t(), x.get_mpf_t(), static_cast<mp_bitcnt_t>(exponent));
  return x;
}
mpf_class in_units(const mpz_class& x) { return mpf_class(x, digits) * power(exact_unit); }

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

// x.y, where some factor is not finite: terms of finite factors count as finite.
double special_sum(const Number& n) {
  double sum = 0;
  for (std::size_t l = 0; l < n.x.size(); ++l)
    if (!std::isfinite(n.x[l]) || !std::isfinite(n.y[l])) sum += n.x[l] * n.y[l];
  return sum;
}

bool alike(double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y; }

struct Sums {
  mpz_class sum = 0, magnitude = 0, squares_x = 0, squares_y = 0;  // in units of 2^exact_unit
};

Sums sums_of(const Number& n) {
  Sums s;
  if (n.alpha == 0) return s;
  for (std::size_t l = 0; l < n.x.size(); ++l) {
    const mpz_class x = exact_value(n.x[l]) >> 1074,
                    y = exact_value(n.y[l]) >> 1074;  // exact: doubles are integers then
    const mpz_class term = x * y;
    s.sum += term;
    s.magnitude += abs(term);
    s.squares_x += x * x;
    s.squares_y += y * y;
  }
  return s;
}

// alpha x.y + beta c in units of 2^(2 exact_unit).
mpz_class whole(const Number& n, const Sums& s) {
  mpz_class value = exact_value(n.alpha) * s.sum;
  if (n.beta != 0) value += exact_value(n.beta) * exact_value(n.before);
  return value;
}

std::string fault_of_rounding(const Promise& promise, const Number& n, const Sums& s) {
  const mpz_class value = whole(n, s);
  const double expected = n.single ? test::rounded<float>(value, 2 * exact_unit, promise.rounding)
                                   : test::rounded<double>(value, 2 * exact_unit, promise.rounding);
  return n.result == expected ? "" : joined("is ", n.result, ", correctly rounded ", expected);
}

std::string fault_of_bound(const Promise& promise, const Number& n, const Sums& s) {
  const int digits_of_type = n.single ? 24 : 53;
  const mpf_class unit = power(-digits_of_type), tiny = power(n.single ? -149 : -1074);
  const mpf_class alpha = abs(number(n.alpha)), beta = abs(number(n.beta)), sum = in_units(s.sum),
                  magnitude = in_units(s.magnitude),
                  product = n.beta != 0 ? mpf_class(beta * abs(number(n.before))) : number(0);
  const mpf_class base =
      promise.normwise ? mpf_class(sqrt(in_units(s.squares_x)) * sqrt(in_units(s.squares_y))) : magnitude;
  // k 2^-bits of T, one rounding to the type; then alpha T, beta C and their sum.
  const mpf_class share = (static_cast<double>(n.x.size()) + 1) * power(-promise.bits) + unit;
  mpf_class lost = number(0);  // where alpha x or alpha y is rounded before it is multiplied; 0 x is not read
  for (std::size_t l = 0; l < n.x.size() && n.alpha_first && n.alpha != 0; ++l)
    lost += number(std::abs(n.x[l])) + number(std::abs(n.y[l]));
  const mpf_class bound = lost * tiny + alpha * (share * base + unit * abs(sum) + tiny) * (1 + 4 * unit) +
                          4 * unit * (alpha * abs(sum) + product) + 4 * tiny + 2 * tiny * beta;
  const mpf_class exact = mpf_class(whole(n, s), digits) * power(2 * exact_unit);
  if (std::isfinite(n.result) && abs(number(n.result) - exact) <= bound) return "";
  const double error = std::isfinite(n.result) ? mpf_class(abs(number(n.result) - exact) / bound).get_d() : INFINITY;
  return joined("is ", n.result, ", exactly ", exact.get_d(), ": ", error, " times the bound");
}

}  // namespace

const std::vector<Promise>& promises(char type) {
  using enum Rounding;
  static const std::vector<Promise> of_s = {{nullptr, 24},
                                            {"fp32", 24},
                                            {"fp32+reproducible", 24},
                                            {"fp64", 53},
                                            {"bits(10)", 10},
                                            {"bits(24)+reproducible", 24},
                                            {"bits(40)+no-fallback", 40},
                                            {"exact", 0},
                                            {"exact+up", 0, false, up}},
                                    of_d = {{nullptr, 53},
                                            {"fp64", 53},
                                            {"fp64+reproducible", 53},
                                            {"fp64+no-fallback", 53},
                                            {"fp64-normwise", 53, true},
                                            {"fp64-normwise+reproducible", 53, true},
                                            {"fp32", 24},
                                            {"bits(8)", 8},
                                            {"bits(60)+reproducible", 60},
                                            {"bits(70)", 70},
                                            {"bits(110)+reproducible", 110},
                                            {"exact", 0},
                                            {"exact+down", 0, false, down},
                                            {"exact+toward-zero", 0, false, toward_zero}},
                                    of_c = {{nullptr, 24}, {"fp32+reproducible", 24}, {"bits(30)+reproducible", 30}},
                                    of_z = {{nullptr, 53}, {"fp64+reproducible", 53}, {"bits(60)", 60}, {"exact", 0}};
  return type == 'S' ? of_s : type == 'D' ? of_d : type == 'C' ? of_c : of_z;
}

bool may_overflow(const Number& n) {
  if (n.alpha != 0 && (!all_finite(n.x) || !all_finite(n.y))) return false;
  if (!std::isfinite(n.alpha) || !std::isfinite(n.beta)) return false;
  const mpf_class magnitude = in_units(sums_of(n).magnitude),
                  product = n.beta != 0 && std::isfinite(n.before) ? mpf_class(abs(number(n.beta) * number(n.before)))
                                                                   : number(0),
                  largest = number(n.single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max());
  const int room = n.complex ? 32 : 4;  // a complex product may be made of three real ones of sums
  mpf_class factor = number(0);         // where alpha x or alpha y is made before the sum
  for (std::size_t l = 0; l < n.x.size() && n.alpha_first; ++l)
    factor = std::max({factor, number(std::abs(n.x[l])), number(std::abs(n.y[l]))});
  const mpf_class alpha = abs(number(n.alpha));
  return std::max({mpf_class(alpha * magnitude), mpf_class(alpha * factor), magnitude, product}) > largest / room;
}

std::string fault_of(const Promise& promise, const Number& n) {
  if (!std::isfinite(n.alpha) || !std::isfinite(n.beta)) return "";
  const bool product = n.alpha != 0 && !n.x.empty();
  if (product && !(all_finite(n.x) && all_finite(n.y))) {
    const double expected = n.alpha * special_sum(n) + (n.beta != 0 ? n.beta * n.before : 0);
    return alike(expected, n.result) ? "" : joined("is ", n.result, ", expected ", expected);
  }
  if (n.beta != 0 && !std::isfinite(n.before)) {
    const bool good = std::isnan(n.beta * n.before) ? std::isnan(n.result) : !std::isfinite(n.result);
    return good ? "" : joined("is ", n.result, " behind ", n.before);
  }
  const Sums sums = sums_of(n);
  return promise.bits == 0 ? fault_of_rounding(promise, n, sums) : fault_of_bound(promise, n, sums);
}

}  // namespace vernier::sequences
