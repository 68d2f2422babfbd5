// NaN and infinity in a product, as the conventional product has them: 0 * inf = NaN, inf - inf = NaN.
#pragma once

#include <cstdint>

#include "product/operand.hpp"
#include "product/statistics.hpp"

namespace vernier {

// Overwrites those entries of the 32 x 32 tile (tile[column * 32 + row], row 0 is row first_row of the product) whose
// row of a or column of b holds a NaN or an infinity that shows. row_statistics and column_statistics belong to the
// tile's vectors.
template <class T>
void patch_specials(const Operand<T>& a, const Operand<T>& b, std::int64_t first_row, std::int64_t first_column,
                    const VectorStatistics* row_statistics, const VectorStatistics* column_statistics, T* tile);

}  // namespace vernier
