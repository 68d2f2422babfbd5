// What a contract asks of the scales, and the bound that it then promises (docs/accuracy.md).
#pragma once

#include <cstdint>
#include <optional>

#include "number/moduli.hpp"
#include "product/plan/native_cost.hpp"
#include "residue/bound/bound_scales.hpp"
#include "residue/scale/scaling.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

template <class T>
ScalingRule scaling_rule(const Contract& contract, std::int64_t k);

// Contract exact with a given number of moduli.
template <class T>
ScalingRule exact_rule(int moduli, std::int64_t k);

// A rule with fewer moduli that serves contract fp64 wherever it leaves no entry wide, which it does for ordinary data
// and long k: |T - AB| <= (32 sqrt(k) + 1) u64 |A||B|, at the scales of fp64-normwise. None for short k, other
// contracts, and reproducible results, which have one rule.
template <class T>
std::optional<ScalingRule> sqrt_rule(const Contract& contract, std::int64_t k);

// What the product of |A| and |B| is asked for, where statistics leave entries without proof: for contracts that
// promise no bits. chain: of the native product, whose errors those of fp64 and fp32 stay below
// (residue/bound/bound_scales.hpp).
inline constexpr std::int64_t native_chain = 256;
template <class T>
std::optional<BoundRule> bound_rule(const Contract& contract, std::int64_t k, std::int64_t chain = native_chain);

// What a CPU tries first under fp64 where nobody asked for definite bits: operands with factors
// (residue/scale/scaling.hpp), at scales that bound |Ct| by less than P where a proof wants P / 2
// (docs/accuracy.md, theorem 11).
struct SpeculativeProduct {
  static constexpr int moduli = 14;
  static constexpr std::int64_t least_k = 512, most_k = 2048;  // beyond, 14 moduli lose more than OpenBLAS does

  ScalingRule rule;
  double largest_cosine;  // of the angle between a row and a column, for entries half as large as may be
  double certain;         // P less the bound: |Ct| below it has not wrapped; other entries take one modulus more
};
template <class T>
std::optional<SpeculativeProduct> speculative_product(const Contract& contract, std::int64_t k);

// log2 of the c in |T - AB| <= c |A||B| (normwise: c |A_i|_2 |B_j|_2) that the contract promises for output type T;
// exact: of the c in |T - AB| <= c |AB|.
template <class T>
double log2_promised_bound(const Contract& contract, std::int64_t k);

// What a plan says of the product that is asked for.
template <class T>
void describe_product(const ProductShape& shape, const Contract& contract, Plan& plan);

// Moduli that hold the ordinary entries of a rule; 0 if the list has not so many.
int moduli_of(const ScalingRule& rule, std::int64_t k, ModuliList list = ModuliList::densest);

// ... and so those that ordinary data take under the contract.
template <class T>
int ordinary_moduli(const Contract& contract, std::int64_t k);

// The rule with norms as large as so many moduli hold, whatever this proves (theorem 3).
ScalingRule with_norms_of(ScalingRule rule, int moduli, std::int64_t k);

// The rule for products of complex matrices by moduli with a root of -1: the square-root rule if there is one, else
// that of the contract, but where no bits are promised with a sixteenth of a bit less under fp64, so that 16 of those
// moduli hold it.
template <class T>
ScalingRule complex_scaling_rule(const Contract& contract, std::int64_t k);

}  // namespace vernier
