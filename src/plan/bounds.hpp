// What a contract asks of the scales, and the bound that it then promises (docs/accuracy.md).
#pragma once

#include <cstdint>

#include "number/moduli.hpp"
#include "scheme/scaling.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

template <class T>
ScalingRule scaling_rule(const Contract& contract, std::int64_t k);

// log2 of the c in |T - AB| <= c |A||B| (normwise: c |A_i|_2 |B_j|_2) that the contract promises for output type T;
// exact: of the c in |T - AB| <= c |AB|.
template <class T>
double log2_promised_bound(const Contract& contract, std::int64_t k);

// Moduli that ordinary data take under the rule or the contract; 0 if the list has not so many.
int ordinary_moduli(const ScalingRule& rule, std::int64_t k, ModuliList list = ModuliList::densest);
template <class T>
int ordinary_moduli(const Contract& contract, std::int64_t k);

// The rule for products of complex matrices by moduli with a root of -1: that of the contract, but where no bits are
// promised it asks for a sixteenth of a bit less under fp64, which 16 of those moduli hold.
template <class T>
ScalingRule complex_scaling_rule(const Contract& contract, std::int64_t k);

}  // namespace vernier
