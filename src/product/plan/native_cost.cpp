#include "product/plan/native_cost.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "base/cpu_features.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier {
namespace {

// Operations in double precision a second and core, OpenBLAS, large sizes: with AVX-512, and without.
constexpr double native_avx512 = 115e9, native_avx2 = 45e9;
constexpr double native_half = 250;  // size, as of a cube, at which half of that is reached

// The highest clock that the system tells of; 0 if it does not.
double processor_hertz() {
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

}  // namespace vernier
