// Batches of real products by residues: conversions, products and recombinations of many at once.
#pragma once

#include "product/call.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

// How many products of the batch go together, at least two; 0 where they go one by one: natively, in blocks, by
// Strassen-Winograd, correctly rounded, or where no host may wait.
template <class T>
std::int64_t residue_batch_size(const StridedBatch<T>& batch, const Options& options);

// That many or fewer products, with the bits that each has alone. False, with C untouched, where some of them is not
// regular: then they go one by one.
template <class T>
bool residue_batch(const StridedBatch<T>& batch, const Options& options, Report& report);

}  // namespace vernier::cuda
