#include "residue/plan/cost.hpp"

#include <algorithm>
#include <array>

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

// The product of |A| and |B|: operations on tiles, elements rounded, entries taken.
constexpr double bound_operations = 2.2e12, bound_elements = 1e9, bound_entries = 1.5e9;

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

double bound_seconds(const ProductShape& s, bool tiles, int threads) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double product = tiles ? 2 * m * n * k / bound_operations : native_seconds(s, true, 1);
  return (product + (m * k + k * n) / bound_elements + m * n / bound_entries) / threads + least_residue_seconds;
}

}  // namespace vernier
