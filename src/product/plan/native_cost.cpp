#include "product/plan/native_cost.hpp"

#include <cmath>

namespace vernier {
namespace {

constexpr double native_double = 115e9, native_single = 230e9;  // operations a second and core, OpenBLAS, large sizes
constexpr double native_half = 250;                             // size, as of a cube, at which half of that is reached

}  // namespace

double native_seconds(const ProductShape& s, bool single_precision, int threads) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double size = std::cbrt(m * n * k);
  const double rate = (single_precision ? native_single : native_double) * size / (size + native_half);
  return 2 * m * n * k / (rate * threads);
}

}  // namespace vernier
