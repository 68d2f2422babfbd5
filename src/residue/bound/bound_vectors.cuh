// Kernels with a thread for each vector of both sides, and what they ask the sample.
#pragma once

#include "cuda/ptx.cuh"
#include "residue/bound/balance.hpp"
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
  return judging_rule(task.rule, __uint_as_float(task.sample.words->native_largest));
}

__device__ __forceinline__ float sum_over_lanes(float x) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

__device__ __forceinline__ BoundSampleMeans over_lanes(const BoundSampleMeans& means) {
  return {sum_over_lanes(means.count), sum_over_lanes(means.sum), sum_over_lanes(means.squares)};
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

// By a warp; a lane has a column, and a row's sum.
__device__ inline BoundNativeErrors native_errors(const SharedEntries& entries) {
  static_assert(bound_sampled == 32);
  const int lane = threadIdx.x % 32;
  float column = 0, column_count = 0, row = 0, row_count = 0, largest = 0;
#pragma unroll 4
  for (int t = 0; t < bound_sampled; ++t) {
    const BoundSampleEntry& e = entries.of[t * bound_sampled + lane];
    const bool there = e.magnitude != 0;
    const float native = there ? e.native : 0, sum = sum_over_lanes(native);
    const int count = __popc(__ballot_sync(~0u, there));
    if (lane == t) row = sum, row_count = static_cast<float>(count);
    column += native;
    column_count += there ? 1 : 0;
    largest = fmaxf(largest, native);
  }
  BoundNativeErrors all{.count = sum_over_lanes(column_count),
                        .sum = sum_over_lanes(column),
                        .largest = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(largest)))};
  all.rows.add(row, row_count);
  all.columns.add(column, column_count);
  all.rows = over_lanes(all.rows);
  all.columns = over_lanes(all.columns);
  return all;
}

// By a warp: the mean of our errors. Lane t has the step of row t, and that of column t.
__device__ inline float our_mean_error(const SharedEntries& entries, float row_step, float column_step) {
  const int lane = threadIdx.x % 32;
  float sum = 0, count = 0;
#pragma unroll 8
  for (int t = 0; t < bound_sampled; ++t) {
    const float step = __shfl_sync(~0u, row_step, t);
    const BoundSampleEntry& e = entries.of[t * bound_sampled + lane];
    if (e.magnitude == 0) continue;
    sum += bound_sample_error(e, step, column_step);
    count += 1;
  }
  count = sum_over_lanes(count);
  return count > 0 ? sum_over_lanes(sum) / count : 0;
}

// The same with the scales of a guess.
__device__ inline float error_of_guess(const BoundTask& task, const SharedEntries& entries, int guess) {
  const auto step = [&](int s) {
    const VectorStatistics v =
        task.operand[s].statistics[bound_sampled_vector(s, threadIdx.x % 32, task.operand[s].vectors)];
    return bound_sample_step(task.rule, v, v.zero() ? 0 : task.guesses.chooser[guess][s].ordinary_exponent(v));
  };
  return our_mean_error(entries, step(0), step(1));
}

// Bit g: the errors of the sample are small enough with the scales of guess number g + 1. By a block.
__device__ inline unsigned allowed_guesses(const BoundTask& task) {
  constexpr int warps = bound_vector_threads / 32;
  static_assert(most_guesses <= warps);
  __shared__ SharedEntries entries;
  __shared__ unsigned allowed;
  __shared__ float most_mean;
  const bool sampled = task.sample.entries != nullptr && task.rule.rms > 0;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (!sampled) return (1u << task.guesses.count) - 1;
  if (threadIdx.x == 0) allowed = 0;
  fetch_entries(task, entries);
  __syncthreads();
  const float ours = warp < task.guesses.count ? error_of_guess(task, entries, warp) : 0;
  if (warp == warps - 1) {
    const float most = native_errors(entries).most_mean();
    if (lane == 0) most_mean = most;
  }
  __syncthreads();
  if (warp < task.guesses.count && lane == 0 && ours <= most_mean) atomicOr(&allowed, 1u << warp);
  __syncthreads();
  return allowed;
}

}  // namespace vernier::cuda
