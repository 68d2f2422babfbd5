#include "lapack/half_lu.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/workspace.hpp"
#include "lapack/getrf.hpp"
#include "lapack/row_swaps.hpp"

namespace vernier {
namespace {

constexpr std::int64_t block = 256;
constexpr float half_infinity_from = 65520;  // rounds beyond the largest fp16 number

// To nearest even without branches: adding and taking off a power of two rounds at the last bit of fp16.
Half to_half(float x) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(x), sign = (word >> 16) & 0x8000;
  const float magnitude = std::bit_cast<float>(word & 0x7fffffff);
  if (!(magnitude < half_infinity_from)) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  const std::uint32_t exponent = std::max(std::bit_cast<std::uint32_t>(magnitude) & 0x7f800000, 113u << 23);
  const float magic = std::bit_cast<float>(exponent + (13u << 23));  // 2^13 times the power of two of x
  const float rounded = (magnitude + magic) - magic;
  return {static_cast<std::uint16_t>(sign | std::bit_cast<std::uint32_t>(rounded * 0x1p-112f) >> 13)};
}

float to_float(Half x) { return static_cast<float>(static_cast<double>(x)); }

struct Buffers {
  std::int64_t n;
  Workspace memory;
  float *column, *left;  // the block column at work; a block of L as floats

  explicit Buffers(std::int64_t rows)
      : n(rows),
        memory(static_cast<std::size_t>(2 * rows * block) * sizeof(float)),
        column(reinterpret_cast<float*>(memory.data())),
        left(column + rows * block) {}
};

void widen(int threads, std::int64_t rows, std::int64_t columns, const Half* from, std::int64_t ld, float* to,
           std::int64_t ld_to) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) to[i + j * ld_to] = to_float(from[i + j * ld]);
}

// Returns whether all of it fits. What was rounded is left in `from`, too: later products take the stored numbers.
bool narrow(int threads, std::int64_t rows, std::int64_t columns, float* from, std::int64_t ld, Half* to,
            std::int64_t ld_to) {
  bool fits = true;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : fits)
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const Half h = to_half(from[i + j * ld]);
      fits = fits && (h.bits & 0x7c00) != 0x7c00;
      to[i + j * ld_to] = h;
      from[i + j * ld] = to_float(h);
    }
  return fits;
}

// Columns [first, first + width) of A, in the row order so far, receive the updates of all block columns before them.
bool gather_updates(const Level3<float>& level3, const Buffers& buffers, std::int64_t first, std::int64_t width,
                    Half* lu, const std::int64_t* pivots) {
  const std::int64_t n = buffers.n;
  swap_rows(level3.threads(), width, buffers.column, n, 0, first, pivots, SwapOrder::forward);
  for (std::int64_t k = 0; k < first; k += block) {
    const std::int64_t below = n - k - block;
    float* upper = buffers.column + k;
    widen(level3.threads(), n - k, block, lu + k + k * n, n, buffers.left, n - k);
    level3.solve({Side::left, Uplo::lower, Op::none, Diag::unit}, block, width, buffers.left, n - k, upper, n);
    if (!narrow(level3.threads(), block, width, upper, n, lu + k + first * n, n)) return false;
    level3.subtract_product(Op::none, Op::none, below, width, block, buffers.left + block, n - k, upper, n,
                            upper + block, n);
  }
  return true;
}

}  // namespace

HalfLu factor_half_lu(const Level3<float>& level3, std::int64_t n, const ColumnBlock& a, Half* lu,
                      std::int64_t* pivots) {
  const Buffers buffers(n);
  HalfLu result;
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t width = std::min(block, n - first), rows = n - first;
    a(first, width, buffers.column);
    result.overflow = !gather_updates(level3, buffers, first, width, lu, pivots);
    if (result.overflow) return result;
    float* panel = buffers.column + first;
    const std::int64_t info = factor_lu(level3, rows, width, panel, n, pivots + first);
    if (info != 0 && result.info == 0) result.info = info + first;
    for (std::int64_t i = first; i < first + width; ++i) pivots[i] += first;
    swap_rows(level3.threads(), first, lu, n, first, first + width, pivots, SwapOrder::forward);
    result.overflow = !narrow(level3.threads(), rows, width, panel, n, lu + first + first * n, n);
    if (result.overflow) return result;
  }
  // A pivot that is no zero may have become one in fp16.
  for (std::int64_t i = 0; i < n && result.info == 0; ++i)
    if ((lu[i + i * n].bits & 0x7fff) == 0) result.info = i + 1;
  return result;
}

}  // namespace vernier
