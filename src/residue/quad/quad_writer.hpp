// The entries of a quadruple product: each from its integer to C, or from its products where the integer does not do.
#pragma once

#include <algorithm>
#include <optional>

#include "residue/quad/dd_tile.hpp"
#include "residue/quad/quad_entry.hpp"
#include "residue/quad/quad_gemm.hpp"
#include "residue/quad/quad_statistics.hpp"

namespace vernier {

// Both sides at their scales, and the planes of C.
struct QuadState {
  const QuadSide &a, &b;
  const RecombineTables& tables;
  std::size_t plane_bytes;
};

// A block of entries: its first row and column, their integers and residues.
struct QuadTile {
  std::int64_t i0, j0;
  const LeadingTile& leading;
  const std::int8_t* residues;
};

// A vector of an entry that is looked at: its first `count` elements, of k.
struct HeldVector {
  double* part[most_parts] = {};
  std::int64_t index = -1, count = 0;

  void hold(const QuadOperand& x, std::int64_t vector, int shift, std::int64_t elements) {
    if (index != vector) index = vector, count = 0;
    if (count < elements) x.vector(vector, shift, {count, elements - count}, part);
    count = std::max(count, elements);
  }
};

// Of one thread.
struct EntryMemory {
  HeldVector row, column;
  std::int64_t looked_at = 0, summed = 0;
};

template <class TC>
class QuadWriter {
 public:
  QuadWriter(const QuadProblem<TC>& problem, const QuadState& state)
      : p_(problem), s_(state), update_(quad_update(problem.alpha, problem.beta)), k_(problem.a.k) {}

  // Whether all entries of a tile are rounded to dd at once, before those that this leaves open.
  bool rounds_tiles() const { return direction() == Rounding::nearest && !(p_.goal.exact() && !update_.only_rounded); }
  DdTask task(const TileVectors& rows, const TileVectors& columns) const {
    const bool turned = update_.only_rounded;
    return {rows, columns, p_.goal.exact() ? 0 : allowed_share(), turned ? exponent_of_value(p_.alpha) : 0,
            turned && p_.alpha < 0 ? -1.0 : 1.0};
  }

  void put(const QuadTile& tile, const DdTile& rounded, const DdLoops& loops, EntryMemory& memory) {
    for (std::int64_t y = 0; y < columns_of(tile); ++y) {
      const std::uint32_t open = rounded.open[static_cast<std::size_t>(y)];
      if (open == 0 && update_.only_rounded) {
        const auto first = static_cast<std::size_t>(y * strip_size);
        loops.join(&rounded.hi[first], &rounded.lo[first], rows_of(tile), &p_.c[tile.i0 + (tile.j0 + y) * p_.ldc]);
        continue;
      }
      for (std::int64_t x = 0; x < rows_of(tile); ++x) {
        if ((open >> x & 1) != 0) {
          write(tile, x, y, memory);
          continue;
        }
        const auto e = static_cast<std::size_t>(y * strip_size + x);
        const TC t(rounded.hi[e], rounded.lo[e]);
        TC& c = p_.c[tile.i0 + x + (tile.j0 + y) * p_.ldc];
        if (update_.only_rounded)
          c = t;
        else
          update_quad(update_, t, c);
      }
    }
  }

  void write_all(const QuadTile& tile, EntryMemory& memory) {
    for (std::int64_t y = 0; y < columns_of(tile); ++y)
      for (std::int64_t x = 0; x < rows_of(tile); ++x) write(tile, x, y, memory);
  }

  // leading: the entry's integer; residues: its own, plane_bytes apart.
  void write(std::int64_t i, std::int64_t j, const WideNumber& leading, const std::int8_t* residues, TC& c,
             EntryMemory& memory) {
    if (row(i).nonfinite || column(j).nonfinite) {
      const TC special = from_double(special_sum(i, j, memory), type());
      return update_quad(update_, special, c);
    }
    const QuadScale &r = s_.a.scales[static_cast<std::size_t>(i)], &s = s_.b.scales[static_cast<std::size_t>(j)];
    const int exponent = row(i).shift + column(j).shift - r.scale - s.scale;  // of Ct's unit
    const double error = quad_error(r.error, s.error);
    if (p_.goal.exact() && !update_.only_rounded) {
      const int shift = row(i).shift + column(j).shift;
      return update_exactly(exact_product_of(i, j, error, residues, exponent - shift, memory), shift, p_.alpha, p_.beta,
                            direction(), c);
    }
    std::optional<TC> t;
    if (p_.goal.exact() ? error == 0 : error == 0 || holds(leading, error, r.error.floor * s.error.floor))
      t = rounded_leading(leading, residues, exponent);
    else if (p_.goal.exact())
      t = rounded_interval_of(leading, error, exponent);
    else if (holds_by_magnitude(i, j, error, r, s, memory))
      t = rounded_leading(leading, residues, exponent);
    if (!t) {
      ++memory.summed;
      LongAccumulator sum = exact_sum_of(i, j, memory);
      if (update_.only_rounded) sum.multiply(p_.alpha);
      t = rounded_sum(sum, row(i).shift + column(j).shift, direction(), type());
    }
    if (update_.only_rounded)
      c = *t;
    else
      update_quad(update_, *t, c);
  }

 private:
  std::int64_t rows_of(const QuadTile& t) const { return std::min<std::int64_t>(strip_size, p_.a.vectors - t.i0); }
  std::int64_t columns_of(const QuadTile& t) const { return std::min<std::int64_t>(strip_size, p_.b.vectors - t.j0); }

