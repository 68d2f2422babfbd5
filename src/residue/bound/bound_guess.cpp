// What a sample of entries says of scales from a product of |A| and |B|, and whether those that are there already
// serve.
#include <algorithm>

#include "residue/bound/bound_search.hpp"
#include "residue/bound/moduli_guess.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {

template <class T>
BoundSampleSteps BoundSearch<T>::sampled_steps(int side, const VectorStatistics* statistics, std::int64_t count,
                                               const BoundVectors& bounds) const {
  BoundSampleSteps steps;
  for (int t = 0; t < bound_sampled; ++t) {
    const std::int64_t v = bound_sampled_vector(side, t, count);
    const int em = bound_exponent(rule(), product_, plan_.shape.k, statistics[v], bounds.minima[v]);
    steps[static_cast<std::size_t>(t)] = bound_sample_step(rule(), statistics[v], em);
  }
  return steps;
}

template <class T>
const BoundSample& BoundSearch<T>::sample() const {
  if (!sample_) guess_moduli(plan_, problem_.a, problem_.b, sample_);
  return *sample_;
}

template <class T>
std::optional<Scaling> BoundSearch<T>::scale_by_norms(int most) {
  const std::int64_t k = plan_.shape.k;
  const BoundNativeErrors native = native_errors(sample());
  rule_ = judging_rule(rule_, native.largest);
  rule_.part = static_cast<double>(this->k()) / static_cast<double>(k);
  measure();
  for (int moduli = plan_.ordinary.moduli; moduli <= most; ++moduli) {
    const bool ordinary = moduli == plan_.ordinary.moduli;
    const ScaleChooser chooser(ordinary ? plan_.rule : with_norms_of(plan_.rule, moduli, k), k);
    Scaling scaling{.any_ordinary = false, .any_wide = true, .wide_log2 = log2_bound_of(moduli)};
    BoundSampleSteps steps[2];
    bool fine = true;
    for (const int side : {0, 1}) {
      const SideVectors& x = side == 0 ? vectors_.a : vectors_.b;
      for (std::int64_t i = 0; fine && i < x.count; ++i) {
        const VectorStatistics& v = x.statistics[i];
        if (v.zero()) continue;
        const int em = chooser.ordinary_exponent(v);
        x.proofs[i].wide = em - v.exponent;
        scaling.wide_exponent = std::max(scaling.wide_exponent, em);
        fine = !v.nonfinite && em >= bound_exponent(rule(), product_, k, v, x.bounds.minima[i]);
      }
      for (int t = 0; t < bound_sampled; ++t) {
        const VectorStatistics& v = x.statistics[bound_sampled_vector(side, t, x.count)];
        steps[side][static_cast<std::size_t>(t)] =
            bound_sample_step(rule(), v, v.zero() ? 0 : chooser.ordinary_exponent(v));
      }
    }
    if (fine && (rule().rms == 0 || our_mean_error(sample(), steps[0], steps[1]) <= native.most_mean()))
      return ordinary ? Scaling{} : scaling;
  }
  return {};
}

// Bits by which the scales that the minima ask for may be coarser.
template <class T>
int BoundSearch<T>::slack() const {
  const ProductShape& s = plan_.shape;
  const VectorBuffers& v = vectors_;
  const auto least = [&](const VectorStatistics* statistics, std::int64_t count) {
    int bits = most_bound_slack;
    for (std::int64_t i = 0; i < count; ++i)
      if (!statistics[i].zero()) bits = std::min(bits, bound_slack(rule(), s.k, statistics[i]));
    return bits;
  };
  const int allowed = allowed_slack(least(v.b.statistics, s.n), least(v.a.statistics, s.m));
  if (rule().rms == 0 || allowed == 0) return 0;
  return bound_slack_bits(rule(), sample(), sampled_steps(0, v.a.statistics, s.m, v.a.bounds),
                          sampled_steps(1, v.b.statistics, s.n, v.b.bounds), allowed);
}

// bound_search.cpp instantiates the members that it defines.
#define VERNIER_INSTANTIATE(T)                                                                        \
  template BoundSampleSteps BoundSearch<T>::sampled_steps(int, const VectorStatistics*, std::int64_t, \
                                                          const BoundVectors&) const;                 \
  template const BoundSample& BoundSearch<T>::sample() const;                                         \
  template std::optional<Scaling> BoundSearch<T>::scale_by_norms(int);                                \
  template int BoundSearch<T>::slack() const;
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(float)

}  // namespace vernier
