// Estimated times of one call on an H200, or on a GPU by its rates: error-corrected fp32 products against the
// conventional one of cuBLAS. Fitted to the shapes of bench/results/split_sweep_h200.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "product/plan/gpu_model.hpp"

namespace vernier {

// From about here on errors are below those of a conventional product (bench/results/split_errors.json); the bound of
// the contract holds from 36 on.
inline constexpr std::int64_t shortest_split_k = 64;

// Products of a batch that are split before they are multiplied, under contract fp32: the others follow.
std::int64_t split_products_at_once(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products);

// Of a batch of so many products. Under contract fp32, ordinary data; and of the conventional product:
double split_gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1,
                          const GpuModel& gpu = {});
double sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1,
                     const GpuModel& gpu = {});

// By a margin for what the estimates miss; never where the conventional product is known to err less.
bool split_gemm_is_faster(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1,
                          const GpuModel& gpu = {});

// Why a single product is not split, for a person: its k, its entries, its estimates, or a workspace of `limit` bytes
// where `needed` are asked for.
std::string why_not_split(std::int64_t m, std::int64_t n, std::int64_t k, std::size_t needed, std::size_t limit,
                          const GpuModel& gpu = {});

}  // namespace vernier
