// The sample of entries (bound_sample.hpp) on a CPU.
#pragma once

#include <array>
#include <vector>

#include "product/operand.hpp"
#include "residue/bound/bound_sample.hpp"

namespace vernier {

using BoundSample = std::array<BoundSampleEntry, bound_sampled * bound_sampled>;  // row by row
using BoundSampleSteps = std::array<float, bound_sampled>;                        // bound_sample_step()

// The sampled vectors of an operand, one behind the other, and their statistics.
template <class T>
struct BoundSampledVectors {
  std::vector<T> elements;
  std::array<VectorStatistics, bound_sampled> statistics;
};
template <class T>
BoundSampledVectors<T> bound_sampled_vectors(int side, const Operand<T>& x, int threads);

// chain: products that the native product adds before it adds their sums.
template <class T>
BoundSample bound_sample(const BoundSampledVectors<T>& rows, const BoundSampledVectors<T>& columns, std::int64_t k,
                         std::int64_t chain, int threads);

// The entries of |A||B| over the steps of k that a part of the product has (BoundPart), in the same order.
using BoundPartSample = std::array<float, bound_sampled * bound_sampled>;
template <class T>
BoundPartSample bound_part_sample(const BoundSampledVectors<T>& rows, const BoundSampledVectors<T>& columns,
                                  std::int64_t k, std::int64_t skip, int threads);

template <class T>
BoundSample bound_sample_of(const Operand<T>& a, const Operand<T>& b, std::int64_t chain, int threads) {
  return bound_sample(bound_sampled_vectors(0, a, threads), bound_sampled_vectors(1, b, threads), a.k, chain, threads);
}

BoundNativeErrors native_errors(const BoundSample& sample);

// The mean of our errors.
float our_mean_error(const BoundSample& sample, const BoundSampleSteps& rows, const BoundSampleSteps& columns,
                     float rows_coarser = 1, float columns_coarser = 1);

// The most bits, up to `allowed`, by which scales may be coarser with smaller errors than the native product's.
int bound_slack_bits(const BoundRule& rule, const BoundSample& sample, const BoundSampleSteps& rows,
                     const BoundSampleSteps& columns, int allowed);

}  // namespace vernier
