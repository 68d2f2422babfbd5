#include "residue/bound/moduli_guess.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "engine/bound/bound_engine.hpp"
#include "residue/bound/bound_search.hpp"
#include "residue/plan/cost.hpp"
#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {

SampledNeeds::SampledNeeds(const BoundRule& bound, std::int64_t k, const BoundSample& sample,
                           const Sides<const VectorStatistics*>& sampled)
    : bound_(bound), k_(k), sample_(sample), sampled_(sampled), native_(native_errors(sample)) {}

SampledNeeds::Needs SampledNeeds::needs_of(int side, const BoundPartSample& entries, double part) const {
  BoundRule rule = judging_rule(bound_, native_.largest);
  rule.part = part;
  const int unit = bound_product(k_, false).unit;  // shares may lie below the range of float
  Needs needs{};
  for (std::size_t v = 0; v < bound_sampled; ++v) {
    if (statistics(side, v).zero()) continue;
    float least = bound_no_partner;
    for (std::size_t w = 0; w < bound_sampled; ++w)
      if (const float entry = entries[side == 0 ? v * bound_sampled + w : w * bound_sampled + v]; entry > 0)
        least = std::min(least,
                         static_cast<float>(std::ldexp(entry / bound_weight(rule, k_, statistics(1 - side, w)), unit)));
    needs[v] = bound_exponent(rule, {.unit = unit}, k_, statistics(side, v), least);
  }
  return needs;
}

int SampledNeeds::guessed_moduli(const ScalingRule& rule, double part, const BoundPartSample& entries, int least,
                                 int most) const {
  const Needs needs[] = {needs_of(0, entries, part), needs_of(1, entries, part)};
  for (int moduli = least; moduli <= most; ++moduli) {
    const ScaleChooser chooser(moduli == least ? rule : with_norms_of(rule, moduli, k_), k_);
    BoundSampleSteps steps[2] = {};
    bool fine = true;
    for (const int side : {0, 1}) {
      int largest = -unreachable, sum = 0, count = 0;  // what scales lack
      for (std::size_t v = 0; v < bound_sampled; ++v) {
        const VectorStatistics& s = statistics(side, v);
        if (s.zero()) continue;
        const int em = chooser.ordinary_exponent(s);
        steps[side][v] = bound_sample_step(bound_, s, em);
        if (em >= chooser.exact_exponent(s)) continue;
        const int lack = needs[side][v] - em;
        largest = std::max(largest, lack), sum += lack, ++count;
      }
      // All vectors and partners ask for more than those of the sample, the more so the more these differ.
      const int margin = count == 0 ? 0 : 1 + (count * largest - sum + count / 2) / (2 * count);
      fine = fine && largest + margin <= 0;
    }
    if (fine && (bound_.rms == 0 || our_mean_error(sample_, steps[0], steps[1]) <= native_.most_mean())) return moduli;
  }
  return 0;
}

int SampledNeeds::moduli_by_product(const BoundPartSample& entries) const {
  const Needs rows = needs_of(0, entries, 1), columns = needs_of(1, entries, 1);
  double log2 = 0;
  for (std::size_t e = 0; e < entries.size(); ++e)
    if (entries[e] > 0)
      log2 = std::max(
          log2, rows[e / bound_sampled] + columns[e % bound_sampled] + std::log2(static_cast<double>(entries[e])));
  return moduli_for(log2 + 1);
}

namespace {

// Times of a modulus that the product takes on tiles, and statistics alone before it.
constexpr int by_product_costs = 2;
constexpr double statistics_cost = 0.7;

double cost(const ModuliGuess& guess) {
  return guess.moduli == 0 ? 2.0 * max_moduli : guess.moduli + by_product_costs / static_cast<double>(guess.skip);
}

bool takes_all_at_once(const Blocking& b, const ProductShape& s) {
  return s.m <= b.m_block && s.n <= b.n_block && s.k <= b.k_block;
}

template <class T>
ModuliGuess guess_of(const ResiduePlan& plan, const Operand<T>& a, const Operand<T>& b, BoundSample& sample,
                     int& by_product) {
  constexpr int most_beyond = 5;
  const std::int64_t k = plan.shape.k;
  const int threads = plan.printable.threads, least = plan.ordinary.moduli;
  const auto rows = bound_sampled_vectors(0, a, threads), columns = bound_sampled_vectors(1, b, threads);
  sample = bound_sample(rows, columns, k, plan.bound->chain, threads);
  const SampledNeeds needs(*plan.bound, k, sample, {rows.statistics.data(), columns.statistics.data()});
  const BoundPartSample whole = bound_part_sample(rows, columns, k, 1, threads);
  ModuliGuess guess{.moduli = needs.guessed_moduli(plan.rule, 1, whole, least, least + most_beyond)};
  if (const std::int64_t skip = bound_skip(k); skip > 1) {
    const double share = static_cast<double>(bound_k(k, skip)) / static_cast<double>(k);
    const BoundPartSample part = bound_part_sample(rows, columns, k, skip, threads);
    const ModuliGuess by_part{needs.guessed_moduli(plan.rule, share, part, least, least + most_beyond), skip};
    if (cost(by_part) < cost(guess)) guess = by_part;
  }
  by_product = needs.moduli_by_product(whole);
  if (by_product != 0 && by_product + by_product_costs + statistics_cost < cost(guess)) guess.moduli = 0;
  guess.most = std::max(by_product + by_product_costs, guess.moduli + 1);
  return guess;
}

}  // namespace

template <class T>
std::optional<ResiduePlan> plan_by_guess(const ResiduePlan& plan, const Operand<T>& a, const Operand<T>& b,
                                         ModuliGuess& guess, std::optional<BoundSample>& sample) try {
  const ProductShape& shape = plan.shape;
  const int threads = plan.printable.threads;
  if (!takes_all_at_once(plan.ordinary, shape)) return {};
  int by_product = 0;
  guess = guess_of(plan, a, b, sample.emplace(), by_product);
  const int moduli = guess.moduli != 0 ? guess.moduli : by_product;
  if (moduli == 0 ||
      (plan.native == NativeUse::for_speed && bound_seconds(shape, bound_tiles() != nullptr, threads) +
                                                      residue_seconds(plan.engine->name(), shape, moduli, threads) >
                                                  native_seconds(shape, plan.single_precision, threads)))
    return {};
  ResiduePlan with = plan;
  with.speculative.reset();
  if (guess.moduli > plan.ordinary.moduli) {
    with.rule = with_norms_of(plan.rule, guess.moduli, shape.k);
    set_ordinary_moduli(with, guess.moduli);
    if (!takes_all_at_once(with.ordinary, shape)) return {};
  }
  return with;
} catch (const std::bad_alloc&) {
  return {};
}

template std::optional<ResiduePlan> plan_by_guess(const ResiduePlan&, const Operand<double>&, const Operand<double>&,
                                                  ModuliGuess&, std::optional<BoundSample>&);

}  // namespace vernier
