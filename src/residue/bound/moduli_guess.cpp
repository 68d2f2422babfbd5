#include "residue/bound/moduli_guess.hpp"

#include <algorithm>
#include <cmath>

#include "base/instantiate.hpp"
#include "engine/bound/bound_engine.hpp"
#include "residue/bound/bound_search.hpp"
#include "residue/plan/cost.hpp"
#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {

namespace {

// What a sample tells of such scales.
struct SampledNeeds {
  using Needs = std::array<int, bound_sampled>;  // of the vectors of a side; 0 of zero vectors

  const BoundRule& bound;
  std::int64_t k;
  const BoundSample& sample;
  const VectorStatistics* vectors[2];
  BoundNativeErrors native = native_errors(sample);

  // By the entries in a part of k, `part` of all.
  Needs needs_of(int side, const BoundPartSample& entries, double part) const {
    BoundRule rule = judging_rule(bound, native.largest);
    rule.part = part;
    const int unit = bound_product(k, false).unit;  // shares may lie below the range of float
    Needs needs{};
    for (std::size_t v = 0; v < bound_sampled; ++v) {
      if (vectors[side][v].zero()) continue;
      float least = bound_no_partner;
      for (std::size_t w = 0; w < bound_sampled; ++w)
        if (const float entry = entries[side == 0 ? v * bound_sampled + w : w * bound_sampled + v]; entry > 0)
          least = std::min(least,
                           static_cast<float>(std::ldexp(entry / bound_weight(rule, k, vectors[1 - side][w]), unit)));
      needs[v] = bound_exponent(rule, {.unit = unit}, k, vectors[side][v], least);
    }
    return needs;
  }

  // Do scales by norms of so many moduli give what is needed, with errors that are small enough?
  bool serve(const ScaleChooser& chooser, const Needs (&needs)[2]) const {
    BoundSampleSteps steps[2] = {};
    for (const int side : {0, 1}) {
      int largest = -unreachable, sum = 0, count = 0;  // what they lack
      for (std::size_t v = 0; v < bound_sampled; ++v) {
        const VectorStatistics& s = vectors[side][v];
        if (s.zero()) continue;
        const int em = chooser.ordinary_exponent(s);
        steps[side][v] = bound_sample_step(bound, s, em);
        if (em >= chooser.exact_exponent(s)) continue;
        const int lack = needs[side][v] - em;
        largest = std::max(largest, lack), sum += lack, ++count;
      }
      // All vectors and partners ask for more than those of the sample, the more so the more these differ.
      if (count > 0 && largest + 1 + (count * largest - sum + count / 2) / (2 * count) > 0) return false;
    }
    return bound.rms == 0 || our_mean_error(sample, steps[0], steps[1]) <= native.most_mean();
  }

  int moduli_by_norms(const ScalingRule& rule, double part, const BoundPartSample& entries, int least) const {
    constexpr int most_beyond = 5;
    const Needs needs[2] = {needs_of(0, entries, part), needs_of(1, entries, part)};
    for (int moduli = least; moduli <= least + most_beyond; ++moduli)
      if (serve({moduli == least ? rule : with_norms_of(rule, moduli, k), k}, needs)) return moduli;
    return 0;
  }

  int moduli_by_product() const {
    BoundPartSample entries;
    std::ranges::transform(sample, entries.begin(), &BoundSampleEntry::magnitude);
    const Needs rows = needs_of(0, entries, 1), columns = needs_of(1, entries, 1);
    double log2 = 0;
    for (std::size_t e = 0; e < entries.size(); ++e)
      if (entries[e] > 0)
        log2 = std::max(
            log2, rows[e / bound_sampled] + columns[e % bound_sampled] + std::log2(static_cast<double>(entries[e])));
    return moduli_for(log2 + 1);
  }
};

bool takes_all_at_once(const Blocking& b, const ProductShape& s) {
  return s.m <= b.m_block && s.n <= b.n_block && s.k <= b.k_block;
}

}  // namespace

template <class T>
ModuliGuess guess_moduli(const ResiduePlan& plan, const Operand<T>& a, const Operand<T>& b,
                         std::optional<BoundSample>& sample) {
  constexpr int product = 2;  // of all k takes on tiles, with statistics alone before it, the time of so many moduli
  const std::int64_t k = plan.shape.k, skip = bound_skip(k);
  const int threads = plan.printable.threads;
  const auto rows = bound_sampled_vectors(0, a, threads), columns = bound_sampled_vectors(1, b, threads);
  sample = bound_sample(rows, columns, k, plan.bound->chain, threads);
  const SampledNeeds needs{*plan.bound, k, *sample, {rows.statistics.data(), columns.statistics.data()}};
  const int by_product = needs.moduli_by_product();
  const double part = static_cast<double>(bound_k(k, skip)) / static_cast<double>(k);
  const int moduli =
      needs.moduli_by_norms(plan.rule, part, bound_part_sample(rows, columns, k, skip, threads), plan.ordinary.moduli);
  const int worth = by_product == 0 ? max_moduli : by_product + product;
  return {.by_norms = moduli <= worth ? moduli : 0, .by_product = by_product, .most = worth};
}

std::optional<ResiduePlan> plan_by_guess(const ResiduePlan& plan, const ModuliGuess& guess) {
  const ProductShape& shape = plan.shape;
  const int threads = plan.printable.threads, moduli = guess.by_norms != 0 ? guess.by_norms : guess.by_product;
  if (moduli == 0 ||
      (plan.native == NativeUse::for_speed && bound_seconds(shape, bound_tiles() != nullptr, threads) +
                                                      residue_seconds(plan.engine->name(), shape, moduli, threads) >
                                                  native_seconds(shape, plan.single_precision, threads)))
    return {};
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
