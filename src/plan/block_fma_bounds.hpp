// Error bounds of products and factorisations on block FMAs: Blanchard, Higham, Lopez, Mary and Pranesh (2020).
#pragma once

#include <cstdint>

namespace vernier {

// Unit roundoffs of an engine that adds b products to C in one instruction; 0 means exact.
struct BlockFmaUnits {
  double low;  // of its inputs
  double mul, add, fma;
  int b = 4;
};

// To first order, the c in |C - AB| <= c |A||B| with inner dimension k:
//     [2 u_low] + (k / b) u_FMA + (b - 1) u_add + u_mul           the first term where A and B are rounded to u_low
//     first
double block_fma_first_order(const BlockFmaUnits& units, std::int64_t k, bool converted);

// The same with all orders: t / (1 - t) of the sum t of the unit roundoffs that a term meets; infinite for t >= 1.
// Holds as long as nothing underflows.
double block_fma_bound(const BlockFmaUnits& units, std::int64_t k, bool converted);

// The c in |PA - LU| <= c |L||U| for LU of order n whose products run on the engine and whose panels, `panel` columns
// wide, are factorised in u_panel: each term meets the roundings of its block FMA, of all sums after it, and of one
// panel (Higham 2002, Lemma 8.4). `stored`: unit roundoff of L and U where they are rounded once more when stored.
double block_lu_bound(const BlockFmaUnits& units, std::int64_t n, std::int64_t panel, double u_panel, double stored);

// Rows of the paper's table, leading terms only. `standard`: no block FMA, all in one precision.
enum class FmaKind { standard_low, low_low, low_high, low_exact, high_low, high_high, high_exact, standard_high };
double block_fma_table(FmaKind kind, std::int64_t k, int b, double u_low, double u_high);

}  // namespace vernier
