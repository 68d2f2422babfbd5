#include "residue/scale/operand_factor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "residue/scale/vector_needs.hpp"

namespace vernier {

int choose_factor(const ScalingRule& rule, std::int64_t k, std::span<const VectorStatistics> sample) {
  const ScaleChooser chooser(rule, k);
  int best = no_factor;
  double least = 0;
  for (int m = no_factor; m <= most_factor; ++m) {
    double loss = 0;  // half a unit of each vector, against its largest element
    for (VectorStatistics v : sample) {
      if (v.zero()) continue;
      v.squares += v.squares / 25;
      const int exponent = chooser.ordinary_exponent(multiplied(v, m));
      if (exponent < chooser.exact_exponent(v)) loss += std::ldexp(1.0 / m, -exponent);
    }
    if (m == no_factor || loss < least) best = m, least = loss;
  }
  return best;
}

bool far_from_the_ends(std::span<const VectorStatistics> statistics) {
  constexpr int far = 400;
  return std::ranges::all_of(statistics, [](const VectorStatistics& v) { return std::abs(v.exponent) <= far; });
}

}  // namespace vernier
