#include "product/specials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/instantiate.hpp"
#include "engine/panel.hpp"

namespace vernier {
namespace {

enum Sign : std::uint8_t { plus = 1, minus = 2, undefined = plus | minus };

// Which infinite terms the products of one vector with 32 partners have; both signs, or a NaN, make a NaN.
using Terms = std::array<std::uint8_t, strip_size>;

// Terms of x_l y_l at those l where x is not finite. x: one vector; y: count vectors.
template <class T>
void add_terms(const T* x, std::int64_t x_stride, const Operand<T>& y, std::int64_t first, std::int64_t count,
               Terms& terms) {
  for (std::int64_t l = 0; l < y.k; ++l) {
    const T value = x[l * x_stride];
    if (std::isfinite(value)) continue;
    for (std::int64_t v = 0; v < count; ++v) {
      const T term = value * *y.at(first + v, l);
      terms[static_cast<std::size_t>(v)] |= std::isnan(term) ? undefined : term > 0 ? plus : minus;
    }
    if (std::all_of(terms.begin(), terms.begin() + count, [](std::uint8_t t) { return t == undefined; })) return;
  }
}

template <class T>
T value_of(std::uint8_t terms) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  return terms == plus ? infinity : terms == minus ? -infinity : std::numeric_limits<T>::quiet_NaN();
}

}  // namespace

template <class T>
void patch_specials(const Operand<T>& a, const Operand<T>& b, std::int64_t first_row, std::int64_t first_column,
                    const VectorStatistics* row_statistics, const VectorStatistics* column_statistics, T* tile) {
  const std::int64_t rows = std::min<std::int64_t>(strip_size, a.vectors - first_row);
  const std::int64_t columns = std::min<std::int64_t>(strip_size, b.vectors - first_column);
  std::array<Terms, strip_size> terms{};  // [row][column]
  for (std::int64_t i = 0; i < rows; ++i)
    if (row_statistics[i].nonfinite)
      add_terms(a.at(first_row + i, 0), a.k_stride(), b, first_column, columns, terms[static_cast<std::size_t>(i)]);
  for (std::int64_t j = 0; j < columns; ++j) {
    if (!column_statistics[j].nonfinite) continue;
    Terms column{};
    add_terms(b.at(first_column + j, 0), b.k_stride(), a, first_row, rows, column);
    for (std::int64_t i = 0; i < rows; ++i)
      terms[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] |= column[static_cast<std::size_t>(i)];
  }
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::uint8_t t = terms[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (t != 0) tile[j * strip_size + i] = value_of<T>(t);
    }
}

VERNIER_REAL_INSTANCES(patch_specials)

}  // namespace vernier
