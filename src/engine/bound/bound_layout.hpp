// What the product of |A| and |B| on a GPU reads and writes of the vectors of one side
// (engine/bound/bound_engine_cuda.hpp).
#pragma once

#include <cstdint>

#include "engine/panel_cuda.hpp"

namespace vernier::cuda {

// The tensor units sum so many k, cutting what lies 13 bits below the sum; then the sum is added in float, towards
// zero. Longer sums would be lower: by a fifth where k = 8192.
inline constexpr int bound_chunk_k = 1024;
inline constexpr int bound_step_k = 32;  // of one instruction

// A part of k that tells whether a guess serves (residue/bound): every k that so many divide. At least 1024 of them are
// left, so that minima over them are near those over all; fine: a quarter, where these decide more than the sample.
constexpr int bound_k_step(std::int64_t k, bool fine) {
  int step = 1;
  while (step < (fine ? 4 : 16) && k >= 2048 * step) step *= 2;
  return step;
}

// Vectors that the kernel reads the numbers of; those beyond the matrix have shares of 1, and weights of 0.
constexpr std::int64_t bound_vectors(std::int64_t vectors) { return round_up(vectors, 128); }

// Of the vectors of one side, in device memory.
struct DeviceBoundSide {
  float* inverse_weights = nullptr;
  float* inverse_norms = nullptr;  // in the units of S: both sides together give at most 1.5
  float* zero_shares = nullptr;    // bound_zero_share
  unsigned* minima = nullptr;      // the bits of floats that are not negative, lowered
};

}  // namespace vernier::cuda
