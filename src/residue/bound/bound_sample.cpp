#include "residue/bound/bound_sample.hpp"

#include <vector>

#include "base/environment.hpp"
#include "residue/bound/bound_sample_host.hpp"

namespace vernier {
namespace {

// The sampled vectors as floats, [t][k], each by its exponent.
template <class T>
std::vector<float> sampled_vectors(int side, const Operand<T>& x, const VectorStatistics* statistics) {
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
  const std::vector<float> x = sampled_vectors(0, a, rows), y = sampled_vectors(1, b, columns);
  BoundSample sample{};
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int e = 0; e < bound_sampled * bound_sampled; ++e) {
    const float *row = x.data() + e / bound_sampled * a.k, *column = y.data() + e % bound_sampled * a.k;
    BoundSampleSum sum(chain);
    for (std::int64_t l = 0; l < a.k; ++l) sum.add(row[l] * column[l]);
    sample[static_cast<std::size_t>(e)] = sum.entry();
  }
  return sample;
}

BoundSampleErrors bound_sample_errors(const BoundSample& sample, const BoundSampleSides& rows,
                                      const BoundSampleSides& columns, float rows_coarser, float columns_coarser) {
  BoundSampleErrors errors;
  for (std::size_t e = 0; e < sample.size(); ++e) {
    if (sample[e].magnitude == 0) continue;
    errors.add(bound_sample_error(sample[e], rows[e / bound_sampled], columns[e % bound_sampled], rows_coarser,
                                  columns_coarser),
               sample[e].native);
  }
  return errors;
}

int bound_slack_bits(const BoundRule& rule, const BoundSample& sample, const BoundSampleSides& rows,
                     const BoundSampleSides& columns, int allowed) {
  const auto accepted = [&](int bits) {
    const float rows_coarser = std::exp2(static_cast<float>(rows_slack(bits))),
                columns_coarser = std::exp2(static_cast<float>(columns_slack(bits)));
    return bound_sample_errors(sample, rows, columns, rows_coarser, columns_coarser)
        .ours_are_smaller(bound_largest_error(rule, rows_coarser, columns_coarser));
  };
  int bits = 0;
  while (bits < allowed && accepted(bits + 1)) ++bits;
  return bits;
}

template BoundSample bound_sample(const Operand<double>&, const VectorStatistics*, const Operand<double>&,
                                  const VectorStatistics*, std::int64_t, int);
template BoundSample bound_sample(const Operand<float>&, const VectorStatistics*, const Operand<float>&,
                                  const VectorStatistics*, std::int64_t, int);

}  // namespace vernier
