// What every plan of a product by residues, or natively, has.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

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

// Of any type with these members: the scheme, its moduli and the blocks of most data, no larger than the product.
template <class Blocks>
void describe_residues(CommonPlan& plan, std::string_view engine, int moduli, const Blocks& blocks) {
  Plan& p = plan.printable;
  p.scheme = "residues";
  p.engine = std::string(engine);
  p.moduli = moduli;
  p.log2_modulus_product = log2_product_of_moduli(moduli);
  p.m_block = std::min(blocks.m_block, plan.shape.m);
  p.n_block = std::min(blocks.n_block, plan.shape.n);
  p.k_block = std::min(blocks.k_block, plan.shape.k);
  p.workspace = plan.vector_bytes + plan.pass_bytes;
}

}  // namespace vernier
