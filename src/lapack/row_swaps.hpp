// Exchanges of rows, as a factorisation with pivoting leaves them behind.
#pragma once

#include <cstdint>
#include <utility>

namespace vernier {

enum class SwapOrder { forward, backward };

// Exchanges row i with row pivots[i] - 1 for all i in [first, last), in the columns of A; column by column, each of
// which fits a cache that the rows of a block would not.
template <class T>
void swap_rows(int threads, std::int64_t columns, T* a, std::int64_t lda, std::int64_t first, std::int64_t last,
               const std::int64_t* pivots, SwapOrder order) {
  const std::int64_t count = last - first;
  const bool parallel = threads > 1 && columns * count > (1 << 14);
#pragma omp parallel for num_threads(threads) schedule(static) if (parallel)
  for (std::int64_t j = 0; j < columns; ++j) {
    T* column = a + j * lda;
    for (std::int64_t q = 0; q < count; ++q) {
      const std::int64_t i = order == SwapOrder::forward ? first + q : last - 1 - q;
      std::swap(column[i], column[pivots[i] - 1]);
    }
  }
}

}  // namespace vernier
