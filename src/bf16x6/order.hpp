// The products of bf16 parts as a row for the model of engines: what the kernel on tiles computes, bit for bit.
#pragma once

#include "vernier/split.hpp"

namespace vernier {

// One group of k; a chunk is a run. Elements are taken as they are: scaling leaves no trace where nothing is flushed.
split::Scheme bf16x6_order();

}  // namespace vernier
