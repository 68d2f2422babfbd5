// Correct rounding from the integers of the residue scheme: what rounding the operands to integers may have cost, which
// entries round to one number nevertheless, and two better looks at those that do not (docs/accuracy.md, theorems 6 to
// 8).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "number/bracket.hpp"
#include "product/exact/entry.hpp"
#include "product/operand.hpp"
#include "residue/recombine/recombine.hpp"

namespace vernier {

// Of a vector's finite elements: the exponent of the lowest bit that is set, no_lowest_bit if all are zero, so that 2^s
// x is a vector of integers exactly if s + lowest_bit >= 0; and how many elements the given scale does not make
// integers.
inline constexpr int no_lowest_bit = 1 << 20;
struct LowestBits {
  int exponent = no_lowest_bit;
  std::int64_t inexact = 0;
};

// Vectors 0 .. vectors - 1 of the view, 32 at most.
template <class T>
void find_lowest_bits_portable(const Operand<T>& view, const int* scales, LowestBits* out);

// The errors of 32 rows, lengthened, or of 32 columns, as arrays.
struct ErrorArrays {
  const double *rounding, *half_norm, *largest;
};
struct TileErrors {
  ErrorArrays row, column;
};

// Rounded once, on one block of 32 x 32. Bit i of rows and bit j of columns: does entry (i,
// j) take part?
template <class T>
struct ExactTile {
  Output<T> to;  // from the block's first entry on
  std::uint32_t rows, columns;
  const int *row_scales, *column_scales;
  TileErrors errors;
  Rounding rounding = Rounding::nearest;
};

using EntryMask = std::array<std::uint32_t, strip_size>;  // of a block: bit i of [j]

// Writes the entries that are decided; the others are set in undecided, which is overwritten.
template <class T>
void round_tile_portable(const ExactTile<T>& tile, const LeadingTile& integers, EntryMask& undecided);

// ---- one entry ------------------------------------------------------------------------------------------------------

// Entry (i, j) of a block, as round_tile decides it; nothing if it stays open.
template <class T>
std::optional<T> decided_entry(const ExactTile<T>& tile, const LeadingTile& integers, int i, int j);

template <class T>
struct VectorPair {
  const T *row, *column;
  std::int64_t row_stride = 1, column_stride = 1;
  std::int64_t k = 0;
  int row_scale = 0, column_scale = 0;
  bool underflows = true;  // scaled elements, or the last bits of their products, may
};

// The second look: all products in double and, beside them, what their roundings took (Ogita, Rump and Oishi, "Accurate
// sum and dot product", 2005). With elements scaled to below 2^481, so that no sum of 2^40 products overflows, their
// sum is sum + rest to within error: 0 where nothing was rounded.
inline constexpr int compensated_exponent = 480;  // of the largest scaled element
struct CompensatedSum {
  double sum = 0, rest = 0, error = 0;
};
template <class T>
CompensatedSum compensated_portable(const VectorPair<T>& pair);
template <class T>
std::optional<T> refined_entry(const CompensatedSum& products, int product_scale, T alpha, T beta, const T* c,
                               Rounding rounding);

// The last: all products, added exactly. Operands, alpha and beta are finite.
template <class T>
T accumulated_entry(const VectorPair<T>& pair, T alpha, T beta, const T* c, Rounding rounding);

}  // namespace vernier
