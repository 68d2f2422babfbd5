// What a dd product costs in dd arithmetic: blocked, on vectors of the processor at hand, for quad_speed to compare
// with.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/quad.hpp"

namespace vernier::test {

// C = A B, n x n, column-major. avx2: by vectors of four, whatever the processor has.
void blocked_dd_product(std::int64_t n, const std::vector<dd>& a, const std::vector<dd>& b, std::vector<dd>& c,
                        int threads, bool avx2 = false);

}  // namespace vernier::test
