// What a device decided about a product, as a report.
#include <cstring>

#include "product/arguments.hpp"
#include "product/plan/method.hpp"
#include "product/route.hpp"
#include "residue/residues.hpp"
#include "split/schemes.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {
namespace {

void complete_split(Report& report, const std::string& made) {
  Plan& plan = report.plan;
  plan.reason = made + " was made: " + plan.reason;
  report.fallback = made == "conventional";
  if (report.fallback) describe_native(plan, "conventional");
}

}  // namespace

void complete_report(Report& report, const Outcome& outcome) {
  static_assert(sizeof(Outcome::words) > split_outcome_word * sizeof(std::int32_t));
  if (const auto verdict = static_cast<std::uint32_t>(outcome.words[split_outcome_word]); verdict != 0)
    return complete_split(report, split_made(verdict));
  DeviceRoute route{};
  std::memcpy(&route, outcome.words, sizeof route);
  if (route.irregular == 0) return;
  Plan& plan = report.plan;
  if (route.unmet != 0) fail_beyond_scheme(plan.contract, route.span[0], route.span[1]);
  report.span_a = route.span[0];
  report.span_b = route.span[1];
  report.nonfinite_rows = route.nonfinite[0];
  report.nonfinite_columns = route.nonfinite[1];
  const int moduli = route.guessed != 0 ? route.guessed : route.ordinary != 0 ? route.ordinary : route.wide;
  report.fallback = route.native != 0 || moduli == 0;
  if (report.fallback) return describe_native(plan, "conventional");
  plan.moduli = moduli;
  plan.log2_modulus_product = log2_product_of_moduli(plan.moduli);
  report.wide_moduli = route.wide;
  report.bounded = route.guessed != 0 || (route.wide != 0 && route.any_wide == 0);
  report.wide_rows = route.wide_vectors[0];
  report.wide_columns = route.wide_vectors[1];
}

}  // namespace vernier::cuda
