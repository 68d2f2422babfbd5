// C = beta C, where quad_gemm multiplies nothing; and alpha T + beta C of binary128 where a GPU made T.
#pragma once

#include <vector>

#include "vernier/quad.hpp"

namespace vernier {

// Of dd and binary128, in host memory; rounded once under contract exact.
template <class TC>
void scale_quad(std::int64_t m, std::int64_t n, double beta, TC* c, std::int64_t ldc, const QuadContract& contract);

#if defined(__SIZEOF_FLOAT128__)
void update_binary128(double alpha, const std::vector<binary128>& t, double beta, std::vector<binary128>& c);
#endif

}  // namespace vernier
