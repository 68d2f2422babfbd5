// Which way a real product on a GPU goes: by split matrices, by residues or natively, and within which workspace.
#pragma once

#include <optional>
#include <string_view>

#include "blas/split_gemm.hpp"
#include "engine/device_int8_engine.hpp"
#include "plan/device_plan.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

inline constexpr std::string_view native_name = "native";

GpuModel current_gpu();
const DeviceInt8Engine& int8_engine(const Options& options);
DeviceLimits limits_of(const DeviceInt8Engine& engine);

// Bytes that a product which would take `wanted` may have.
std::size_t workspace_limit(std::size_t wanted, const Options& options);

// Bytes that a product by residues may have.
template <class T>
std::size_t residue_workspace_limit(const ProductShape& shape, const Options& options, const DeviceLimits& limits);

// By residues or natively.
template <class T>
DeviceProductPlan plan_of(const ProductShape& shape, const Options& options, bool may_be_lean);

// Contract fp32 by products of split matrices, where they are faster than cuBLAS and the workspace holds them. They
// beat residues wherever they beat cuBLAS, and keep the contract for any data.
template <class T>
std::optional<SplitGemmPlan> split_plan_of(const ProductShape& shape, const Options& options,
                                           std::int64_t products = 1);

// Is a batch so much faster by split matrices than in cuBLAS that the host may wait for its addresses?
template <class T>
bool addresses_are_worth_a_wait(const ProductShape& shape, const Options& options, std::int64_t products);

// What a person reads, without the workspace that residues would ask for where they are not taken.
template <class T>
Plan describe_choice(const std::optional<SplitGemmPlan>& split, const ProductShape& shape, const Options& options);

// Are these products native, whatever the workspace? Then they are queued before they are described, which would take a
// good part of a small one's time.
template <class T>
bool surely_native(const ProductShape& shape, const Options& options);
template <class T>
void describe_native(const ProductShape& shape, const Options& options, Plan& plan);

}  // namespace vernier::cuda
