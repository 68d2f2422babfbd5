// The polynomial of close_roots.cpp between two ends: its powers and coefficients as sums of two doubles, multiplied
// without an error and rounded down and up, then with coefficients known to 2^-76 alone. Prints x, double's value, both
// ends, both ends with that tolerance, and how many signs each proves.
#include <cmath>
#include <cstdio>
#include <vector>
#include <vernier/verified.hpp>
#include <vernier/vernier.hpp>

#include "close_roots.hpp"

namespace {

using namespace close_roots;
using vernier::Contract;
using vernier::Op;
using vernier::Rounding;
constexpr std::int64_t terms = 4 * (degree + 1);  // (high + low)(high + low)

double high(Integer x) { return static_cast<double>(x); }
double low(Integer x) { return static_cast<double>(x - static_cast<Integer>(high(x))); }

}  // namespace

int main() {
  const std::vector<Integer> coefficients = close_roots::coefficients();
  std::vector<double> powers(points * terms), c, clow, chigh;
  for (std::int64_t j = 0; j <= degree; ++j) {
    const Integer x = coefficients[j];
    const double tolerance = j < degree ? std::ldexp(high(x < 0 ? -x : x), -76) : 0;
    c.insert(c.end(), {high(x), high(x), low(x), low(x)});
    clow.insert(clow.end(), {high(x), high(x), low(x) - tolerance, low(x) - tolerance});
    chigh.insert(chigh.end(), {high(x), high(x), low(x) + tolerance, low(x) + tolerance});
  }
  for (std::int64_t i = 0; i < points; ++i) {
    Integer power = 1;
    for (std::int64_t j = 0; j <= degree; ++j, power *= place(i))
      for (int part = 0; part < 4; ++part) powers[i + (4 * j + part) * points] = part % 2 ? low(power) : high(power);
  }
  const auto product = [&](const Contract& contract) {
    std::vector<double> p(points);
    vernier::gemm<double>(Op::none, Op::none, points, 1, terms, std::ldexp(1.0, -16 * degree), powers.data(), points,
                          c.data(), terms, 0, p.data(), points, {.contract = contract});
    return p;
  };
  const std::vector<double> down = product(Contract::exact(Rounding::down)),
                            up = product(Contract::exact(Rounding::up));
  std::vector<double> widedown(points), wideup(points);
  vernier::interval_gemm_ends(Op::none, Op::none, points, 1, terms, powers.data(), powers.data(), points, clow.data(),
                              chigh.data(), terms, widedown.data(), wideup.data(), points);
  int proved = 0, proved_wide = 0, wrong = 0;
  bool nested = true;
  std::puts("# x; its value by double; lower, upper end; both with tolerances");
  for (std::int64_t i = 0; i < points; ++i) {
    const double scale = std::ldexp(1.0, -16 * degree), widest = wideup[i] * scale, least = widedown[i] * scale;
    double by_double = 0;
    for (std::int64_t j = 0; j < terms; j += 4) by_double += powers[i + j * points] * c[j] * scale;
    proved += down[i] > 0 || up[i] < 0;
    proved_wide += least > 0 || widest < 0;
    wrong += by_double * down[i] <= 0;
    nested = nested && least <= down[i] && down[i] <= up[i] && up[i] <= widest;
    std::printf("%.17g %.6e %.6e %.6e %.6e %.6e\n", 1 + std::ldexp(2 * i - 1, -16), by_double, down[i], up[i], least,
                widest);
  }
  std::printf("signs proved: %d of %lld, %d with tolerances; wrong in double: %d\n", proved,
              static_cast<long long>(points), proved_wide, wrong);
  return nested && proved == points && proved_wide > points / 2 ? 0 : 1;
}
