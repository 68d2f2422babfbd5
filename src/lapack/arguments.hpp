// Checks of arguments, in the order of LAPACK.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "vernier/lapack.hpp"

namespace vernier {

// So that no size in bytes overflows.
inline constexpr std::int64_t largest_dimension = std::int64_t{1} << 40;

inline void check_dimension(std::string_view routine, std::string_view name, std::int64_t value) {
  require(value >= 0, "{}: {} = {}: expected 0 or more", routine, name, value);
  require(value <= largest_dimension, "{}: {} = {}: expected at most 2^40", routine, name, value);
}

inline void check_leading(std::string_view routine, std::string_view name, std::int64_t value, std::int64_t rows) {
  const std::int64_t least = rows > 1 ? rows : 1;
  require(value >= least, "{}: {} = {}: expected at least {}", routine, name, value, least);
}

inline void check_op(std::string_view routine, Op op) {
  require(op == Op::none || op == Op::transpose || op == Op::conjugate_transpose,
          "{}: op = {}: expected none, transpose or conjugate_transpose", routine, static_cast<int>(op));
}

inline void check_uplo(std::string_view routine, Uplo uplo) {
  require(uplo == Uplo::upper || uplo == Uplo::lower, "{}: uplo = {}: expected upper or lower", routine,
          static_cast<int>(uplo));
}

inline void check_pointer(std::string_view routine, std::string_view name, const void* pointer, bool needed) {
  require(!needed || pointer != nullptr, "{}: {} is null", routine, name);
}

// Pivots that getrf could have written: a foreign value would have rows exchanged with what lies outside of B.
inline void check_pivots(std::string_view routine, std::int64_t n, const std::int64_t* pivots) {
  for (std::int64_t i = 0; i < n; ++i)
    require(pivots[i] > i && pivots[i] <= n, "{}: pivots[{}] = {}: expected {} to {}", routine, i, pivots[i], i + 1, n);
}

}  // namespace vernier
