// What every plan of a product by residues, or natively, has.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

#include "product/arguments.hpp"
#include "product/plan/method.hpp"
#include "residue/plan/bounds.hpp"

namespace vernier {

struct CommonPlan {
  ProductShape shape;
  bool single_precision = false;  // T is float
  bool exact = false;             // the contract asks for correct rounding
  NativeUse native = NativeUse::never;
  ScalingRule rule;
  std::optional<BoundRule> bound;                // data that statistics leave wide take scales from |A||B|
  std::size_t vector_bytes = 0, pass_bytes = 0;  // of what outlives the passes, and left for these
  Plan printable;
};

// Returns whether there is anything to multiply.
template <class T>
bool begin_plan(const ProductShape& shape, const Contract& contract, CommonPlan& plan) {
  plan.shape = shape;
  plan.single_precision = std::is_same_v<T, float>;
  plan.exact = contract.kind == Contract::Kind::exact;
  describe_product<T>(shape, contract, plan.printable);
  if (!shape.empty()) return true;
  plan.printable.scheme = "none";
  plan.printable.reason = "there is nothing to multiply";
  return false;
}

inline void set_moduli(Plan& plan, int moduli) {
  plan.moduli = moduli;
  plan.log2_modulus_product = log2_product_of_moduli(moduli);
}

// Of any type with these members: the scheme, its moduli and the blocks of most data, no larger than the product.
template <class Blocks>
void describe_residues(CommonPlan& plan, std::string_view engine, int moduli, const Blocks& blocks) {
  Plan& p = plan.printable;
  p.scheme = "residues";
  p.engine = std::string(engine);
  set_moduli(p, moduli);
  p.m_block = std::min(blocks.m_block, plan.shape.m);
  p.n_block = std::min(blocks.n_block, plan.shape.n);
  p.k_block = std::min(blocks.k_block, plan.shape.k);
  p.workspace = plan.vector_bytes + plan.pass_bytes;
}

// Sweeps over C: of the entries that statistics leave ordinary, and of wide ones. Pass: of a CPU, or of a GPU.
template <class Pass>
struct PassesOf {
  Pass pass[2];
  int count = 0;
  bool native = false;  // the data ask for more than the scheme holds, or for more time than the native product takes
  bool beyond_scheme = false;
};

// ordinary(), wide(moduli): a pass; slower(list): than the native product?
template <class Pass, class Ordinary, class Wide, class Slower>
PassesOf<Pass> list_passes(const CommonPlan& plan, const Scaling& scaling, const Ordinary& ordinary, const Wide& wide,
                           const Slower& slower) {
  PassesOf<Pass> list;
  if (scaling.any_ordinary) list.pass[list.count++] = ordinary();
  if (scaling.any_wide) {
    const int moduli = moduli_for(scaling.wide_log2);
    list.beyond_scheme = moduli == 0 || scaling.wide_exponent > largest_exponent(max_limbs);
    if (!list.beyond_scheme) list.pass[list.count++] = wide(moduli);
  }
  for (int i = 0; i < list.count; ++i) list.pass[i].every_entry = list.count == 1;
  list.native = list.beyond_scheme || (scaling.any_wide && plan.native == NativeUse::for_speed && slower(list));
  return list;
}

// Returns false for the native product, which the report then names; throws where it is not allowed.
template <class Pass>
bool report_passes(const CommonPlan& plan, const Scaling& scaling, const PassesOf<Pass>& passes, Report& report) {
  report.wide_rows = scaling.wide_rows, report.wide_columns = scaling.wide_columns;
  if (passes.native) report.fallback = true;
  if (passes.beyond_scheme && plan.native == NativeUse::never)
    fail_beyond_scheme(plan.printable.contract, report.span_a, report.span_b);
  for (int i = 0; i < passes.count && !passes.native; ++i) {
    const Pass& pass = passes.pass[i];
    if (pass.ordinary || pass.every_entry) set_moduli(report.plan, pass.blocking.moduli);
    if (!pass.ordinary && !plan.exact) report.wide_moduli = pass.blocking.moduli;
  }
  return !passes.native;
}

}  // namespace vernier
