// By residues or natively: the plan of a product on the current GPU, and within which workspace.
#pragma once

#include <string_view>

#include "engine/int8_engine_cuda.hpp"
#include "product/plan/current_gpu.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

inline constexpr std::string_view native_name = "native";

DeviceRequest request_of(const Options& options, bool may_use_sqrt_rule);
const DeviceInt8Engine& int8_engine(const Options& options);
DeviceLimits limits_of(const DeviceInt8Engine& engine);

// Bytes that a product which would take `wanted` may have.
std::size_t workspace_limit(std::size_t wanted, const Options& options);

// Bytes that a product by residues may have.
template <class T>
std::size_t residue_workspace_limit(const ProductShape& shape, const Options& options, const DeviceLimits& limits);

// By residues or natively.
template <class T>
DeviceProductPlan plan_of(const ProductShape& shape, const Options& options, bool may_use_sqrt_rule);

}  // namespace vernier::cuda
