// Times of the residue scheme on a CPU. Measured rates, not promises.
#pragma once

#include <string_view>

#include "product/plan/native_cost.hpp"

namespace vernier {

// Four parallel stages, however small the product.
inline constexpr double least_residue_seconds = 4 * 5e-5;

// Seconds on the given number of cores.
double residue_seconds(std::string_view engine, const ProductShape& shape, int moduli, int threads);
double bound_seconds(const ProductShape& shape, bool tiles, int threads);  // |A||B| by bf16 tiles, else in float

}  // namespace vernier
