// Products of bf16 parts as the model of engines sees them: their bound, theorem 10 of docs/accuracy.md, and their
// order.
#pragma once

#include <cstdint>

#include "vernier/model.hpp"
#include "vernier/split.hpp"

namespace vernier {

// The c in |T - AB| <= c u32 |A||B| + u32 |T|, for an engine that adds chains of fused multiply-adds from zero, their
// sums, and the accumulator last, all to nearest; infinite for any other.
double bf16x6_error_bound(const model::Engine& engine, std::int64_t k);

// Is it the k + 1 of contract fp32?
bool bf16x6_keeps_fp32(const model::Engine& engine, std::int64_t k);

// One group of k; a chunk is a run. Elements are taken as they are: scaling leaves no trace where nothing is flushed.
split::Scheme bf16x6_order();

}  // namespace vernier
