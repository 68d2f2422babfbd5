#include "product/plan/native_cost.hpp"

#include "base/cpu_features.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier {
namespace {

// Operations in double precision a second and core, OpenBLAS, large sizes: with AVX-512, and without.
constexpr double native_avx512 = 115e9, native_avx2 = 45e9;
constexpr double native_half = 250;  // size, as of a cube, at which half of that is reached

double tabled_seconds(double size, bool single_precision, int threads) {
  static const double native_double =
      missing_features(InstructionSet::avx512_vnni).empty() ? native_avx512 : native_avx2;
  const double rate = (single_precision ? 2 : 1) * native_double * size / (size + native_half);
  return 2 * size * size * size / (rate * threads);
}

}  // namespace

double native_seconds(const ProductShape& s, bool single_precision, int threads) {
  const double size = size_of(s);
  const double factor = rates_of_this_machine().factor(
      size, threads,
      [&](const MeasuredTime& t) { return t.method == "native" && t.single_precision == single_precision; },
      [](const MeasuredTime& t) { return tabled_seconds(static_cast<double>(t.n), t.single_precision, t.threads); });
  return factor * tabled_seconds(size, single_precision, threads);
}

}  // namespace vernier
