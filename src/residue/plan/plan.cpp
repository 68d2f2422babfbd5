#include "residue/plan/plan.hpp"

#include <algorithm>
#include <limits>

#include "engine/bound/bound_engine.hpp"
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

void set_ordinary_moduli(ResiduePlan& plan, int moduli) {
  plan.ordinary = choose_blocking(plan.shape, moduli, plan.printable.threads, *plan.engine, plan.most_pass_bytes);
  plan.pass_bytes = std::max(plan.ordinary.bytes, plan.least_pass_bytes);
  describe_residues(plan);
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

bool bound_may_win(const ResiduePlan& plan, int moduli) {
  const int threads = plan.printable.threads;
  return plan.native != NativeUse::for_speed ||
         bound_seconds(plan.shape, bound_tiles() != nullptr, threads) +
                 residue_seconds(plan.engine->name(), plan.shape, moduli, threads) <
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

}  // namespace vernier
