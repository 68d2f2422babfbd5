// A polynomial with six roots that lie 2^-12 apart, at many points between them: sums of terms that cancel but for
// their last 70 bits. Prints x, its values as double computes them and as double-double does, and the number of sign
// changes: there are six.
#include <cmath>
#include <cstdio>
#include <vector>
#include <vernier/quad.hpp>
#include <vernier/vernier.hpp>

#include "close_roots.hpp"

namespace {

using namespace close_roots;
using vernier::dd;
using vernier::Op;

dd to_dd(Integer x) {
  const auto hi = static_cast<double>(x);
  return {hi, static_cast<double>(x - static_cast<Integer>(hi))};
}

int sign_changes(const std::vector<double>& p) {
  int changes = 0;
  for (std::size_t i = 1; i < p.size(); ++i) changes += std::signbit(p[i]) != std::signbit(p[i - 1]);
  return changes;
}

}  // namespace

int main() {
  std::vector<dd> powers(points * (degree + 1)), c, p(points);
  for (const Integer x : coefficients()) c.push_back(to_dd(x));
  for (std::int64_t i = 0; i < points; ++i) {
    Integer power = 1;
    for (std::int64_t j = 0; j <= degree; ++j, power *= place(i)) powers[i + j * points] = to_dd(power);
  }
  vernier::quad_gemm(Op::none, Op::none, points, 1, degree + 1, std::ldexp(1.0, -16 * degree), powers.data(), points,
                     c.data(), degree + 1, 0.0, p.data(), points);

  std::vector<double> short_powers, short_c, by_double(points), by_dd;
  for (const dd& x : powers) short_powers.push_back(x.hi);
  for (const dd& x : c) short_c.push_back(x.hi);
  for (const dd& x : p) by_dd.push_back(x.hi);
  vernier::gemm<double>(Op::none, Op::none, points, 1, degree + 1, std::ldexp(1.0, -16 * degree), short_powers.data(),
                        points, short_c.data(), degree + 1, 0, by_double.data(), points);
  std::puts("# x; its value by double, by double-double");
  for (std::int64_t i = 0; i < points; ++i)
    std::printf("%.17g %.6e %.6e\n", 1 + std::ldexp(2 * i - 1, -16), by_double[i], by_dd[i]);
  std::printf("sign changes: %d in double, %d in double-double\n", sign_changes(by_double), sign_changes(by_dd));
  return sign_changes(by_dd) == degree ? 0 : 1;
}
