// The sample of entries (bound_sample.hpp) on a CPU.
#pragma once

#include <array>
#include <vector>

#include "product/operand.hpp"
#include "residue/bound/bound_sample.hpp"
#include "residue/wide_sample.hpp"

namespace vernier {

using BoundSample = std::array<BoundSampleEntry, bound_sampled * bound_sampled>;  // row by row
using BoundSampleSteps = std::array<float, bound_sampled>;                        // bound_sample_step()

// The sampled vectors of an operand.
template <class T>
VectorSample<T> bound_sampled_vectors(int side, const Operand<T>& x) {
  std::vector<std::int64_t> chosen;
  for (int t = 0; t < bound_sampled; ++t) chosen.push_back(bound_sampled_vector(side, t, x.vectors));
  return sample(x, chosen);
}

// chain: products that the native product adds before it adds their sums.
template <class T>
BoundSample bound_sample(const VectorSample<T>& a, const std::vector<VectorStatistics>& rows, const VectorSample<T>& b,
                         const std::vector<VectorStatistics>& columns, std::int64_t chain, int threads);

BoundNativeErrors native_errors(const BoundSample& sample);

// The mean of our errors.
float our_mean_error(const BoundSample& sample, const BoundSampleSteps& rows, const BoundSampleSteps& columns,
                     float rows_coarser = 1, float columns_coarser = 1);

// The most bits, up to `allowed`, by which scales may be coarser with smaller errors than the native product's.
int bound_slack_bits(const BoundRule& rule, const BoundSample& sample, const BoundSampleSteps& rows,
                     const BoundSampleSteps& columns, int allowed);

}  // namespace vernier
