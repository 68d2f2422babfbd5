// Times of the residue scheme on a CPU. Measured rates, not promises.
#pragma once

#include <string>
#include <string_view>

#include "product/plan/gpu_model.hpp"
#include "product/plan/native_cost.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// Four parallel stages, however small the product.
inline constexpr double least_residue_seconds = 4 * 5e-5;

// Seconds on the given number of cores.
double residue_seconds(std::string_view engine, const ProductShape& shape, int moduli, int threads);
// The same whatever was measured here: for comparisons with other constants.
double tabled_residue_seconds(std::string_view engine, const ProductShape& shape, int moduli, int threads);
double bound_seconds(const ProductShape& shape, bool tiles, int threads);  // |A||B| by bf16 tiles, else in float

// Elements that a product converts and recombines, and its multiplications in the time of such an element.
double residue_steps(const ProductShape& shape);
inline constexpr double least_steps_of_threads = 1 << 17;  // some 0.15 ms of one thread

// Brief products are one thread's: several would mostly wait for each other, on a busy machine for a thousand times as
// long as the product takes.
inline int residue_threads(const ProductShape& shape, int threads) {
  return residue_steps(shape) < least_steps_of_threads ? 1 : threads;
}

// What fp64-normwise would have taken where the data keep a product of contract fp64 from the integer scheme, to be
// added to a plan's reason; empty where another contract was asked for, or where nothing would be gained. By
// estimate, on a CPU and on a GPU.
template <class T>
std::string normwise_advice(const ProductShape& shape, const Contract& contract, std::string_view engine, int threads);
template <class T>
std::string device_normwise_advice(const ProductShape& shape, const Contract& contract, const GpuModel& gpu);

}  // namespace vernier
