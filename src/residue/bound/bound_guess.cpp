// What a sample of entries says of scales from a product of |A| and |B|, and whether those that are there already
// serve.
#include <algorithm>

#include "residue/bound/bound_search.hpp"

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
BoundSample BoundSearch<T>::sample() const {
  return bound_sample(problem_.a, vectors_.a.statistics, problem_.b, vectors_.b.statistics, rule().chain,
                      blocking_.threads);
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
bool BoundSearch<T>::ordinary_scales_serve() {
  const ProductShape& s = plan_.shape;
  const VectorBuffers& v = vectors_;
  if (!parts_tell(v.a.statistics, s.m, skip_) || !parts_tell(v.b.statistics, s.n, skip_)) return false;
  if (rule().rms > 0) {
    const BoundSample entries = sample();
    const BoundNativeErrors native = native_errors(entries);
    const float ours = our_mean_error(entries, ordinary_steps(0, v.a.statistics, s.m, v.a.proofs),
                                      ordinary_steps(1, v.b.statistics, s.n, v.b.proofs));
    if (!(ours <= native.most_mean())) return false;
    rule_ = judging_rule(rule_, native.largest);
  }
  rule_.part = static_cast<double>(k()) / static_cast<double>(s.k);
  measure();
  return all_fine_enough(v.a.statistics, s.m, v.a.bounds, v.a.proofs) &&
         all_fine_enough(v.b.statistics, s.n, v.b.bounds, v.b.proofs);
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
  template BoundSample BoundSearch<T>::sample() const;                                                      \
  template bool BoundSearch<T>::all_fine_enough(const VectorStatistics*, std::int64_t, const BoundVectors&, \
                                                const VectorProof*, int) const;                             \
  template BoundSampleSteps BoundSearch<T>::ordinary_steps(int, const VectorStatistics*, std::int64_t,      \
                                                           const VectorProof*) const;                       \
  template bool BoundSearch<T>::ordinary_scales_serve();                                                    \
  template int BoundSearch<T>::slack() const;
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(float)

}  // namespace vernier
