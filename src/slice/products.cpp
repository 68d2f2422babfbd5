#include "slice/products.hpp"

#include <algorithm>

namespace vernier {

SliceProducts plan_slice_products(const SliceCounts& counts) {
  const auto [in_a, in_b] = counts.slices;
  const int most_weight = counts.fast ? std::max(in_a, in_b) - 1 : in_a + in_b - 2;
  SliceProducts plan;
  for (std::int64_t l = 0; l < counts.k; l += counts.k_block)
    for (int p = 0; p < in_a; ++p)
      for (int q = 0; q <= std::min(in_b - 1, most_weight - p); ++q) {
        if (q % counts.neighbours != 0)
          ++plan.jobs.back().count;
        else
          plan.jobs.push_back({p, q, 1, l, plan.count});
        plan.terms.push_back({plan.count++, p, q});
      }
  std::stable_sort(plan.terms.begin(), plan.terms.end(), [&](const SliceTerm& x, const SliceTerm& y) {
    if (counts.any_order) return x.p != y.p ? x.p < y.p : x.q < y.q;
    return x.p + x.q != y.p + y.q ? x.p + x.q > y.p + y.q : x.p < y.p;
  });
  return plan;
}

}  // namespace vernier
