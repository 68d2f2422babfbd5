#include "split/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace vernier {

double split_error_bound(const SplitBoundRule& rule, std::int64_t k) {
  constexpr double per_rounding = 2;  // toward zero, 24 bits: 2 u32
  const double cut = std::ldexp(1.0, 24 - rule.engine.fraction_bits);
  const auto inside = [&](double products) {
    return products * cut + std::ceil(products / rule.engine.block) * per_rounding;
  };
  const double runs = std::ceil(static_cast<double>(k) / rule.run), u = std::ldexp(1.0, -24);
  const double run = inside(static_cast<double>(std::min<std::int64_t>(k, rule.run)));
  // Carried: in each run a rest below u |sum| is one more term, which may be cut and may cut others; a Fast2Sum may be
  // off by a rounding of the run; half a unit is what is added for cuts on average.
  const double outside = rule.carried ? cut + run * runs * u + 1 + 0.5 : (runs - 1) / (1 - runs * u);
  const double corrections = std::ldexp(inside(rule.corrections * rule.run * runs), -rule.log2_correction);
  const double unproved_elements = static_cast<double>(k) / 8;
  return rule.growth * (rule.parts + run + outside + corrections) + unproved_elements;
}

bool split_keeps_fp32(std::int64_t k) {
  const auto promised = static_cast<double>(k);  // and 1 for the last rounding
  return split_error_bound(halfhalf_bound, k) <= promised && split_error_bound(bf16x6_bound, k) <= promised &&
         split_error_bound(bf16x6_short_bound, k) <= promised;
}

}  // namespace vernier
