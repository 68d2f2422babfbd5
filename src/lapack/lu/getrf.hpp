// The work of getrf and getrs, without the checks, and exchanges of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lapack/level3.hpp"

namespace vernier {

template <class T>
std::int64_t factor_lu(const Level3<T>& level3, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                       std::int64_t* pivots);

// The same of a square of some thousand rows, by products of one thread each: threads take block columns as they become
// ready, and meet at the end alone.
std::int64_t factor_lu_ahead(const Options& options, std::int64_t n, double* a, std::int64_t lda, std::int64_t* pivots);

// As getrf leaves them.
template <class T>
struct LuInPlace {
  std::int64_t n;
  const T* a;
  std::int64_t lda;
  const std::int64_t* pivots;
};

// B becomes X of op(A) X = B.
template <class T>
void solve_with_lu(const Level3<T>& level3, Op op, const LuInPlace<T>& lu, std::int64_t nrhs, T* b, std::int64_t ldb);

enum class SwapOrder { forward, backward };

// Exchanges row i with row pivots[i] - 1 for all i in [first, last), in the columns of A: a few columns at a time,
// which fit a cache that the rows of a block would not.
template <class T>
void swap_rows(int threads, std::int64_t columns, T* a, std::int64_t lda, std::int64_t first, std::int64_t last,
               const std::int64_t* pivots, SwapOrder order) {
  constexpr std::int64_t together = 4;
  const std::int64_t count = last - first, groups = (columns + together - 1) / together;
  const bool parallel = threads > 1 && columns * count > (1 << 16);
#pragma omp parallel for num_threads(threads) schedule(static) if (parallel)
  for (std::int64_t g = 0; g < groups; ++g) {
    T* group = a + g * together * lda;
    const std::int64_t width = std::min(together, columns - g * together);
    for (std::int64_t q = 0; q < count; ++q) {
      const std::int64_t i = order == SwapOrder::forward ? first + q : last - 1 - q, p = pivots[i] - 1;
      if (p == i) continue;
      for (std::int64_t j = 0; j < width; ++j) std::swap(group[i + j * lda], group[p + j * lda]);
    }
  }
}

}  // namespace vernier
