// Products whose entries lie on a rounding boundary, the middle between two neighbouring numbers, or as little beside
// one as the exponents of the type allow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/generators.hpp"

namespace vernier::test {

// "ties": on a boundary; "near_ties": beside one; "subnormal_ties": both, among subnormal numbers; "overflow_ties":
// both, where the largest number ends and infinity begins.
const std::vector<std::string>& boundary_families();

// Where the other directions turn: "near_numbers": numbers of the type, and beside one; "subnormal_numbers": likewise,
// among subnormal numbers; "overflow_ties".
const std::vector<std::string>& directed_boundary_families();

// k >= 16. Throws std::out_of_range on an unknown name.
template <class T>
Operands<T> make_boundary_operands(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k,
                                   std::uint64_t seed);

}  // namespace vernier::test
