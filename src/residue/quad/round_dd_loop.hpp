// The loops of dd_tile.hpp, compiled once a set of instructions.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "residue/quad/dd_tile.hpp"

namespace vernier {
namespace {

constexpr std::uint64_t bits_of_2_52 = std::uint64_t{0x433} << 52;

// Integers below 2^52 as double, by their bits.
inline double small_integer(std::uint64_t x) { return std::bit_cast<double>(x | bits_of_2_52) - 0x1p52; }
inline double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// An integer of 127 bits and its sign as hi = RN(it) and lo = RN(it - hi); doubt: hi may be the other neighbour.
struct DdOfInteger {
  double hi, lo;
  bool doubt;
};

inline DdOfInteger dd_of_integer(std::uint64_t high, std::uint64_t low) {
  // Three doubles without an error: multiples of 2^76, of 2^24 below 2^76, and the rest.
  const double top = (std::bit_cast<double>((high ^ std::uint64_t{1} << 63) >> 12 | bits_of_2_52) - 0x1.8p52) * 0x1p76,
               middle = small_integer((high & 0xfff) << 40 | low >> 24) * 0x1p24, last = small_integer(low & 0xffffff);
  const double s = top + middle, e = middle - (s - top);
  const double t = e + last, back = t - e, rest = (e - (t - back)) + (last - back);  // e + last = t + rest
  const double hi = s + t, r = t - (hi - s);                                         // s + t = hi + r
  // hi is that of s + t; where r is half a unit, rest decides.
  const bool doubt = (rest != 0) & (hi + r * (1 + 0x1p-50) != hi);
  return {hi, r + rest, doubt};
}

inline double larger(double x, double y) { return x < y ? y : x; }

// One column of a block, by pointers that the loop holds in registers.
struct DdColumn {
  const std::int64_t* high;
  const std::uint64_t* low;
  const int *unit, *row_exponent;
  const double *row_rounded, *row_half_norm, *row_floor;
  double *hi, *lo;
  double rounded, half_norm, floor;  // of the column
  double share, sign;
  int exponent;

  DdColumn(const LeadingTile& tile, const DdTask& task, std::size_t column, DdTile& out)
      : high(tile.high.data() + column * strip_size),
        low(tile.low.data() + column * strip_size),
        unit(tile.exponent.data() + column * strip_size),
        row_exponent(task.rows.exponent.data()),
        row_rounded(task.rows.rounded.data()),
        row_half_norm(task.rows.half_norm.data()),
        row_floor(task.rows.floor.data()),
        hi(out.hi.data() + column * strip_size),
        lo(out.lo.data() + column * strip_size),
        rounded(task.columns.rounded[column]),
        half_norm(task.columns.half_norm[column]),
        floor(task.columns.floor[column]),
        share(task.share),
        sign(task.sign),
        exponent(task.columns.exponent[column] + task.exponent) {}
};

// Row i: 1 if it is open, else 0.
inline std::uint64_t round_entry(const DdColumn& c, std::size_t i) {
  const DdOfInteger x = dd_of_integer(static_cast<std::uint64_t>(c.high[i]), c.low[i]);
  const std::int64_t unit = c.unit[i] - 64, power = unit + c.row_exponent[i] + c.exponent;
  // Bits that were cut off could decide lo where it has few itself (round_to_dd).
  const std::uint64_t cut = ((unit > 0) & (std::fabs(x.lo) < 0x1p56)) != 0 ? c.low[i] & 1 : 0;
  const bool far = (power < -900) | (power > 890);  // T or lo might leave the normal numbers
  const double error = c.row_rounded[i] * c.half_norm + c.rounded * c.row_half_norm[i];
  const double size = std::fabs(x.hi) * power_of_two(unit);
  const bool stands = error <= c.share * larger(size * (1 - 0x1p-40) - 2 * error, c.row_floor[i] * c.floor);
  const double factor = power_of_two(power) * c.sign;
  c.hi[i] = x.hi * factor + 0.0;  // a zero is +0
  c.lo[i] = x.lo * factor + 0.0;
  return cut | ((x.doubt | far | !stands) != 0 ? 1 : 0);
}

inline void round_dd_tile(const LeadingTile& tile, const DdTask& task, DdTile& out) {
  for (std::size_t column = 0; column < strip_size; ++column) {
    const DdColumn c(tile, task, column, out);
    alignas(64) std::uint64_t open[strip_size];
    std::uint64_t any = 0;
#pragma omp simd reduction(| : any)
    for (std::size_t i = 0; i < strip_size; ++i) {
      open[i] = round_entry(c, i);
      any |= open[i];
    }
    out.open[column] = 0;
    for (std::size_t i = 0; any != 0 && i < strip_size; ++i)
      out.open[column] |= static_cast<std::uint32_t>(open[i]) << i;
  }
}

inline void split_dd(const dd* __restrict x, std::int64_t count, double* __restrict hi, double* __restrict lo) {
  for (std::int64_t e = 0; e < count; ++e) {
    const double high = x[e].hi, low = x[e].lo;
    hi[e] = high;
    lo[e] = std::fabs(high) <= std::numeric_limits<double>::max() ? low : 0;
  }
}

inline void join_dd(const double* __restrict hi, const double* __restrict lo, std::int64_t count, dd* __restrict to) {
  for (std::int64_t e = 0; e < count; ++e) to[e].hi = hi[e], to[e].lo = lo[e];
}

constexpr DdLoops dd_loops{round_dd_tile, split_dd, join_dd};

}  // namespace
}  // namespace vernier
