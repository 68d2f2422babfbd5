#include "bf16x6/cost.hpp"

#include "bf16x6/panel.hpp"
#include "engine/panel.hpp"

namespace vernier {
namespace {

// Products of bf16 parts, a second and core: operations of the fp32 product, elements split, entries of C written.
constexpr double part_operations = 0.47e12, part_elements = 1.6e9, part_sums = 3e9;

}  // namespace

double bf16x6_seconds(const ProductShape& s, int threads) {
  const double m = static_cast<double>(round_up(s.m, bf16x6_strip));
  const double n = static_cast<double>(round_up(s.n, bf16x6_strip));
  const double k = static_cast<double>(round_up(s.k, bf16x6_chunk));
  const double elements = m * k + k * n, sums = m * n;
  return (2 * m * n * k / part_operations + elements / part_elements + sums / part_sums) / threads +
         least_bf16x6_seconds;
}

}  // namespace vernier
