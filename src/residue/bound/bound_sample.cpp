#include "residue/bound/bound_sample.hpp"

#include <vector>

#include "base/instantiate.hpp"
#include "residue/bound/bound_sample_host.hpp"

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

VERNIER_REAL_INSTANCES(bound_sample)

}  // namespace vernier
