#include "plan/split_cost.hpp"

#include <algorithm>
#include <utility>

namespace vernier {
namespace {

constexpr std::int64_t multiprocessors = 132;

double waves(std::int64_t m, std::int64_t n, std::int64_t products, std::int64_t rows, std::int64_t columns) {
  const std::int64_t tiles = products * ((m + rows - 1) / rows) * ((n + columns - 1) / columns);
  return static_cast<double>((tiles + multiprocessors - 1) / multiprocessors);
}

// Of products that are split and multiplied at once, without launches. Fitted to the shapes of
// bench/results/split_h200.json: 8 bytes an element of A and B; waves of tiles.
double at_once_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products, bool batch) {
  const auto deep = static_cast<double>(k), vectors = static_cast<double>((m + n) * products);
  const double split = 8.0 * vectors * deep / (k > 16384 ? 2e12 : 3.2e12);
  const double tile = 3e-6 + 16.5e-9 * deep;
  const double small_blocks = batch ? 1.4e-9 * vectors : 0;  // of the split
  return split + small_blocks + tile * std::min(waves(m, n, products, 128, 128), 0.65 * waves(m, n, products, 64, 128));
}

}  // namespace

std::int64_t split_products_at_once(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products) {
  constexpr std::int64_t cached = 48 << 20;  // planes of so many bytes stay in the second-level cache
  constexpr std::int64_t most = 65535;       // of the second index of a grid
  return std::clamp<std::int64_t>(cached / (4 * (m + n) * k), 1, std::min(products, most));
}

double split_gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products) {
  constexpr double launches = 16e-6, more_launches = 6e-6;
  const std::int64_t at_once = split_products_at_once(m, n, k, products), rest = products % at_once;
  const double whole = static_cast<double>(products / at_once), groups = whole + (rest == 0 ? 0 : 1);
  return launches + (groups - 1) * more_launches + whole * at_once_seconds(m, n, k, at_once, products > 1) +
         (rest == 0 ? 0 : at_once_seconds(m, n, k, rest, products > 1));
}

// The best of three tiles, at 51 TFLOP/s; k is cut where it is long and tiles are few. Batches wait for memory too.
double device_sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products) {
  constexpr double launch = 9e-6, rate = 51e12, of_one = rate / multiprocessors;
  double best = 1e30;
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{128, 128}, {128, 64}, {64, 64}})
    best =
        std::min(best, waves(m, n, products, rows, columns) * 2.0 * static_cast<double>(rows * columns * k) / of_one);
  const double cut = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                     static_cast<double>(products) / rate;
  const double memory = products > 1 ? 4.0 * static_cast<double>((m * k + k * n + m * n) * products) / 3.5e12 : 0;
  return launch + std::max(memory, k >= 4096 ? std::min(best, 1.05 * cut) : best);
}

}  // namespace vernier