  void write(const QuadTile& tile, std::int64_t x, std::int64_t y, EntryMemory& memory) {
    const auto e = static_cast<std::size_t>(y * strip_size + x);
    const int unit = tile.leading.exponent[e] - 64;
    const std::uint64_t high = static_cast<std::uint64_t>(tile.leading.high[e]), low = tile.leading.low[e];
    write(tile.i0 + x, tile.j0 + y,
          {static_cast<Int128>(static_cast<Uint128>(high) << 64 | low), unit, unit > 0 && (low & 1) != 0},
          tile.residues + residue_index(static_cast<int>(x), static_cast<int>(y)),
          p_.c[tile.i0 + x + (tile.j0 + y) * p_.ldc], memory);
  }

  const QuadVector& row(std::int64_t i) const { return s_.a.vectors[static_cast<std::size_t>(i)]; }
  const QuadVector& column(std::int64_t j) const { return s_.b.vectors[static_cast<std::size_t>(j)]; }
  static TC* type() { return nullptr; }
  Rounding direction() const { return p_.goal.exact() ? p_.rounding : Rounding::nearest; }

  // The error is within what the contract allows of |Ct| itself, or of the floor under |A||B|.
  bool holds(const WideNumber& x, double error, double floor) const {
    const double size = std::fabs(round_wide<double>(x.value, x.exponent));
    return error <= allowed_share() * std::max(size * (1 - 0x1p-40) - 2 * error, floor);
  }
  bool holds_by_magnitude(std::int64_t i, std::int64_t j, double error, const QuadScale& r, const QuadScale& s,
                          EntryMemory& memory) {
    ++memory.looked_at;
    for (std::int64_t count = std::min(first_look, k_);; count = k_) {
      fetch(i, j, count, memory);
      const double magnitude = magnitude_product({memory.row.part, s_.a.parts, row(i).exponent},
                                                 {memory.column.part, s_.b.parts, column(j).exponent}, count);
      if (error <= allowed_share() * std::ldexp(magnitude, r.exponent + s.exponent)) return true;
      if (count == k_) return false;
    }
  }
  double allowed_share() const { return std::ldexp(static_cast<double>(k_), -p_.goal.bits) * (1 - 0x1p-30); }

  void fetch(std::int64_t i, std::int64_t j, std::int64_t count, EntryMemory& memory) const {
    memory.row.hold(p_.a, i, row(i).shift, count);
    memory.column.hold(p_.b, j, column(j).shift, count);
  }

  std::optional<TC> rounded_leading(WideNumber x, const std::int8_t* residues, int exponent) const {
    x.exponent += exponent;
    turn(x);
    if (auto t = round_wide_to(x, direction(), type())) return t;
    const SignedInteger whole = recombine_entry(s_.tables, residues, s_.plane_bytes);
    LongAccumulator sum;  // of dd in its own unit
    const int unit = std::is_same_v<TC, dd> ? exponent : -1500;
    sum.add(whole.negative, whole.magnitude.limb, unit);
    if (update_.only_rounded) sum.multiply(p_.alpha);
    return rounded_sum(sum, exponent - unit, direction(), type());
  }

  // The one number that all of the interval rounds to.
  std::optional<TC> rounded_interval_of(const WideNumber& x, double error, int exponent) const {
    const double radius = std::ceil(std::ldexp(error, -x.exponent)) + (x.cut ? 2 : 1);
    if (radius >= 0x1p100 || magnitude_of(x.value) >= (Uint128{1} << 127) - static_cast<Uint128>(radius))
      return std::nullopt;
    std::optional<TC> ends[2];
    for (const int side : {0, 1}) {
      WideNumber end{x.value + (side == 0 ? -1 : 1) * static_cast<Int128>(radius), x.exponent + exponent, false};
      turn(end);
      ends[side] = round_wide_to(end, direction(), type());
    }
    return ends[0] && ends[1] && same_bits(*ends[0], *ends[1]) ? ends[0] : std::nullopt;
  }

  // Times alpha, a power of two, where nothing else follows.
  void turn(WideNumber& x) const {
    if (!update_.only_rounded) return;
    if (p_.alpha < 0) x.value = -x.value;
    x.exponent += exponent_of_value(p_.alpha);
  }

  LongAccumulator exact_sum_of(std::int64_t i, std::int64_t j, EntryMemory& memory) const {
    fetch(i, j, k_, memory);
    LongAccumulator sum;
    for (int p = 0; p < s_.a.parts; ++p)
      for (int q = 0; q < s_.b.parts; ++q)
        for (std::int64_t l = 0; l < k_; ++l) sum.add_product(memory.row.part[p][l], memory.column.part[q][l]);
    return sum;
  }

  LongAccumulator exact_product_of(std::int64_t i, std::int64_t j, double error, const std::int8_t* residues,
                                   int exponent, EntryMemory& memory) const {
    LongAccumulator sum;
    if (error == 0) {
      const SignedInteger whole = recombine_entry(s_.tables, residues, s_.plane_bytes);
      sum.add(whole.negative, whole.magnitude.limb, exponent);
    } else {
      ++memory.summed;
      sum = exact_sum_of(i, j, memory);
    }
    return sum;
  }

  // Of the products with a NaN or an infinity.
  double special_sum(std::int64_t i, std::int64_t j, EntryMemory& memory) const {
    fetch(i, j, k_, memory);
    double sum = 0;
    for (std::int64_t l = 0; l < k_; ++l) {
      double x = memory.row.part[0][l], y = memory.column.part[0][l];
      if (s_.a.parts == 2) x += memory.row.part[1][l];
      if (s_.b.parts == 2) y += memory.column.part[1][l];
      if (!std::isfinite(x) || !std::isfinite(y)) sum += x * y;
    }
    return sum;
  }

  const QuadProblem<TC>& p_;
  const QuadState& s_;
  const QuadUpdate update_;
  const std::int64_t k_;
};

}  // namespace vernier
