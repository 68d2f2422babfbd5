#include "residue/bound/bound_sample.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "residue/bound/bound_sample_host.hpp"

namespace vernier {
namespace {

constexpr int lanes = 8;  // columns at a time, as compilers turn them into vectors

// As floats by the exponent of the largest element: element l at out[l * stride].
template <class T>
void sample_as_floats(const T* x, std::int64_t k, int exponent, float* out, std::int64_t stride) {
  const double first = std::ldexp(1.0, -exponent / 2), second = std::ldexp(1.0, -exponent - -exponent / 2);
  for (std::int64_t l = 0; l < k; ++l) {
    const auto element = static_cast<double>(x[l]);
    out[l * stride] = std::abs(element) < INFINITY ? static_cast<float>(element * first * second) : 0;
  }
}

}  // namespace

template <class T>
BoundSample bound_sample(const VectorSample<T>& a, const std::vector<VectorStatistics>& rows, const VectorSample<T>& b,
                         const std::vector<VectorStatistics>& columns, std::int64_t chain, int threads) {
  static_assert(bound_sampled % lanes == 0);
  const std::int64_t k = a.k;
  std::vector<float> x(a.elements.size()), y(b.elements.size());  // [row][k], [k][column]
  for (int t = 0; t < bound_sampled; ++t) {
    const auto v = static_cast<std::size_t>(t);
    sample_as_floats(a.elements.data() + t * k, k, rows[v].exponent, x.data() + t * k, 1);
    sample_as_floats(b.elements.data() + t * k, k, columns[v].exponent, y.data() + t, bound_sampled);
  }
  BoundSample sample{};
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int e = 0; e < bound_sampled * bound_sampled; e += lanes) {
    const FloatingEnvironment environment;
    const float *row = x.data() + e / bound_sampled * k, *column = y.data() + e % bound_sampled;
    BoundSampleSum<lanes> sum(chain);
    for (std::int64_t l = 0; l < k; ++l) sum.add(row[l], column + l * bound_sampled);
    for (int i = 0; i < lanes; ++i) sample[static_cast<std::size_t>(e + i)] = sum.entry(i);
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
