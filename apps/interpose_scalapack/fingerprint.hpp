// A number for the bits of a distributed matrix that does not depend on the grid: for VERNIER_VERBOSE=3, which tells
// the first product that differs between two runs.
#pragma once

#include <cstdint>

#include "product.hpp"

namespace vernier::interpose {

// Below 2^40. triangle: U or L for that one alone. All processes of the grid call it.
std::uint64_t fingerprint(const Grid& grid, vernier_type type, const SubMatrix& x, const vernier_part& part,
                          char triangle);

}  // namespace vernier::interpose
