// Kernels with a thread for each vector of both sides, and what they ask the sample.
#pragma once

#include "cuda/ptx.cuh"
#include "residue/bound/bound_kernels.hpp"

namespace vernier::cuda {

inline constexpr int bound_vector_threads = 256;

// Both sides' vectors, one behind the other, rows first.
struct VectorPlace {
  int side;
  std::int64_t vector;
  bool there;

  __device__ VectorPlace(const BoundTask& task, bool padded) {
    const auto count = [&](int s) { return padded ? bound_vectors(task.operand[s].vectors) : task.operand[s].vectors; };
    vector = static_cast<std::int64_t>(blockIdx.x) * bound_vector_threads + threadIdx.x;
    side = vector < count(0) ? 0 : 1;
    if (side == 1) vector -= count(0);
    there = vector < count(side);
  }
};

__device__ __forceinline__ float minimum_of(const BoundOperand& x, std::int64_t vector) {
  return __uint_as_float(x.bounds.side.minima[vector]);
}

__device__ __forceinline__ BoundRule rule_of(const BoundTask& task) {
  if (task.judged < 0 || task.sample.entries == nullptr) return task.rule;
  return judging_rule(task.rule, __uint_as_float(*task.sample.native_largest));
}

// Of all lanes.
__device__ __forceinline__ BoundSampleErrors over_lanes(BoundSampleErrors errors) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    errors.sum += __shfl_xor_sync(~0u, errors.sum, d);
    errors.count += __shfl_xor_sync(~0u, errors.count, d);
    errors.native_sum += __shfl_xor_sync(~0u, errors.native_sum, d);
    errors.native_squares += __shfl_xor_sync(~0u, errors.native_squares, d);
    errors.native_largest = fmaxf(errors.native_largest, __shfl_xor_sync(~0u, errors.native_largest, d));
  }
  return errors;
}

struct SharedEntries {
  BoundSampleEntry of[bound_sampled * bound_sampled];
};

// By a block.
__device__ __forceinline__ void fetch_entries(const BoundTask& task, SharedEntries& entries) {
  constexpr int words = sizeof entries.of / sizeof(float);
#pragma unroll 4
  for (int i = threadIdx.x; i < words; i += bound_vector_threads)
    reinterpret_cast<float*>(entries.of)[i] = reinterpret_cast<const float*>(task.sample.entries)[i];
}

// A warp: with the scales of a guess, is our mean error of the sample smaller than the native product's?
__device__ inline bool sample_allows_guess(const BoundTask& task, const SharedEntries& entries, int guess) {
  static_assert(bound_sampled == 32);
  const int lane = threadIdx.x % 32;
  const auto side = [&](int s) {
    const VectorStatistics v = task.operand[s].statistics[bound_sampled_vector(s, lane, task.operand[s].vectors)];
    return bound_sample_side(task.rule, v, v.zero() ? 0 : task.guesses.chooser[guess][s].ordinary_exponent(v));
  };
  const BoundSampleSide row = side(0), column = side(1);
  BoundSampleErrors errors;
#pragma unroll 8
  for (int t = 0; t < bound_sampled; ++t) {
    const BoundSampleSide r{__shfl_sync(~0u, row.step, t), __shfl_sync(~0u, row.norm, t)};
    const BoundSampleEntry e = entries.of[t * bound_sampled + lane];
    if (e.magnitude != 0) errors.add(bound_sample_error(e, r, column, 1, 1), e.native);
  }
  return over_lanes(errors).our_mean_is_smaller();
}

// Bit g: the errors of the sample are small enough with the scales of guess number g + 1. By a block.
__device__ inline unsigned allowed_guesses(const BoundTask& task) {
  static_assert(most_guesses <= bound_vector_threads / 32);
  __shared__ SharedEntries entries;
  __shared__ unsigned allowed;
  const bool sampled = task.sample.entries != nullptr && task.rule.rms > 0;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) allowed = 0;
  if (sampled) fetch_entries(task, entries);
  __syncthreads();
  if (warp < task.guesses.count) {
    const bool small = !sampled || sample_allows_guess(task, entries, warp);
    if (small && threadIdx.x % 32 == 0) atomicOr(&allowed, 1u << warp);
  }
  __syncthreads();
  return allowed;
}

}  // namespace vernier::cuda
