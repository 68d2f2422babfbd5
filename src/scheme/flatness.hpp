// Sums over one vector, and the numbers that VectorStatistics makes of them.
#pragma once

#include <array>
#include <cstdint>

#include "scheme/statistics.hpp"

namespace vernier {

// Flatness tries thresholds tau = 2^-r of the maximum. The first three use the quantised elements and cost one minimum
// each; only where all of them fail is the vector read again for the deeper ones, which count exponents.
inline constexpr std::array<int, 3> shallow_depths = {2, 4, 6};
inline constexpr std::array<int, 13> deep_depths = {8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192};

struct VectorSums {
  std::uint64_t squares = 0, sum = 0;
  std::array<std::uint64_t, shallow_depths.size()> clipped{};  // sum over l of min(v_l, 2^(quantum_bits - r))
};

// The factor 2^(quantum_bits - exponent), in two parts since it may exceed the range of double.
struct QuantumScale {
  double first, second;
};
QuantumScale quantum_scale(int exponent);

// Smallest t with numerator * 2^t >= denominator > 0; not_flat if numerator <= 0.
int log2_ratio_up(std::int64_t numerator, std::int64_t denominator);

// 2 log2(1 / G) from the clipped sums; not_flat if no threshold serves.
int shallow_flatness(const VectorSums& sums, std::int64_t k);

template <class T>
int deep_flatness(const T* x, std::int64_t stride, std::int64_t count, int exponent);

}  // namespace vernier
