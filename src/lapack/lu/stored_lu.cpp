#include "lapack/lu/stored_lu.hpp"

#include <algorithm>
#include <bit>

#include "base/instantiate.hpp"
#include "base/workspace.hpp"
#include "lapack/lu/getrf.hpp"

namespace vernier {
namespace {

constexpr std::int64_t block = 256;
constexpr float half_infinity_from = 65520;  // rounds beyond the largest fp16 number

// To nearest even without branches: adding and taking off a power of two rounds at the last bit of fp16.
Half rounded(float x, StoredFp16) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(x), sign = (word >> 16) & 0x8000;
  const float magnitude = std::bit_cast<float>(word & 0x7fffffff);
  if (!(magnitude < half_infinity_from)) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  const std::uint32_t exponent = std::max(std::bit_cast<std::uint32_t>(magnitude) & 0x7f800000, 113u << 23);
  const float magic = std::bit_cast<float>(exponent + (13u << 23));  // 2^13 times the power of two of x
  const float short_magnitude = (magnitude + magic) - magic;
  return {static_cast<std::uint16_t>(sign | std::bit_cast<std::uint32_t>(short_magnitude * 0x1p-112f) >> 13)};
}

// The first bits of a float, to nearest even; a carry goes into the exponent, up to infinity. Of a NaN an infinity.
Brain rounded(float x, StoredBf16) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(x);
  const bool finite = (word & 0x7f800000) != 0x7f800000;
  return {static_cast<std::uint16_t>((finite ? word + 0x7fff + (word >> 16 & 1) : word & 0xff800000) >> 16)};
}

template <class Word>
float to_float(Word x) {
  return static_cast<float>(static_cast<double>(x));
}

bool is_infinite(Half x) { return (x.bits & 0x7c00) == 0x7c00; }
bool is_infinite(Brain x) { return (x.bits & 0x7f80) == 0x7f80; }

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

template <class Word>
void widen(int threads, std::int64_t rows, std::int64_t columns, const Word* from, std::int64_t ld, float* to,
           std::int64_t ld_to) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) to[i + j * ld_to] = to_float(from[i + j * ld]);
}

// Returns whether all of it fits. What was rounded is left in `from`, too: later products take the stored numbers.
template <class Format>
bool narrow(int threads, std::int64_t rows, std::int64_t columns, float* from, std::int64_t ld,
            typename Format::Word* to, std::int64_t ld_to) {
  bool fits = true;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : fits)
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto word = rounded(from[i + j * ld], Format{});
      fits = fits && !is_infinite(word);
      to[i + j * ld_to] = word;
      from[i + j * ld] = to_float(word);
    }
  return fits;
}

// Columns [first, first + width) of A, in the row order so far, receive the updates of all block columns before them.
template <class Format>
bool gather_updates(const Level3<float>& level3, const Buffers& buffers, std::int64_t first, std::int64_t width,
                    typename Format::Word* lu, const std::int64_t* pivots) {
  const std::int64_t n = buffers.n;
  swap_rows(level3.threads(), width, buffers.column, n, 0, first, pivots, SwapOrder::forward);
  for (std::int64_t k = 0; k < first; k += block) {
    const std::int64_t below = n - k - block;
    float* upper = buffers.column + k;
    widen(level3.threads(), n - k, block, lu + k + k * n, n, buffers.left, n - k);
    level3.solve({Side::left, Uplo::lower, Op::none, Diag::unit}, block, width, buffers.left, n - k, upper, n);
    if (!narrow<Format>(level3.threads(), block, width, upper, n, lu + k + first * n, n)) return false;
    level3.subtract_product(
        {Op::none, Op::none, below, width, block, -1, buffers.left + block, n - k, upper, n, 1, upper + block, n});
  }
  return true;
}

}  // namespace

template <class Format>
StoredLu factor_stored_lu(const Level3<float>& level3, std::int64_t n, const ColumnBlock& a, typename Format::Word* lu,
                          std::int64_t* pivots) {
  const Buffers buffers(n);
  StoredLu result;
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t width = std::min(block, n - first), rows = n - first;
    a(first, width, buffers.column);
    result.overflow = !gather_updates<Format>(level3, buffers, first, width, lu, pivots);
    if (result.overflow) return result;
    float* panel = buffers.column + first;
    const std::int64_t info = factor_lu(level3, rows, width, panel, n, pivots + first);
    if (info != 0 && result.info == 0) result.info = info + first;
    for (std::int64_t i = first; i < first + width; ++i) pivots[i] += first;
    swap_rows(level3.threads(), first, lu, n, first, first + width, pivots, SwapOrder::forward);
    result.overflow = !narrow<Format>(level3.threads(), rows, width, panel, n, lu + first + first * n, n);
    if (result.overflow) return result;
  }
  // A pivot that is no zero may have become one.
  for (std::int64_t i = 0; i < n && result.info == 0; ++i)
    if (to_float(lu[i + i * n]) == 0) result.info = i + 1;
  return result;
}

template struct Instances<factor_stored_lu<StoredFp16>, factor_stored_lu<StoredBf16>>;

}  // namespace vernier
