// LU of a square matrix of some thousand rows by a few threads.
#pragma once

#include <cstdint>

#include "vernier/lapack.hpp"

namespace vernier {

// As getrf's, by products and triangles of one thread each: threads meet at the end alone.
std::int64_t factor_lu_ahead(const Options& options, std::int64_t n, double* a, std::int64_t lda, std::int64_t* pivots);

}  // namespace vernier
