// What a sample of entries says of scales from a product of |A| and |B|, and whether those that are there already
// serve.
#include <algorithm>

#include "residue/bound/bound_search.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {

namespace {

// Is every vector made up of so many elements, ||x||_1^2 / ||x||_2^2, that one of `skip` parts of k has a fair share of
// them? By parts of vectors of few large elements, sparse ones and Gaussian kernels, the judge failed in vain.
bool parts_tell(const VectorStatistics* statistics, std::int64_t count, std::int64_t skip) {
  constexpr double least_elements = 64;
  return std::all_of(statistics, statistics + count, [&](const VectorStatistics& v) {
    const auto sum = static_cast<double>(v.sum);
    return sum * sum >= least_elements * static_cast<double>(skip) * static_cast<double>(v.squares);
  });
}

}  // namespace

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
  if (!sample_) sample_ = bound_sample_of(problem_.a, problem_.b, rule().chain, blocking_.threads);
  return *sample_;
}

template <class T>
bool BoundSearch<T>::all_fine_enough(const VectorStatistics* statistics, std::int64_t count, const BoundVectors& bounds,
                                     const VectorProof* scales, int slack) const {
  for (std::int64_t i = 0; i < count; ++i) {
    const VectorStatistics& s = statistics[i];
    if (s.zero()) continue;
    if (s.nonfinite ||
        scales[i].ordinary + s.exponent < bound_exponent(rule(), product_, plan_.shape.k, s, bounds.minima[i], slack))
      return false;
  }
  return true;
}

template <class T>
BoundSampleSteps BoundSearch<T>::ordinary_steps(int side, const VectorStatistics* statistics, std::int64_t count,
                                                const VectorProof* scales) const {
  BoundSampleSteps steps;
  for (int t = 0; t < bound_sampled; ++t) {
    const std::int64_t v = bound_sampled_vector(side, t, count);
    steps[static_cast<std::size_t>(t)] =
        bound_sample_step(rule(), statistics[v], scales[v].ordinary + statistics[v].exponent);
  }
  return steps;
}

template <class T>
std::optional<Scaling> BoundSearch<T>::scale_by_norms(bool guessed, int most) {
  const ProductShape& s = plan_.shape;
  const VectorBuffers& v = vectors_;
  if (!guessed && (!parts_tell(v.a.statistics, s.m, skip_) || !parts_tell(v.b.statistics, s.n, skip_))) return {};
  if (rule().rms > 0) {
    const BoundSample& entries = sample();
    const BoundNativeErrors native = native_errors(entries);
    const float ours = our_mean_error(entries, ordinary_steps(0, v.a.statistics, s.m, v.a.proofs),
                                      ordinary_steps(1, v.b.statistics, s.n, v.b.proofs));
    if (!(ours <= native.most_mean())) return {};
    rule_ = judging_rule(rule_, native.largest);
  }
  rule_.part = static_cast<double>(k()) / static_cast<double>(s.k);
  measure();
  if (all_fine_enough(v.a.statistics, s.m, v.a.bounds, v.a.proofs) &&
      all_fine_enough(v.b.statistics, s.n, v.b.bounds, v.b.proofs))
    return Scaling{};
  for (int moduli = plan_.ordinary.moduli + 1; moduli <= most; ++moduli) {
    const ScaleChooser chooser(with_norms_of(plan_.rule, moduli, s.k), s.k);
    Scaling scaling{.any_ordinary = false, .any_wide = true, .wide_log2 = log2_bound_of(moduli)};
    bool fine = true;
    for (const SideVectors* x : {&v.a, &v.b})
      for (std::int64_t i = 0; fine && i < x->count; ++i) {
        const VectorStatistics& vector = x->statistics[i];
        if (vector.zero()) continue;
        const int em = chooser.ordinary_exponent(vector);
        x->proofs[i].wide = em - vector.exponent;
        scaling.wide_exponent = std::max(scaling.wide_exponent, em);
        fine = !vector.nonfinite && em >= bound_exponent(rule(), product_, s.k, vector, x->bounds.minima[i]);
      }
    if (fine) return scaling;
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
#define VERNIER_INSTANTIATE(T)                                                                              \
  template BoundSampleSteps BoundSearch<T>::sampled_steps(int, const VectorStatistics*, std::int64_t,       \
                                                          const BoundVectors&) const;                       \
  template const BoundSample& BoundSearch<T>::sample() const;                                               \
  template bool BoundSearch<T>::all_fine_enough(const VectorStatistics*, std::int64_t, const BoundVectors&, \
                                                const VectorProof*, int) const;                             \
  template BoundSampleSteps BoundSearch<T>::ordinary_steps(int, const VectorStatistics*, std::int64_t,      \
                                                           const VectorProof*) const;                       \
  template std::optional<Scaling> BoundSearch<T>::scale_by_norms(bool, int);                                \
  template int BoundSearch<T>::slack() const;
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(float)

}  // namespace vernier
