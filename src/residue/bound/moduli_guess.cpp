#include "residue/bound/moduli_guess.hpp"

#include <algorithm>
#include <cmath>

#include "base/instantiate.hpp"
#include "residue/bound/bound_search.hpp"
#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {

namespace {

// Do scales by norms give the sampled vectors of a side what they need? Their steps are written.
bool fine_enough(const ScaleChooser& chooser, const BoundRule& rule, const std::vector<VectorStatistics>& vectors,
                 const std::vector<int>& needs, BoundSampleSteps& steps) {
  int largest = -unreachable, sum = 0, count = 0;  // what they lack
  for (std::size_t v = 0; v < bound_sampled; ++v) {
    steps[v] = 0;
    if (vectors[v].zero()) continue;
    const int em = chooser.ordinary_exponent(vectors[v]), lack = needs[v] - em;
    steps[v] = bound_sample_step(rule, vectors[v], em);
    if (em < chooser.exact_exponent(vectors[v])) largest = std::max(largest, lack), sum += lack, ++count;
  }
  // All vectors and partners ask for more than those of the sample, the more so the more these differ.
  return count == 0 || largest + 1 + (count * largest - sum + count / 2) / (2 * count) <= 0;
}

// Do all vectors of a side have such scales, as far as entries tell? What these lack spreads as the logarithm of a
// number of them does.
bool fine_for_all(const ScaleChooser& chooser, const SampledNeeds& needs, bool of_rows, double all_entries) {
  constexpr double margin = 1;
  double sum = 0, largest = -unreachable;
  int count = 0;
  for (std::size_t e = 0; e < needs.entries.size(); ++e) {
    const VectorStatistics *vector = &needs.rows[e / bound_sampled], *partner = &needs.columns[e % bound_sampled];
    if (!of_rows) std::swap(vector, partner);
    const int em = chooser.ordinary_exponent(*vector);
    if (needs.entries[e] == 0 || em >= chooser.exact_exponent(*vector)) continue;
    const double share = needs.entries[e] / bound_weight(needs.rule, needs.k, *partner);
    const double lack = needs.rule.unit_bits - std::log2(share) - em;
    largest = std::max(largest, lack), sum += lack, ++count;
  }
  const double mean = sum / std::max(count, 1);
  return count == 0 || mean + (largest - mean) * std::log(all_entries) / std::log(needs.entries.size()) <= -margin;
}

bool takes_all_at_once(const Blocking& b, const ProductShape& s) {
  return s.m <= b.m_block && s.n <= b.n_block && s.k <= b.k_block;
}

}  // namespace

template <class T>
ModuliGuess guess_moduli(const ResiduePlan& plan, const Operand<T>& a, const Operand<T>& b,
                         std::optional<BoundSample>& sample) {
  constexpr int most_beyond = 5;
  constexpr int product = 2;  // of all k takes on tiles, with statistics alone before it, the time of so many moduli
  const std::int64_t k = plan.shape.k, skip = bound_skip(k);
  const VectorSample<T> x = bound_sampled_vectors(0, a), y = bound_sampled_vectors(1, b);
  const std::vector<VectorStatistics> rows = statistics_of(x), columns = statistics_of(y);
  sample = bound_sample(x, rows, y, columns, plan.bound->chain, plan.printable.threads);
  const BoundNativeErrors native = native_errors(*sample);
  SampledNeeds needs{judging_rule(*plan.bound, native.largest), k, rows, columns, std::vector<double>(sample->size())};
  std::ranges::transform(*sample, needs.entries.begin(), &BoundSampleEntry::magnitude);
  ModuliGuess guess{.by_product = moduli_for(needs.log2() + 1)};
  guess.most = guess.by_product == 0 ? max_moduli : guess.by_product + product;
  needs.rule.part = static_cast<double>(bound_k(k, skip)) / static_cast<double>(k);
  if (skip > 1) needs.entries = sampled_entries(x, rows, y, columns, skip);
  const std::vector<int> row_needs = needs.of_rows(), column_needs = needs.of_columns();
  const int least = plan.ordinary.moduli, most = std::min(least + most_beyond, guess.most);
  const auto entries = static_cast<double>(plan.shape.m) * static_cast<double>(plan.shape.n);
  for (int moduli = least; moduli <= most && guess.by_norms == 0; ++moduli) {
    const ScaleChooser chooser(moduli == least ? plan.rule : with_norms_of(plan.rule, moduli, k), k);
    BoundSampleSteps row_steps, column_steps;
    if (fine_enough(chooser, *plan.bound, rows, row_needs, row_steps) &&
        fine_enough(chooser, *plan.bound, columns, column_needs, column_steps) &&
        (plan.bound->rms == 0 || our_mean_error(*sample, row_steps, column_steps) <= native.most_mean()))
      guess.by_norms = moduli;
    if (guess.by_norms == moduli)
      guess.sure = fine_for_all(chooser, needs, true, entries) && fine_for_all(chooser, needs, false, entries);
  }
  return guess;
}

std::optional<ResiduePlan> plan_by_guess(const ResiduePlan& plan, const ModuliGuess& guess) {
  const ProductShape& shape = plan.shape;
  const int moduli = guess.by_norms != 0 ? guess.by_norms : guess.by_product;
  if (moduli == 0 || !bound_may_win(plan, moduli)) return {};
  ResiduePlan with = plan;
  with.speculative.reset();
  if (guess.by_norms > plan.ordinary.moduli) {
    with.rule = with_norms_of(plan.rule, guess.by_norms, shape.k);
    set_ordinary_moduli(with, guess.by_norms);
  }
  if (!takes_all_at_once(with.ordinary, shape)) return {};
  return with;
}

VERNIER_REAL_INSTANCES(guess_moduli)

}  // namespace vernier
