#include "residue/quad/quad_plan.hpp"

#include <cmath>

#include "base/status.hpp"

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
  return std::min(goal.bits + std::max(spare_bits - gained, 6), most_bits);
}

QuadExtent set_scales(QuadSide& side, const QuadScaling& rule) {
  side.scales.assign(side.vectors.size(), {});
  QuadExtent all;
  for (std::size_t v = 0; v < side.vectors.size(); ++v) {
    QuadScale& s = side.scales[v];
    all.norm_2 = std::max(all.norm_2, set_quad_scale(side.vectors[v], rule, s));
    all.rounded = std::max(all.rounded, by_floor(s.error.rounded, s.error.floor));
    all.half_norm = std::max(all.half_norm, by_floor(s.error.half_norm, s.error.floor));
  }
  return all;
}

// Scales of both sides in host memory.
class HostScales final : public QuadScales {
 public:
  HostScales(QuadSide& a, QuadSide& b, std::int64_t k, const std::function<std::vector<QuadSample>()>& sample)
      : a_(a), b_(b), k_(k), sample_(sample) {}

  QuadExtents set(const QuadSize& size) override {
    return {set_scales(a_, {k_, a_.parts, size, true}), set_scales(b_, {k_, b_.parts, size, false})};
  }
  std::vector<QuadSampleError> samples() override {
    std::vector<QuadSampleError> list;
    for (const QuadSample& s : sample_()) {
      const QuadScale &row = a_.scales[static_cast<std::size_t>(s.row)],
                      &column = b_.scales[static_cast<std::size_t>(s.column)];
      list.push_back({s.magnitude, quad_error(row.error, column.error), row.exponent + column.exponent});
    }
    return list;
  }

 private:
  QuadSide &a_, &b_;
  const std::int64_t k_;
  const std::function<std::vector<QuadSample>()>& sample_;
};

int moduli_of(const QuadExtents& extents) {
  const auto log2_of = [](double norm) { return norm == 0 ? 0 : std::log2(norm) + 1e-9; };
  return moduli_for(std::max(1.0, std::max(0.0, log2_of(extents.a.norm_2)) + std::max(0.0, log2_of(extents.b.norm_2))));
}
int moduli_at(QuadScales& scales, int bits) { return moduli_of(scales.set({bits})); }

// A 2-norm of both sides that so many moduli hold: cut to 20 bits, so that no library's last bits decide scales.
double norm_held_by(int moduli) {
  const double log2_norm = log2_bound_of(moduli) / 2, whole = std::floor(log2_norm);
  return std::ldexp(std::floor(std::ldexp(std::exp2(log2_norm - whole) * (1 - 0x1p-18), 20)),
                    static_cast<int>(whole) - 20);
}

double likely_bound(QuadGoal goal) { return std::max(2.0 * goal.bits, 1.0); }

// As few moduli as vectors prove to be enough for every entry; 0: they do not.
int proved_moduli(QuadScales& scales, std::int64_t k, QuadGoal goal) {
  const double target = std::ldexp(static_cast<double>(k), -goal.bits) * (1 - 0x1p-20);
  double bound = likely_bound(goal);  // log2 of what the moduli are to hold
  int least = 0;
  std::vector<QuadSize> likely;
  const int first = moduli_for(bound);
  for (int i = std::max(first - 3, 1); i < first + most_expected - 3 && i <= max_moduli && first != 0; ++i)
    likely.push_back(likely_size(i));
  scales.expect(likely);
  for (int attempt = 0; attempt < 5; ++attempt) {
    const int moduli = std::max(moduli_for(std::max(bound, 1.0)), least);
    if (moduli == 0 || moduli > max_moduli) return 0;
    const QuadExtents extents = scales.set(likely_size(moduli));
    const double share = extents.share();
    if (!std::isfinite(share)) return 0;
    if (share == 0) return moduli_of(extents);
    bound = log2_bound_of(moduli) + 2 * std::log2(share / target);
    if (share <= target && (attempt > 0 || moduli_for(std::max(bound, 1.0)) >= moduli)) return moduli_of(extents);
    least = share <= target ? 0 : moduli + 1;
  }
  return 0;
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

int likely_moduli(QuadGoal goal) { return moduli_for(likely_bound(goal)); }
QuadSize likely_size(int moduli) { return {most_bits, norm_held_by(moduli)}; }

void fail_beyond_span() {
  fail(Status::unsupported,
       "quad_gemm: elements of a row of op(A) or a column of op(B) lie more than 2^{} apart; expected binary128 data "
       "whose rows and columns are scaled",
       most_span);
}

QuadPlan choose_bits(QuadScales& scales, std::int64_t k, QuadGoal goal) {
  QuadPlan plan;
  if (!goal.exact() && (plan.moduli = proved_moduli(scales, k, goal)) != 0) return plan;
  int bits = first_bits(k, goal);
  plan.moduli = moduli_at(scales, bits);
  if (!goal.exact() && plan.moduli != 0)
    if (const int missing = missing_bits(scales.samples(), k, goal); missing > 0) {
      bits = std::min(bits + missing, most_bits);
      plan.moduli = moduli_at(scales, bits);
    }
  while (plan.moduli == 0) plan.moduli = moduli_at(scales, --bits);
  return plan;
}

QuadPlan plan_quad(QuadSide& a, QuadSide& b, std::int64_t k, QuadGoal goal,
                   const std::function<std::vector<QuadSample>()>& sample) {
  HostScales scales(a, b, k, sample);
  QuadPlan plan = choose_bits(scales, k, goal);
  plan.integers = true;
  for (const QuadSide* side : {&a, &b})
    for (const QuadScale& s : side->scales) plan.integers = plan.integers && s.error.rounded == 0;
  return plan;
}

}  // namespace vernier
