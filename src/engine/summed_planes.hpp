// Sums of 32 bits on their way through memory: what engines without a reduction of their own ask of a workspace.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/panel.hpp"

namespace vernier {

inline constexpr std::int64_t sums_row_unit = 4;  // tensor cores take rows by four

constexpr std::int64_t sums_of_plane(std::int64_t m, std::int64_t n) { return round_up(m, sums_row_unit) * n; }

// Words for the sums of the planes that are there at once: few launches for small products, as long as caches hold the
// sums, and they are no larger than all planes of C. Grows with m, n and planes, so that a block at the edge has room.
constexpr std::int64_t sums_count(std::int64_t m, std::int64_t n, std::int64_t planes) {
  constexpr std::int64_t word = sizeof(std::int32_t), cached = (32 << 20) / word, little = (2 << 20) / word;
  const std::int64_t one = sums_of_plane(m, n), of_c = planes * one / word;
  return std::max(one, std::min({planes * one, cached, std::max(of_c, little)}));
}

constexpr std::int64_t summed_planes(std::int64_t m, std::int64_t n, std::int64_t planes) {
  constexpr std::int64_t most = 65535;  // of a grid's second dimension
  return std::min(sums_count(m, n, planes) / sums_of_plane(m, n), most);
}

}  // namespace vernier
