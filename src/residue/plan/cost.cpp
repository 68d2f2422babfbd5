#include "residue/plan/cost.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "engine/panel.hpp"
#include "number/moduli.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier {
namespace {

struct EngineRates {
  std::string_view name;
  double operations;   // int8 operations a second and core for long k, reduction included
  double half_k;       // k at which half of that is reached
  double plane_bytes;  // residues written or recombined a second and core
};

// bench/results/ has the measurements behind these.
constexpr std::array<EngineRates, 4> engine_rates = {{
    {"amx", 5.6e12, 120, 6.8e9},
    {"avx512_vnni", 3.0e11, 60, 6.0e9},
    {"avx2", 0.7e11, 60, 1.0e9},
    {"portable", 0.1e11, 30, 5.0e7},
}};

// The product of |A| and |B|: operations on tiles, elements rounded, entries taken.
constexpr double bound_operations = 2.2e12, bound_elements = 1e9, bound_entries = 1.5e9;

// Residues of float and double differ in their moduli alone: how far the nearest measured number of them is.
int nearest_moduli(const MeasuredRates& rates, std::string_view engine, int moduli) {
  int nearest = max_moduli;
  for (const MeasuredTime& t : rates.times)
    if (t.method == engine) nearest = std::min(nearest, std::abs(t.moduli - moduli));
  return nearest;
}

}  // namespace

double tabled_residue_seconds(std::string_view engine, const ProductShape& s, int moduli, int threads) {
  const auto* rates =
      std::find_if(engine_rates.begin(), engine_rates.end(), [&](const EngineRates& e) { return e.name == engine; });
  if (rates == engine_rates.end()) rates = &engine_rates.back();
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double products = 2 * m * n * k / (rates->operations * k / (k + rates->half_k));
  const double bytes = (m * k + k * n + m * n) / rates->plane_bytes;
  return moduli * (products + bytes) / threads + least_residue_seconds;
}

double residue_seconds(std::string_view engine, const ProductShape& s, int moduli, int threads) {
  const MeasuredRates& rates = rates_of_this_machine();
  const int nearest = nearest_moduli(rates, engine, moduli);
  const double factor = rates.factor(
      size_of(s), threads,
      [&](const MeasuredTime& t) { return t.method == engine && std::abs(t.moduli - moduli) == nearest; },
      [](const MeasuredTime& t) {
        return tabled_residue_seconds(t.method, {t.n, t.n, t.n}, t.moduli, t.threads);
      });
  return factor * tabled_residue_seconds(engine, s, moduli, threads);
}

double residue_steps(const ProductShape& s) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n),
               k = static_cast<double>(round_up(s.k, step_size));
  return m * n + (m + n) * k + m * n * k / 64;
}

double bound_seconds(const ProductShape& s, bool tiles, int threads) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double product = tiles ? 2 * m * n * k / bound_operations : native_seconds(s, true, 1);
  return (product + (m * k + k * n) / bound_elements + m * n / bound_entries) / threads + least_residue_seconds;
}

}  // namespace vernier
