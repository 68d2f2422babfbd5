// Estimated times of one call on an H200: error-corrected fp32 products against the conventional one of cuBLAS. Fitted
// to the shapes of bench/results/split_sweep_h200.json.
#pragma once

#include <cstdint>

namespace vernier {

// Products of a batch that are split before they are multiplied, under contract fp32: the others follow.
std::int64_t split_products_at_once(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products);

// Of a batch of so many products. Under contract fp32, ordinary data:
double split_gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1);
// cuBLAS 13.1:
double device_sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1);

// By a margin for what the estimates miss.
bool split_gemm_is_faster(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1);

}  // namespace vernier
