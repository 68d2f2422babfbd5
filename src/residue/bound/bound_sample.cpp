#include "residue/bound/bound_sample.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "residue/backend.hpp"
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
BoundSampledVectors<T> bound_sampled_vectors(int side, const Operand<T>& x, int threads) {
  BoundSampledVectors<T> out{std::vector<T>(static_cast<std::size_t>(bound_sampled * x.k)), {}};
  const SchemeBackend<T>& backend = best_backend<T>();
  const Operand<T> all{out.elements.data(), bound_sampled, x.k, x.k, true};
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int t = 0; t < bound_sampled; ++t) {
    const FloatingEnvironment environment;
    const T* from = x.at(bound_sampled_vector(side, t, x.vectors), 0);
    T* to = out.elements.data() + t * x.k;
    for (std::int64_t l = 0; l < x.k; ++l) to[l] = from[l * x.k_stride()];
    backend.statistics(all, t, 1, &out.statistics[static_cast<std::size_t>(t)]);
  }
  return out;
}

namespace {

// take(row, columns, e): entries e .. e + lanes - 1, of a row and columns whose elements of one k lie side by side.
template <class T, class Take>
void sample_entries(const BoundSampledVectors<T>& rows, const BoundSampledVectors<T>& columns, std::int64_t k,
                    int threads, const Take& take) {
  static_assert(bound_sampled % lanes == 0);
  std::vector<float> x(rows.elements.size()), y(columns.elements.size());  // [row][k], [k][column]
  for (int t = 0; t < bound_sampled; ++t) {
    const auto v = static_cast<std::size_t>(t);
    sample_as_floats(rows.elements.data() + t * k, k, rows.statistics[v].exponent, x.data() + t * k, 1);
    sample_as_floats(columns.elements.data() + t * k, k, columns.statistics[v].exponent, y.data() + t, bound_sampled);
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int e = 0; e < bound_sampled * bound_sampled; e += lanes) {
    const FloatingEnvironment environment;
    take(x.data() + e / bound_sampled * k, y.data() + e % bound_sampled, static_cast<std::size_t>(e));
  }
}

}  // namespace

template <class T>
BoundSample bound_sample(const BoundSampledVectors<T>& rows, const BoundSampledVectors<T>& columns, std::int64_t k,
                         std::int64_t chain, int threads) {
  BoundSample sample{};
  sample_entries(rows, columns, k, threads, [&](const float* row, const float* column, std::size_t e) {
    BoundSampleSum<lanes> sum(chain);
    for (std::int64_t l = 0; l < k; ++l) sum.add(row[l], column + l * bound_sampled);
    for (int i = 0; i < lanes; ++i) sample[e + static_cast<std::size_t>(i)] = sum.entry(i);
  });
  return sample;
}

template <class T>
BoundPartSample bound_part_sample(const BoundSampledVectors<T>& rows, const BoundSampledVectors<T>& columns,
                                  std::int64_t k, std::int64_t skip, int threads) {
  constexpr std::int64_t step = 32;
  BoundPartSample sample{};
  sample_entries(rows, columns, k, threads, [&](const float* row, const float* column, std::size_t e) {
    float sums[lanes] = {};
    for (std::int64_t begin = 0; begin < k; begin += skip * step)
      for (std::int64_t l = begin; l < std::min(k, begin + step); ++l)
        for (int i = 0; i < lanes; ++i) sums[i] += std::abs(row[l] * column[l * bound_sampled + i]);
    std::copy_n(sums, lanes, sample.data() + e);
  });
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

VERNIER_REAL_INSTANCES(bound_sampled_vectors, bound_sample, bound_part_sample)

}  // namespace vernier
