// What is known of the operands of a quadruple product before its scales are chosen.
#pragma once

#include "residue/backend.hpp"
#include "residue/quad/dd_tile.hpp"
#include "residue/quad/quad_plan.hpp"

namespace vernier {

static_assert(longest_slice == 16 * step_size);  // k of a slice (engine/panel.hpp)

// What is done with a strip that has been measured, while it lies in a cache; by the thread that measured it. parts:
// for all of k; null: they were not kept.
using StripMeasured =
    std::function<void(std::int64_t first, std::int64_t count, const QuadVector* vectors, const PartStrip* parts)>;

// One read of all elements. Throws Error(Status::unsupported) on binary128 whose exponents no vector of doubles holds.
QuadSide measure_side(const QuadOperand& x, const SchemeBackend<double>& backend, int threads,
                      const StripMeasured& measured = {});

// Vectors 32 at a time, as rounding a block of C to dd reads them.
std::vector<TileVectors> tiles_of(const QuadSide& side);

// A few entries of the product.
std::vector<QuadSample> sample_product(const QuadOperand& a, const QuadSide& rows, const QuadOperand& b,
                                       const QuadSide& columns);

// Of two vectors of k elements in parts: at most sum |x_l| |y_l|, in units of 2^(x_exponent + y_exponent).
struct PartVector {
  double* const* parts;
  int count, exponent;
};
double magnitude_product(const PartVector& x, const PartVector& y, std::int64_t k);

}  // namespace vernier
