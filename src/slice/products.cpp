#include "slice/products.hpp"

#include <algorithm>

namespace vernier {
namespace {

class Planner {
 public:
  explicit Planner(const SliceCounts& counts)
      : counts_(counts),
        in_{static_cast<int>(counts.zero.a.size()), static_cast<int>(counts.zero.b.size())},
        most_weight_(counts.fast ? std::max(in_.a, in_.b) - 1 : in_.a + in_.b - 2) {}

  SliceProducts plan() {
    for (int p = 0; p < in_.a; ++p) plan_.products += std::max(0, last_q(p) + 1);
    counts_.grouped ? groups() : batches();
    return std::move(plan_);
  }

 private:
  int last_q(int p) const { return std::min(in_.b - 1, most_weight_ - p); }

  bool skipped(int p, int q) {
    const bool empty = counts_.zero.a[static_cast<std::size_t>(p)] || counts_.zero.b[static_cast<std::size_t>(q)];
    plan_.skipped += empty;
    return empty;
  }

  SliceJob::Few few(int p, int q) const {
    const auto has = [](const std::vector<bool>& few, int i) {
      return !few.empty() && few[static_cast<std::size_t>(i)];
    };
    return has(counts_.few.a, p) ? SliceJob::Few::a : has(counts_.few.b, q) ? SliceJob::Few::b : SliceJob::Few::none;
  }

  void batches() {
    for (std::int64_t l = 0; l < counts_.k; l += counts_.k_block)
      for (int p = 0; p < in_.a; ++p)
        for (int q = 0; q <= last_q(p); ++q) {
          if (skipped(p, q)) continue;
          const SliceJob* last = plan_.jobs.empty() ? nullptr : &plan_.jobs.back();
          const SliceJob::Few kind = few(p, q);
          const bool joins = last != nullptr && last->p == p && last->l == l && last->q + last->count == q &&
                             q % counts_.neighbours != 0 && kind == SliceJob::Few::none && last->few == kind;
          if (joins)
            ++plan_.jobs.back().count;
          else
            plan_.jobs.push_back({p, q, 1, l, plan_.count, false, kind});
          plan_.terms.push_back({plan_.count++, p, q});
        }
    std::stable_sort(plan_.terms.begin(), plan_.terms.end(), [this](const SliceTerm& x, const SliceTerm& y) {
      if (counts_.any_order) return x.p != y.p ? x.p < y.p : x.q < y.q;
      return x.p + x.q != y.p + y.q ? x.p + x.q > y.p + y.q : x.p < y.p;
    });
  }

  void groups() {
    for (int weight = most_weight_; weight >= 0; --weight)
      for (std::int64_t l = 0; l < counts_.k; l += counts_.k_block) {
        bool any = false;
        for (int p = std::max(0, weight - in_.b + 1); p <= std::min(weight, in_.a - 1); ++p) {
          if (skipped(p, weight - p)) continue;
          if (!any) plan_.terms.push_back({plan_.count, p, weight - p});
          plan_.jobs.push_back({p, weight - p, 1, l, plan_.count, any, few(p, weight - p)});
          any = true;
        }
        if (any) ++plan_.count;
      }
  }

  const SliceCounts& counts_;
  Sides<int> in_;
  int most_weight_;
  SliceProducts plan_;
};

}  // namespace

SliceProducts plan_slice_products(const SliceCounts& counts) { return Planner(counts).plan(); }

bool sparse_pays(double m, double n, double k, double digits, double others, const SliceRates& rates) {
  constexpr double chain = 10e-6, stored = 1e12;  // one H200: a warp's way to its last digit, elements written a second
  const double few = chain + m * n / stored + digits * others / rates.few, all = 2 * m * n * k / rates.engine;
  return few < 0.75 * all;
}

}  // namespace vernier
