// Times of bf16x6 on AMX. Measured rates, not promises.
#pragma once

#include "product/plan/native_cost.hpp"

namespace vernier {

// Two parallel stages.
inline constexpr double least_bf16x6_seconds = 2 * 2e-5;

// Seconds on the given number of cores.
double bf16x6_seconds(const ProductShape& shape, int threads);

}  // namespace vernier
