// What products in device memory take, in seconds on one H200 (docs/performance.md).
#pragma once

#include <initializer_list>

#include "plan/plan.hpp"

namespace vernier {

double device_residue_seconds(const ProductShape& shape, int moduli, bool strassen = false);
double device_complex_seconds(const ProductShape& shape, int moduli);  // two products modulo each
double device_native_seconds(const ProductShape& shape, bool single_precision);

// Irregular products: one pass for each number of moduli that is not 0.
double irregular_device_seconds(const ProductShape& shape, std::initializer_list<int> moduli);

// In double precision, launch included.
bool native_ends_before_residues(const ProductShape& shape);

// Of data that the lean rule does not serve: is the native product faster than looking at them in vain and going by the
// full rule? Whoever has such data once mostly has them again.
template <class T>
bool full_rule_loses(const ProductShape& shape, const Contract& contract);

}  // namespace vernier
