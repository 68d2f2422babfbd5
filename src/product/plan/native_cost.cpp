#include "product/plan/native_cost.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "base/cpu_features.hpp"
#include "base/uncancelled.hpp"
#include "product/plan/gpu_model.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier {
namespace {

// Operations in double precision a second and core, OpenBLAS, large sizes: with AVX-512, and without.
constexpr double native_avx512 = 115e9, native_avx2 = 45e9;
constexpr double native_half = 250;  // size, as of a cube, at which half of that is reached

// The highest clock that the system tells of; 0 if it does not.
double processor_hertz() {
  const Uncancelled reads_a_file;
  if (std::ifstream most("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); most) {
    double kilohertz = 0;
    if (most >> kilohertz) return 1e3 * kilohertz;
  }
  double megahertz = 0;
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("cpu MHz") && colon != std::string::npos)
      megahertz = std::max(megahertz, std::strtod(line.c_str() + colon + 1, nullptr));
  }
  return 1e6 * megahertz;
}

// Multiply-adds of two vectors a cycle, at the clock that the system tells; no limit where it tells none.
double peak_operations() {
  static const double peak = [] {
    const double clock = processor_hertz();
    const int operations = missing_features(InstructionSet::avx512_vnni).empty() ? 32 : 16;
    return clock > 0 ? operations * clock : std::numeric_limits<double>::infinity();
  }();
  return peak;
}

double tabled_seconds(double size, bool single_precision, int threads) {
  static const double native_double =
      missing_features(InstructionSet::avx512_vnni).empty() ? native_avx512 : native_avx2;
  const double rate =
      (single_precision ? 2 : 1) * std::min(native_double, peak_operations()) * size / (size + native_half);
  return 2 * size * size * size / (rate * threads);
}

}  // namespace

double native_seconds(const ProductShape& s, bool single_precision, int threads) {
  const double size = size_of(s);
  const double factor = rates_of_this_machine().factor(
      size, threads,
      [&](const MeasuredTime& t) { return t.method == "native" && t.single_precision == single_precision; },
      [](const MeasuredTime& t) { return tabled_seconds(static_cast<double>(t.n), t.single_precision, t.threads); });
  return factor * tabled_seconds(size, single_precision, threads);
}

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
