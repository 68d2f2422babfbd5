// What products in device memory take, in seconds (docs/performance.md).
#pragma once

#include <initializer_list>

#include "product/plan/gpu_model.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

// share: of all operations, where products leave out zeros.
double device_residue_seconds(const ProductShape& shape, int moduli, bool strassen = false, const GpuModel& gpu = {},
                              double share = 1);
double device_complex_seconds(const ProductShape& shape, int moduli, const GpuModel& gpu = {});  // two modulo each
double device_native_seconds(const ProductShape& shape, bool single_precision, const GpuModel& gpu = {});

double device_bound_seconds(const ProductShape& shape, const GpuModel& gpu = {},
                            double share = 1);  // scales by |A||B|, on Hopper

// A product by residues in so many seconds, and a part of |A||B|, every k that k_step divides, which says whether it
// serves.
double device_guess_seconds(const ProductShape& shape, double residues, int k_step, const GpuModel& gpu);

// Irregular products: one pass for each number of moduli that is not 0.
double irregular_device_seconds(const ProductShape& shape, std::initializer_list<int> moduli, const GpuModel& gpu = {});

// In double precision, launch included.
bool native_ends_before_residues(const ProductShape& shape, const GpuModel& gpu = {});

// Of data that the square-root rule does not serve: is the native product faster than looking at them in vain and going
// by the full rule? Whoever has such data once mostly has them again.
template <class T>
bool full_rule_loses(const ProductShape& shape, const Contract& contract, const GpuModel& gpu = {});

}  // namespace vernier
