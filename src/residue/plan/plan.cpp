#include "residue/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "engine/panel.hpp"
#include "number/moduli.hpp"
#include "product/plan/measured_rates.hpp"
#include "residue/plan/cost.hpp"
#include "residue/residues.hpp"

namespace vernier {

std::size_t vector_bytes(const ProductShape& shape, int threads, bool exact) {
  Arena count;
  carve_vectors(count, shape, threads, exact);
  return count.used();
}

void describe_residues(ResiduePlan& plan) {
  const int moduli = plan.speculative ? SpeculativeProduct::moduli : plan.ordinary.moduli;  // of most data
  describe_residues(plan, plan.engine->name(), moduli, plan.ordinary);
}

ResiduePlan with_prepared(const ResiduePlan& plan, const PreparedSides& prepared) {
  ResiduePlan with = plan;
  with.speculative.reset();
  with.ordinary = choose_blocking(plan.shape, plan.ordinary.moduli, plan.printable.threads, *plan.engine,
                                  plan.most_pass_bytes, prepared);
  if (with.ordinary.bytes > plan.most_pass_bytes) with.ordinary = plan.ordinary;
  with.pass_bytes = std::max(with.ordinary.bytes, plan.least_pass_bytes);
  describe_residues(with);
  return with;
}

namespace {

void set_digits(Pass& pass, int exponent) {
  pass.narrow = exponent <= narrow_exponent;
  for (pass.limbs = 1; exponent > largest_exponent(pass.limbs);) ++pass.limbs;
}

}  // namespace

Pass ordinary_pass(const ResiduePlan& plan) {
  Pass pass;
  pass.blocking = plan.ordinary;
  set_digits(pass, plan.rule.largest_exponent);
  return pass;
}

Pass first_pass(const ResiduePlan& plan, const SpeculativeScales& scales) {
  Pass pass;
  pass.speculative = scales;
  pass.blocking =
      choose_blocking(plan.shape, SpeculativeProduct::moduli, plan.printable.threads, *plan.engine, plan.pass_bytes);
  set_digits(pass, scales.rule.largest_exponent);
  return pass;
}

// No entry is wide, so that update() writes all entries of a block.
Pass repair_pass(const ResiduePlan& plan, const SpeculativeScales& scales) {
  Pass pass = ordinary_pass(plan);
  pass.speculative = scales;
  pass.speculative->certain = std::numeric_limits<double>::infinity();
  pass.every_entry = false;
  pass.open_only = true;
  return pass;
}

bool bound_may_win(const ResiduePlan& plan, bool tiles) {
  constexpr int least_moduli = 12;
  const int threads = plan.printable.threads;
  if (plan.native != NativeUse::for_speed) return true;
  return bound_seconds(plan.shape, tiles, threads) +
             residue_seconds(plan.engine->name(), plan.shape, least_moduli, threads) <
         native_seconds(plan.shape, plan.single_precision, threads);
}

PassList plan_passes(const ResiduePlan& plan, const Scaling& scaling) {
  const int threads = plan.printable.threads;
  const auto wide = [&](int moduli) {
    Pass pass;
    pass.ordinary = false;
    set_digits(pass, scaling.wide_exponent);
    pass.blocking = choose_blocking(plan.shape, moduli, threads, *plan.engine, plan.pass_bytes);
    return pass;
  };
  const auto slower = [&](const PassList& list) {
    double seconds = 0;
    for (int i = 0; i < list.count; ++i) {
      ProductShape shape = plan.shape;
      if (!list.pass[i].ordinary &&
          scaling.any_ordinary)  // wide rows against all columns, wide columns against all rows
        shape.m = std::min(shape.m, scaling.wide_rows + divide_up(scaling.wide_columns * shape.m, shape.n));
      seconds += residue_seconds(plan.engine->name(), shape, list.pass[i].blocking.moduli, threads);
    }
    return seconds > native_seconds(plan.shape, plan.single_precision, threads);
  };
  return list_passes<Pass>(
      plan, scaling, [&] { return ordinary_pass(plan); }, wide, slower);
}

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
    {"avx2", 0.7e11, 60, 1.0e9},
    {"portable", 0.1e11, 30, 5.0e7},
}};

// The product of |A| and |B|: operations on tiles, elements rounded, entries taken.
constexpr double bound_operations = 2.2e12, bound_elements = 1e9, bound_entries = 1.5e9;

double tabled_seconds(std::string_view engine, const ProductShape& s, int moduli, int threads) {
  const auto* rates =
      std::find_if(engines.begin(), engines.end(), [&](const EngineRates& e) { return e.name == engine; });
  if (rates == engines.end()) rates = &engines.back();
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double products = 2 * m * n * k / (rates->operations * k / (k + rates->half_k));
  const double bytes = (m * k + k * n + m * n) / rates->plane_bytes;
  return moduli * (products + bytes) / threads + least_residue_seconds;
}

// Residues of float and double differ in their moduli alone: how far the nearest measured number of them is.
int nearest_moduli(const MeasuredRates& rates, std::string_view engine, int moduli) {
  int nearest = max_moduli;
  for (const MeasuredTime& t : rates.times)
    if (t.method == engine) nearest = std::min(nearest, std::abs(t.moduli - moduli));
  return nearest;
}

}  // namespace

double residue_seconds(std::string_view engine, const ProductShape& s, int moduli, int threads) {
  const MeasuredRates& rates = rates_of_this_machine();
  const int nearest = nearest_moduli(rates, engine, moduli);
  const double factor = rates.factor(
      size_of(s), threads,
      [&](const MeasuredTime& t) { return t.method == engine && std::abs(t.moduli - moduli) == nearest; },
      [](const MeasuredTime& t) {
        return tabled_seconds(t.method, {t.n, t.n, t.n}, t.moduli, t.threads);
      });
  return factor * tabled_seconds(engine, s, moduli, threads);
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
