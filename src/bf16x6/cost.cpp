#include "bf16x6/cost.hpp"

#include "bf16x6/panel.hpp"
#include "engine/panel.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier {
namespace {

// Products of bf16 parts, a second and core: operations of the fp32 product, elements split, entries of C written.
constexpr double part_operations = 0.47e12, part_elements = 1.6e9, part_sums = 3e9;

double tabled_seconds(const ProductShape& s, int threads) {
  const double m = static_cast<double>(round_up(s.m, bf16x6_strip));
  const double n = static_cast<double>(round_up(s.n, bf16x6_strip));
  const double k = static_cast<double>(round_up(s.k, bf16x6_chunk));
  const double elements = m * k + k * n, sums = m * n;
  return (2 * m * n * k / part_operations + elements / part_elements + sums / part_sums) / threads +
         least_bf16x6_seconds;
}

}  // namespace

double bf16x6_seconds(const ProductShape& s, int threads) {
  const double factor = rates_of_this_machine().factor(
      size_of(s), threads, [](const MeasuredTime& t) { return t.method == "amx_bf16"; },
      [](const MeasuredTime& t) {
        return tabled_seconds({t.n, t.n, t.n}, t.threads);
      });
  return factor * tabled_seconds(s, threads);
}

}  // namespace vernier
