#include <cmath>

#include "product/exact/combined_sum.hpp"
#include "residue/exact/exact_loop.hpp"

namespace vernier {
namespace {

inline double entry_error(const TileErrors& e, int i, int j) {
  return entry_error(VectorError{e.row.rounding[i], e.row.half_norm[i], e.row.largest[i]},
                     VectorError{e.column.rounding[j], e.column.half_norm[j], e.column.largest[j]});
}

// Theorem 6: T of entry (i, j) as a bracket; nothing if it is hopelessly wide.
template <class T>
std::optional<Bracket> product_bracket(const ExactTile<T>& tile, const LeadingTile& integers, int i, int j,
                                       bool only_rounded) {
  const auto at = static_cast<std::size_t>(j * strip_size + i);
  const int unit = integers.exponent[at] - 64;  // of low's last bit, in units of C
  const auto value =
      static_cast<Int128>(static_cast<Uint128>(static_cast<std::uint64_t>(integers.high[at])) << 64 | integers.low[at]);
  const bool cut = unit > 0 && (integers.low[at] & 1) != 0;
  std::optional<Bracket> b = error_bracket(value, unit, cut, entry_error(tile.errors, i, j), only_rounded);
  if (b) b->exponent -= tile.row_scales[i] + tile.column_scales[j];
  return b;
}

}  // namespace

template <class T>
std::optional<T> decided_entry(const ExactTile<T>& tile, const LeadingTile& integers, int i, int j) {
  const bool only_rounded = tile.to.beta == 0 && is_power_of_two(tile.to.alpha);
  const std::optional<Bracket> product = product_bracket(tile, integers, i, j, only_rounded);
  return product ? combined(*product, tile.to.alpha, tile.to.beta, tile.to.c + i + j * tile.to.ldc, tile.rounding)
                 : std::nullopt;
}

template <class T>
void round_tile_portable(const ExactTile<T>& tile, const LeadingTile& integers, EntryMask& undecided) {
  undecided.fill(0);
  for (int j = 0; j < strip_size; ++j)
    for (int i = 0; i < strip_size; ++i) {
      if ((tile.rows >> i & tile.columns >> j & 1) == 0) continue;
      if (const std::optional<T> result = decided_entry(tile, integers, i, j))
        tile.to.c[i + j * tile.to.ldc] = *result;
      else
        undecided[static_cast<std::size_t>(j)] |= std::uint32_t{1} << i;
    }
}

template <class T>
std::optional<T> refined_entry(const CompensatedSum& products, int product_scale, T alpha, T beta, const T* c,
                               Rounding rounding) {
  if (std::isfinite(alpha) && !finite_update(beta, c)) return beta * *c;
  // The rest to the last bit that its error leaves standing, with enough of them for the error itself.
  const int least = LongAccumulator::lowest + 64 + product_scale;
  const int unit = products.error == 0 ? least : std::max(std::ilogb(products.error) - 40, least);
  const double kept = std::nearbyint(std::ldexp(products.rest, -unit));
  if (!(std::abs(kept) < 0x1p100)) return std::nullopt;
  const bool cut = std::ldexp(kept, unit) != products.rest;
  const auto value = static_cast<Int128>(kept);
  const auto radius =
      static_cast<Uint128>(std::ceil(std::ldexp(products.error, -unit))) + static_cast<Uint128>(cut ? 1 : 0);
  const DoubleParts leading = parts_of(products.sum);
  LongAccumulator sum;
  // Not below a bit of a product. A zero has no exponent.
  if (leading.significand != 0) sum.add(leading.negative, leading.significand, leading.exponent - product_scale);
  add_fixed(sum, value < 0, magnitude_of(value), unit - product_scale);
  return combined_interval(sum, radius, unit - product_scale, alpha, beta, c, rounding);
}

template <class T>
T accumulated_entry(const VectorPair<T>& p, T alpha, T beta, const T* c, Rounding rounding) {
  LongAccumulator sum;
  for (std::int64_t l = 0; l < p.k; ++l)
    sum.add_product(static_cast<double>(p.row[l * p.row_stride]), static_cast<double>(p.column[l * p.column_stride]));
  return combined_sum(sum, alpha, beta, c, rounding);
}

VERNIER_REAL_INSTANCES(round_tile_portable, decided_entry, refined_entry, accumulated_entry)

}  // namespace vernier

VERNIER_EXACT_LOOPS_OF(portable)
