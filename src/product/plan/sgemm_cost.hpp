// Estimated times of cuBLAS's fp32 product on an H200, fitted to the shapes of bench/results/split_sweep_h200.json.
#pragma once

#include <cstdint>

#include "product/plan/gpu_model.hpp"

namespace vernier {

// How often all multiprocessors take a tile of rows x columns each, for a batch of products m x n.
double waves(std::int64_t m, std::int64_t n, std::int64_t products, std::int64_t rows, std::int64_t columns);

// cuBLAS 13.1, of a batch of so many products.
double device_sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1);

}  // namespace vernier
