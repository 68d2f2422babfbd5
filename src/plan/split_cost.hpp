// Estimated times on an H200: error-corrected fp32 products against the conventional one of cuBLAS.
#pragma once

#include <cstdint>

namespace vernier {

double split_gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k);    // under contract fp32, ordinary data
double device_sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k);  // cuBLAS 13.1

}  // namespace vernier
