#include "residue/bound/bound_sample.hpp"

#include <algorithm>
#include <vector>

#include "residue/bound/bound_sample_host.hpp"
#include "residue/bound/bound_search.hpp"

namespace vernier {
namespace {

// The sampled vectors as floats, [t][k], each by its exponent.
template <class T>
std::vector<float> sample_as_floats(int side, const Operand<T>& x, const VectorStatistics* statistics) {
  std::vector<float> out(static_cast<std::size_t>(bound_sampled * x.k));
  for (int t = 0; t < bound_sampled; ++t) {
    const std::int64_t v = bound_sampled_vector(side, t, x.vectors);
    float* to = out.data() + t * x.k;
    for (std::int64_t l = 0; l < x.k; ++l) {
      const auto element = static_cast<double>(*x.at(v, l));
      to[l] = std::isfinite(element) ? static_cast<float>(std::ldexp(element, -statistics[v].exponent)) : 0;
    }
  }
  return out;
}

}  // namespace

template <class T>
BoundSample bound_sample(const Operand<T>& a, const VectorStatistics* rows, const Operand<T>& b,
                         const VectorStatistics* columns, std::int64_t chain, int threads) {
  const std::vector<float> x = sample_as_floats(0, a, rows), y = sample_as_floats(1, b, columns);
  BoundSample sample{};
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int e = 0; e < bound_sampled * bound_sampled; ++e) {
    const float *row = x.data() + e / bound_sampled * a.k, *column = y.data() + e % bound_sampled * a.k;
    BoundSampleSum sum(chain);
    for (std::int64_t l = 0; l < a.k; ++l) sum.add(row[l], column[l]);
    sample[static_cast<std::size_t>(e)] = sum.entry();
  }
  return sample;
}

BoundNativeErrors native_errors(const BoundSample& sample) {
  BoundNativeErrors all;
  for (std::size_t v = 0; v < bound_sampled; ++v) {  // a row, and a column
    float sum[2] = {}, count[2] = {};
    for (std::size_t w = 0; w < bound_sampled; ++w) {
      const BoundSampleEntry* of[2] = {&sample[v * bound_sampled + w], &sample[w * bound_sampled + v]};
      for (const int side : {0, 1}) {
        if (of[side]->magnitude == 0) continue;
        sum[side] += of[side]->native;
        count[side] += 1;
      }
      all.largest = std::max(all.largest, of[0]->native);
    }
    all.rows.add(sum[0], count[0]);
    all.columns.add(sum[1], count[1]);
    all.sum += sum[0];
    all.count += count[0];
  }
  return all;
}

float our_mean_error(const BoundSample& sample, const BoundSampleSteps& rows, const BoundSampleSteps& columns,
                     float rows_coarser, float columns_coarser) {
  float sum = 0, count = 0;
  for (std::size_t e = 0; e < sample.size(); ++e) {
    if (sample[e].magnitude == 0) continue;
    sum += bound_sample_error(sample[e], rows[e / bound_sampled] * rows_coarser,
                              columns[e % bound_sampled] * columns_coarser);
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

int bound_slack_bits(const BoundRule& rule, const BoundSample& sample, const BoundSampleSteps& rows,
                     const BoundSampleSteps& columns, int allowed) {
  const BoundNativeErrors native = native_errors(sample);
  const auto accepted = [&](int bits) {
    const float rows_coarser = std::exp2(static_cast<float>(rows_slack(bits))),
                columns_coarser = std::exp2(static_cast<float>(columns_slack(bits)));
    return our_mean_error(sample, rows, columns, rows_coarser, columns_coarser) <= native.most_mean() &&
           bound_largest_error(rule, rows_coarser, columns_coarser) <= native.most_of_any();
  };
  int bits = 0;
  while (bits < allowed && accepted(bits + 1)) ++bits;
  return bits;
}

template BoundSample bound_sample(const Operand<double>&, const VectorStatistics*, const Operand<double>&,
                                  const VectorStatistics*, std::int64_t, int);
template BoundSample bound_sample(const Operand<float>&, const VectorStatistics*, const Operand<float>&,
                                  const VectorStatistics*, std::int64_t, int);

// What a sample of entries says of scales from a product of |A| and |B|, and whether those that are there already
// serve.

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
