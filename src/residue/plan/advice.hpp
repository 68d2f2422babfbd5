// What fp64-normwise would have taken where the data keep a product of contract fp64 from the integer scheme.
#pragma once

#include <string>
#include <string_view>

#include "product/plan/gpu_model.hpp"
#include "product/plan/native_cost.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// To be added to a plan's reason; empty where another contract was asked for, or where nothing would be gained. By
// estimate, on a CPU and on a GPU.
template <class T>
std::string normwise_advice(const ProductShape& shape, const Contract& contract, std::string_view engine, int threads);
template <class T>
std::string device_normwise_advice(const ProductShape& shape, const Contract& contract, const GpuModel& gpu);

}  // namespace vernier
