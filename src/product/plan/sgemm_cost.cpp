#include "product/plan/sgemm_cost.hpp"

#include <algorithm>
#include <limits>

namespace vernier {

double waves(std::int64_t m, std::int64_t n, std::int64_t products, std::int64_t rows, std::int64_t columns) {
  const std::int64_t tiles = products * ((m + rows - 1) / rows) * ((n + columns - 1) / columns);
  return static_cast<double>((tiles + h200_multiprocessors - 1) / h200_multiprocessors);
}

namespace {

// A tile of cuBLAS's and the share of the rate that it reaches.
struct SgemmTile {
  std::int64_t rows, columns;
  double efficiency;
};
constexpr SgemmTile sgemm_tiles[] = {{128, 128, 1.03}, {128, 64, 0.92}, {64, 64, 0.85}, {64, 32, 0.57}, {32, 32, 0.46}};

}  // namespace

// The best of several tiles, with k in one piece or cut where tiles are few; C is stored behind that, half of it
// while other tiles multiply. What memory delivers is the limit of thin products.
double device_sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products) {
  constexpr double launch = 9e-6, rate = 51e12 / h200_multiprocessors, store = 6e12, load = 3.5e12;
  constexpr double cut_launch = 1.9e-6, join_rate = 3e12;
  constexpr std::int64_t most_cuts = 64, shortest_piece = 128;
  const double c_bytes = 4.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(products);
  double best = std::numeric_limits<double>::max();
  for (const SgemmTile& t : sgemm_tiles)
    for (std::int64_t cuts = 1; cuts <= most_cuts && (cuts == 1 || k >= cuts * shortest_piece); cuts *= 2) {
      const double tile = 2.0 * static_cast<double>(t.rows * t.columns * ((k + cuts - 1) / cuts)) / t.efficiency / rate;
      const double join = cuts == 1 ? 0 : cut_launch + 2 * static_cast<double>(cuts) * c_bytes / join_rate;
      best = std::min(best, waves(m, n, products * cuts, t.rows, t.columns) * tile + join);
    }
  const double operands = 4.0 * static_cast<double>(m * k + k * n) * static_cast<double>(products);
  return launch + std::max(best + c_bytes / store, (operands + c_bytes) / load);
}

}  // namespace vernier
