// Products by residues on a GPU, real, correctly rounded and complex: data -> statistics and scales -> int8 planes ->
// products modulo p -> C.
#pragma once

#include "engine/int8_engine_cuda.hpp"
#include "product/call.hpp"
#include "product/operand.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "residue/recombine/recombine_cuda.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

template <class T>
DeviceFactor<T> factor_of(const T* x, PointerMode mode) {
  return mode == PointerMode::host ? DeviceFactor<T>{.value = *x} : DeviceFactor<T>{.in_device_memory = x};
}

template <class T>
using DeviceResidueProblem = GemmProblem<T, DeviceFactor<T>>;

template <class T>
DeviceResidueProblem<T> problem_of(const DeviceGemmCall<T>& call, PointerMode mode) {
  return {call.rows(), call.columns(), {factor_of(call.alpha, mode), factor_of(call.beta, mode), call.c, call.ldc}};
}

// May no host look at what the data ask for? Throws Error(Status::unsupported) if so and products by residues under the
// contract need one: before anything is queued.
bool without_host(const Options& options);
template <class T>
void check_without_host(const Options& options);

// Leaves word of a product about which nothing is to be decided, where the caller wants any.
void clear_outcome(const Options& options);

// Returns false, with C untouched, if the native product is to be taken instead; says so in the report. Throws
// Error(Status::bound_not_met) if the contract forbids that.
template <class T>
bool residue_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                  const Options& options, Report& report);

// Contract `exact`: rounded where the proven interval holds one result; the exact sums of the other entries.
template <class T>
void exact_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                const Options& options, Report& report);

// The whole product by moduli with a root of -1, on a workspace of plan.bytes. False, with C untouched, if the data are
// not all ordinary and finite; where no host waits, these go to the conventional product, which the contract must
// allow.
template <class R>
bool complex_residue_gemm(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine,
                          const DeviceComplexProblem<R>& problem, const Options& options, std::byte* workspace);

// How many products of the batch go together, at least two; 0 where they go one by one: natively, in blocks, by
// Strassen-Winograd, correctly rounded, or where no host may wait.
template <class T>
std::int64_t residue_batch_size(const StridedBatch<T>& batch, const Options& options);

// That many or fewer products, with the bits that each has alone. False, with C untouched, where some of them is not
// regular: then they go one by one.
template <class T>
bool residue_batch(const StridedBatch<T>& batch, const Options& options, Report& report);

}  // namespace vernier::cuda
