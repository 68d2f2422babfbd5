#include "residue/quad/quad_plan.hpp"

#include <algorithm>
#include <cmath>

namespace vernier {
namespace {

constexpr double slack = 1 + 0x1p-30;  // for the roundings of these few operations

// As many as three limbs hold, with a bit to spare.
constexpr int most_bits = 184;

// Entries as small as 2^-10 of a typical one keep their bound without another look.
constexpr int spare_bits = 14;

int first_bits(std::int64_t k, QuadGoal goal) {
  if (goal.exact()) return most_bits;
  const int gained =
      static_cast<int>(std::log2(static_cast<double>(k)) / 2);  // errors add up like roots, bounds do not
  return std::clamp(goal.bits + spare_bits - gained, goal.bits + 6, most_bits);
}

// Scales that give each vector `bits` bits, or fewer where that makes integers of its elements.
void set_scales(QuadSide& side, int partner_parts, std::int64_t k, int bits, bool lengthen) {
  side.scales.assign(side.vectors.size(), {});
  side.log2_norm = 0;
  const double parts = side.parts, count = static_cast<double>(k);
  for (std::size_t v = 0; v < side.vectors.size(); ++v) {
    const QuadVector& x = side.vectors[v];
    if (x.zero()) continue;
    QuadScale& s = side.scales[v];
    const bool integers = x.exponent - x.lowest_bit <= bits - 1;
    s.exponent = integers ? x.exponent - x.lowest_bit : bits - 1;
    s.scale = s.exponent - x.exponent;
    // Theorem 6 with elements that are off by half a unit for each of their parts.
    const double rounding = integers ? 0 : count * parts / 2;
    const double norm_1 = std::ldexp(x.norm_1, s.exponent) + (lengthen ? rounding : 0);
    const double largest = std::ldexp(x.largest, s.exponent) + (lengthen && !integers ? parts / 2 : 0);
    s.error = {rounding, norm_1 * partner_parts / 2 * slack, largest * slack};
    const double norm_2 = std::ldexp(x.norm_2, s.exponent) + (integers ? 0 : std::sqrt(count) * parts / 2);
    side.log2_norm = std::max(side.log2_norm, std::log2(norm_2) + 1e-9);
  }
}

int moduli_at(QuadSide& a, QuadSide& b, std::int64_t k, int bits) {
  set_scales(a, b.parts, k, bits, true);
  set_scales(b, a.parts, k, bits, false);
  return moduli_for(std::max(1.0, a.log2_norm + b.log2_norm));
}

// How many bits more the sampled entries ask for.
int missing_bits(const QuadSide& a, const QuadSide& b, std::int64_t k, QuadGoal goal,
                 const std::vector<QuadSample>& samples) {
  double most = 0;
  for (const QuadSample& s : samples) {
    const QuadScale &row = a.scales[static_cast<std::size_t>(s.row)],
                    &column = b.scales[static_cast<std::size_t>(s.column)];
    const double error = quad_error(row, column);
    if (error == 0 || s.magnitude == 0) continue;
    const double allowed =
        std::log2(static_cast<double>(k)) - goal.bits + std::log2(s.magnitude) + row.exponent + column.exponent;
    most = std::max(most, std::log2(error) - allowed + 1);
  }
  return static_cast<int>(std::ceil(std::min(most, 400.0)));
}

}  // namespace

QuadPlan plan_quad(QuadSide& a, QuadSide& b, std::int64_t k, QuadGoal goal, const std::vector<QuadSample>& samples) {
  QuadPlan plan;
  plan.bits = first_bits(k, goal);
  plan.moduli = moduli_at(a, b, k, plan.bits);
  if (!goal.exact() && plan.moduli != 0)
    if (const int missing = missing_bits(a, b, k, goal, samples); missing > 0) {
      plan.bits = std::min(plan.bits + missing, most_bits);
      plan.moduli = moduli_at(a, b, k, plan.bits);
    }
  while (plan.moduli == 0) plan.moduli = moduli_at(a, b, k, --plan.bits);
  plan.integers = true;
  for (const QuadSide* side : {&a, &b})
    for (const QuadScale& s : side->scales) plan.integers = plan.integers && s.error.rounding == 0;
  return plan;
}

}  // namespace vernier
