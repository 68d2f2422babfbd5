// The sample of entries (bound_sample.hpp) on a CPU.
#pragma once

#include <array>

#include "product/operand.hpp"
#include "residue/bound/bound_sample.hpp"

namespace vernier {

using BoundSample = std::array<BoundSampleEntry, bound_sampled * bound_sampled>;  // row by row
using BoundSampleSides = std::array<BoundSampleSide, bound_sampled>;

// chain: products that the native product adds before it adds their sums.
template <class T>
BoundSample bound_sample(const Operand<T>& a, const VectorStatistics* rows, const Operand<T>& b,
                         const VectorStatistics* columns, std::int64_t chain, int threads);

// Errors of both products, ours with scales that are coarser by these factors.
BoundSampleErrors bound_sample_errors(const BoundSample& sample, const BoundSampleSides& rows,
                                      const BoundSampleSides& columns, float rows_coarser = 1,
                                      float columns_coarser = 1);

// The most bits, up to `allowed`, by which scales may be coarser with smaller errors than the native product's.
int bound_slack_bits(const BoundRule& rule, const BoundSample& sample, const BoundSampleSides& rows,
                     const BoundSampleSides& columns, int allowed);

}  // namespace vernier
