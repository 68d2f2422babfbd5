// The polynomial of close_roots.cpp and enclosures.cpp: six roots that lie 2^-12 apart, and points between them.
#pragma once

#include <cstdint>
#include <vector>

namespace close_roots {

__extension__ typedef __int128 Integer;
constexpr std::int64_t degree = 6, points = 50, one = 1 << 16;  // x = X / 2^16

// Of (X - R_1) ... (X - R_6), R_m = 2^16 + 16 m + 8.
inline std::vector<Integer> coefficients() {
  std::vector<Integer> c = {1};
  for (std::int64_t m = 0; m < degree; ++m) {
    c.insert(c.begin(), 0);
    for (std::size_t j = 0; j + 1 < c.size(); ++j) c[j] -= c[j + 1] * (one + 16 * m + 8);
  }
  return c;
}

// X of point i.
constexpr Integer place(std::int64_t i) { return one + 2 * i - 1; }

}  // namespace close_roots
