#include "residue/quad/quad_plan.hpp"

#include <algorithm>
#include <cmath>

namespace vernier {
namespace {

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

double set_scales(QuadSide& side, const QuadScaling& rule) {
  side.scales.assign(side.vectors.size(), {});
  double norm_2 = 0;
  for (std::size_t v = 0; v < side.vectors.size(); ++v)
    norm_2 = std::max(norm_2, set_quad_scale(side.vectors[v], rule, side.scales[v]));
  return norm_2;
}

// Scales of both sides in host memory.
class HostScales final : public QuadScales {
 public:
  HostScales(QuadSide& a, QuadSide& b, std::int64_t k, const std::vector<QuadSample>& samples)
      : a_(a), b_(b), k_(k), samples_(samples) {}

  QuadNorms set(int bits) override {
    return {set_scales(a_, {k_, bits, a_.parts, b_.parts, true}),
            set_scales(b_, {k_, bits, b_.parts, a_.parts, false})};
  }
  std::vector<QuadSampleError> samples() const override {
    std::vector<QuadSampleError> list;
    for (const QuadSample& s : samples_) {
      const QuadScale &row = a_.scales[static_cast<std::size_t>(s.row)],
                      &column = b_.scales[static_cast<std::size_t>(s.column)];
      list.push_back({s.magnitude, quad_error(row, column), row.exponent + column.exponent});
    }
    return list;
  }

 private:
  QuadSide &a_, &b_;
  const std::int64_t k_;
  const std::vector<QuadSample>& samples_;
};

int moduli_at(QuadScales& scales, int bits) {
  const QuadNorms norms = scales.set(bits);
  const auto log2_of = [](double norm) { return norm == 0 ? 0 : std::log2(norm) + 1e-9; };
  return moduli_for(std::max(1.0, std::max(0.0, log2_of(norms.a)) + std::max(0.0, log2_of(norms.b))));
}

// How many bits more the sampled entries ask for.
int missing_bits(const std::vector<QuadSampleError>& samples, std::int64_t k, QuadGoal goal) {
  double most = 0;
  for (const QuadSampleError& s : samples) {
    if (s.error == 0 || s.magnitude == 0) continue;
    const double allowed =
        std::log2(static_cast<double>(k)) - goal.bits + std::log2(s.magnitude) + static_cast<double>(s.exponent);
    most = std::max(most, std::log2(s.error) - allowed + 1);
  }
  return static_cast<int>(std::ceil(std::min(most, 400.0)));
}

}  // namespace

QuadPlan choose_bits(QuadScales& scales, std::int64_t k, QuadGoal goal) {
  QuadPlan plan;
  plan.bits = first_bits(k, goal);
  plan.moduli = moduli_at(scales, plan.bits);
  if (!goal.exact() && plan.moduli != 0)
    if (const int missing = missing_bits(scales.samples(), k, goal); missing > 0) {
      plan.bits = std::min(plan.bits + missing, most_bits);
      plan.moduli = moduli_at(scales, plan.bits);
    }
  while (plan.moduli == 0) plan.moduli = moduli_at(scales, --plan.bits);
  return plan;
}

QuadPlan plan_quad(QuadSide& a, QuadSide& b, std::int64_t k, QuadGoal goal, const std::vector<QuadSample>& samples) {
  HostScales scales(a, b, k, samples);
  QuadPlan plan = choose_bits(scales, k, goal);
  plan.integers = true;
  for (const QuadSide* side : {&a, &b})
    for (const QuadScale& s : side->scales) plan.integers = plan.integers && s.error.rounding == 0;
  return plan;
}

}  // namespace vernier
