#include "residue/bound/moduli_guess.hpp"

#include <algorithm>
#include <cmath>

#include "base/instantiate.hpp"
#include "residue/bound/bound_search.hpp"
#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {

namespace {

// What scales by norms lack for one of so many entries, about: by the sampled ones, as the largest is above the mean as
// the logarithm of their number.
double lack_of(const ScaleChooser& chooser, const SampledNeeds& needs, double entries) {
  double lack = -unreachable;
  for (const bool of_rows : {true, false}) {
    double sum = 0, largest = -unreachable;
    int count = 0;
    for (std::size_t e = 0; e < needs.entries.size(); ++e) {
      const VectorStatistics *vector = &needs.rows[e / bound_sampled], *partner = &needs.columns[e % bound_sampled];
      if (!of_rows) std::swap(vector, partner);
      const int em = chooser.ordinary_exponent(*vector);
      if (needs.entries[e] == 0 || em >= chooser.exact_exponent(*vector)) continue;
      const double share = needs.entries[e] / bound_weight(needs.rule, needs.k, *partner);
      const double entry = needs.rule.unit_bits - std::log2(share) - em;
      largest = std::max(largest, entry), sum += entry, ++count;
    }
    const double mean = count > 0 ? sum / count : largest;
    lack = std::max(lack, mean + (largest - mean) * std::log(entries) / std::log(needs.entries.size()));
  }
  return lack;
}

BoundSampleSteps steps_of(const ScaleChooser& chooser, const BoundRule& rule,
                          const std::vector<VectorStatistics>& vectors) {
  BoundSampleSteps steps{};
  for (std::size_t v = 0; v < bound_sampled; ++v)
    if (!vectors[v].zero()) steps[v] = bound_sample_step(rule, vectors[v], chooser.ordinary_exponent(vectors[v]));
  return steps;
}

// The first and the last vectors, among which triangles and graded data have their extremes.
template <class T>
VectorSample<T> outermost_vectors(const Operand<T>& x) {
  std::vector<std::int64_t> chosen;
  for (std::int64_t t = 0; t < bound_sampled / 2; ++t)
    chosen.insert(chosen.end(), {std::min(t, x.vectors - 1), std::max<std::int64_t>(x.vectors - 1 - t, 0)});
  return sample(x, chosen);
}

bool takes_all_at_once(const Blocking& b, const ProductShape& s) {
  return s.m <= b.m_block && s.n <= b.n_block && s.k <= b.k_block;
}

}  // namespace

template <class T>
ModuliGuess guess_moduli(const ResiduePlan& plan, const Operand<T>& a, const Operand<T>& b,
                         std::optional<BoundSample>& sample) {
  constexpr int most_beyond = 5;
  // Bits that all entries may seem to lack if a part of k is to tell, and that those in corners may lack beyond others.
  constexpr double margin = 1, hopeless = 11, corner = 4;
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
  const VectorSample<T> u = outermost_vectors(a), w = outermost_vectors(b);
  const std::vector<VectorStatistics> outer_rows = statistics_of(u), outer_columns = statistics_of(w);
  const SampledNeeds outer{needs.rule, k, outer_rows, outer_columns,
                           sampled_entries(u, outer_rows, w, outer_columns, skip)};
  const int least = plan.ordinary.moduli, most = std::min(least + most_beyond, guess.most);
  const auto entries = static_cast<double>(plan.shape.m) * static_cast<double>(plan.shape.n),
             sampled = static_cast<double>(sample->size());
  for (int moduli = least; moduli <= most && guess.by_norms == 0; ++moduli) {
    const ScaleChooser chooser(moduli == least ? plan.rule : with_norms_of(plan.rule, moduli, k), k);
    const double seen = lack_of(chooser, needs, sampled), outside = lack_of(chooser, outer, sampled),
                 all = lack_of(chooser, needs, entries);
    if (seen > -margin || all > hopeless || outside > seen + corner ||
        (plan.bound->rms != 0 && our_mean_error(*sample, steps_of(chooser, *plan.bound, rows),
                                                steps_of(chooser, *plan.bound, columns)) > native.most_mean()))
      continue;
    guess.by_norms = moduli;
    guess.sure = all <= -margin;
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
