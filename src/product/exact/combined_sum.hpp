// C = alpha sum + beta C, rounded once, from a sum that is known exactly or to within a radius.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "number/host_device.hpp"
#include "number/long_accumulator.hpp"

namespace vernier {

inline void add_fixed(LongAccumulator& sum, bool negative, Uint128 x, int exponent) {
  sum.add(negative, std::array{static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(x >> 64)}, exponent);
}

template <class T>
bool finite_update(T beta, const T* c) {
  return beta == 0 || (std::isfinite(beta) && std::isfinite(*c));
}

// The one number that every sum within `radius` units of 2^exponent gives, or nothing where there are several. Finite
// beta and c.
template <class T>
std::optional<T> combined_interval(LongAccumulator sum, Uint128 radius, int exponent, T alpha, T beta, const T* c,
                                   Rounding rounding = Rounding::nearest);

// The same for a sum that is exact, and any beta and c.
template <class T>
T combined_sum(const LongAccumulator& sum, T alpha, T beta, const T* c, Rounding rounding = Rounding::nearest);

}  // namespace vernier
