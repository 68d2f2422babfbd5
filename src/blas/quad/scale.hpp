// C = beta C, where quad_gemm multiplies nothing.
#pragma once

#include "vernier/quad.hpp"

namespace vernier {

// Of dd and binary128, in host memory; rounded once under contract exact.
template <class TC>
void scale_quad(std::int64_t m, std::int64_t n, double beta, TC* c, std::int64_t ldc, const QuadContract& contract);

}  // namespace vernier
