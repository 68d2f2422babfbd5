#include "plan/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/panel.hpp"
#include "base/part_panel.hpp"

namespace vernier {
namespace {

struct EngineRates {
  std::string_view name;
  double operations;   // int8 operations a second and core for long k, reduction included
  double half_k;       // k at which half of that is reached
  double plane_bytes;  // residues written or recombined a second and core
};

// bench/results/ has the measurements behind these.
constexpr std::array<EngineRates, 4> engines = {{
    {"amx", 5.6e12, 120, 6.8e9},
    {"avx512_vnni", 3.0e11, 60, 6.0e9},
    {"avx2", 0.7e11, 60, 5.0e7},
    {"portable", 0.1e11, 30, 5.0e7},
}};

// Products of bf16 parts, a second and core: operations of the fp32 product, elements split, entries of C written.
constexpr double part_operations = 0.47e12, part_elements = 1.6e9, part_sums = 3e9;

constexpr double native_double = 115e9, native_single = 230e9;  // operations a second and core, OpenBLAS, large sizes
constexpr double native_half = 250;                             // size, as of a cube, at which half of that is reached

}  // namespace

double residue_seconds(std::string_view engine, const ProductShape& s, int moduli, int threads) {
  const auto* rates =
      std::find_if(engines.begin(), engines.end(), [&](const EngineRates& e) { return e.name == engine; });
  if (rates == engines.end()) rates = &engines.back();
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double products = 2 * m * n * k / (rates->operations * k / (k + rates->half_k));
  const double bytes = (m * k + k * n + m * n) / rates->plane_bytes;
  return moduli * (products + bytes) / threads + least_residue_seconds;
}

double part_seconds(const ProductShape& s, int threads) {
  const double m = static_cast<double>(round_up(s.m, part_strip));
  const double n = static_cast<double>(round_up(s.n, part_strip));
  const double k = static_cast<double>(round_up(s.k, part_chunk));
  const double elements = m * k + k * n, sums = m * n;
  return (2 * m * n * k / part_operations + elements / part_elements + sums / part_sums) / threads + least_part_seconds;
}

double native_seconds(const ProductShape& s, bool single_precision, int threads) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double size = std::cbrt(m * n * k);
  const double rate = (single_precision ? native_single : native_double) * size / (size + native_half);
  return 2 * m * n * k / (rate * threads);
}

}  // namespace vernier
