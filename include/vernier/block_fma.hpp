// Block fused multiply-adds (Blanchard, Higham, Lopez, Mary and Pranesh 2020): error bounds of products and LU, and LU
// as a modelled engine would compute it. model.hpp has the engines: block_fma() describes one of any precisions.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/model.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// ---- bounds --------------------------------------------------------------------------------------------------------

// Unit roundoffs of an engine that adds b products to C in one instruction; 0 means exact.
struct BlockFmaUnits {
  double low;  // of its inputs
  double mul, add, fma;
  int b = 4;
};

// To first order, the c in |C - AB| <= c |A||B| with inner dimension k:
//     [2 u_low] + (k / b) u_FMA + (b - 1) u_add + u_mul           the first term if `converted`, from higher precision
VERNIER_API double block_fma_first_order(const BlockFmaUnits& units, std::int64_t k, bool converted);

// The same with all orders: t / (1 - t) of the sum t of the unit roundoffs that a term meets; infinite for t >= 1.
// Holds as long as nothing underflows.
VERNIER_API double block_fma_bound(const BlockFmaUnits& units, std::int64_t k, bool converted);

// The c in |PA - LU| <= c |L||U| for LU of order n whose products run on the engine and whose panels, `panel` columns
// wide, are factorised in u_panel: each term meets the roundings of its block FMA, of all sums after it, and of one
// panel (Higham 2002, Lemma 8.4). `stored`: unit roundoff of L and U where they are rounded once more when stored.
VERNIER_API double block_lu_bound(const BlockFmaUnits& units, std::int64_t n, std::int64_t panel, double u_panel,
                                  double stored);

// Rows of the paper's table, leading terms only. `standard`: no block FMA, all in one precision.
enum class FmaKind { standard_low, low_low, low_high, low_exact, high_low, high_high, high_exact, standard_high };
VERNIER_API double block_fma_table(FmaKind kind, std::int64_t k, int b, double u_low, double u_high);

// ---- LU with partial pivoting on modelled engines: bit for bit, on any CPU ------------------------------------------

// Numbers of a format, held in double: column-major, n x n.
struct ModelledLu {
  std::vector<double> lu;
  std::vector<std::int64_t> pivots;  // from 1
  std::int64_t info = 0;             // as of getrf
};

struct ModelledScheme {
  model::Engine engine;  // of the products; its format of c is that of all other arithmetic, each operation rounded
  // Panels of `outer` columns. Inside them small panels of `inner` columns are factorised by scalar operations, and all
  // products are the engine's: the double panel hierarchy. inner = outer is a panel without the engine; the plain
  // right-looking algorithm of the papers has inner = outer = b.
  std::int64_t outer = 64, inner = 4;
};

// L and U in the format of c.
VERNIER_API ModelledLu modelled_right_looking_lu(const ModelledScheme& scheme, std::int64_t n, const double* a,
                                                 std::int64_t lda);

// L and U in the format of the engine's inputs; a buffer of one block column, `outer` wide, in the format of c collects
// all updates before it is factorised and rounded once.
VERNIER_API ModelledLu modelled_left_looking_lu(const ModelledScheme& scheme, std::int64_t n, const double* a,
                                                std::int64_t lda);

}  // namespace vernier
