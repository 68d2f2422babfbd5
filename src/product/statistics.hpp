// What the scales and the bounds need to know about the vectors of an operand. Every number here is a maximum, a
// minimum or an integer sum, so that it does not depend on the order in which a vector is read.
#pragma once

#include <cstdint>

#include "product/operand.hpp"

namespace vernier {

// Elements are measured against the power of two below the vector's maximum:
//     v_l = ceil(|x_l| 2^(quantum_bits - exponent)),   0 <= v_l <= 2^(quantum_bits + 1)
// (0 also where the scaled |x_l| is below the range of double, which no bound notices).
inline constexpr int quantum_bits = 11;

inline constexpr int not_flat = 1 << 20;

struct VectorStatistics {
  int exponent = 0;           // floor(log2 max |x_l|) over finite x_l
  int lowest = 0;             // floor(log2 min |x_l|) over finite nonzero x_l
  std::uint64_t squares = 0;  // sum v_l^2: bounds the 2-norm from above
  std::uint64_t sum = 0;      // sum v_l: bounds the 1-norm from above; 0 exactly for a zero vector
  // Flatness: with G = 2^(-flatness / 2), sum_l |x_l| |y_l| >= k G_x G_y 2^(exponent_x + exponent_y) for any two
  // vectors (docs/accuracy.md, lemma 1); not_flat if there is no such statement, as for vectors with more zeros than
  // half.
  int flatness = not_flat;
  bool nonfinite = false;  // NaN or infinity inside; the numbers above then are those of the finite elements

  constexpr bool zero() const { return sum == 0; }
  constexpr int span() const { return zero() ? 0 : exponent - lowest; }
  bool operator==(const VectorStatistics&) const = default;
};

// The definition, one vector: count elements, stride apart.
template <class T>
VectorStatistics vector_statistics(const T* x, std::int64_t stride, std::int64_t count);

// Vectors first .. first + count - 1 of an operand.
template <class T>
void statistics_portable(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out);

// gather_strip, and the statistics of its vectors.
template <class T>
Operand<T> measured_strip_portable(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,
                                   std::int64_t k_count, T* buffer, VectorStatistics* out);

}  // namespace vernier
