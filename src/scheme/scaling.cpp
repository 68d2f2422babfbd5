#include "scheme/scaling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "number/int128.hpp"
#include "scheme/block_spans.hpp"

namespace vernier {
namespace {

// In all of this file "bits" count in halves where a name ends in _2. Statements refer to docs/accuracy.md.

constexpr int unreachable = 1 << 24;

// A vector whose flatness costs more than this (in half bits) is wide: it does not set the pace for the others.
constexpr int ordinary_roughness_2 = 12;

// A larger share of wide entries than this makes all of them wide: blocks of C are multiplied whole, so that scattered
// wide vectors would have nearly all of C multiplied twice.
constexpr double most_wide_entries = 1.0 / 16;

// floor(2^(62 + f / 16))
constexpr std::array<std::uint64_t, 16> sixteenth_powers = {
    4611686018427387904u, 4815862801830788490u, 5029079263719320435u, 5251735624851448219u,
    5484249825272419511u, 5727058308814112982u, 5980616842327661685u, 6245401371186603363u,
    6521908912666391106u, 6810658488877194079u, 7112192101001162094u, 7427075746662858865u,
    7755900482342532474u, 8099283532826439816u, 8457869449776733335u, 8832331321595618838u};

int floor_log2(std::uint64_t x) { return static_cast<int>(std::bit_width(x)) - 1; }

int floor_twice_log2(std::int64_t k) {
  const Uint128 square = static_cast<Uint128>(k) * static_cast<Uint128>(k);
  const auto high = static_cast<std::uint64_t>(square >> 64);
  return high != 0 ? 64 + floor_log2(high) : floor_log2(static_cast<std::uint64_t>(square));
}

// 2 log2 of (1-norm / (k maximum)) in half bits, rounded up: the smallest t with sum^2 <= k^2 4^quantum_bits 2^t; t
// <= 2.
int mean_2(const VectorStatistics& v, std::int64_t k) {
  const auto n = static_cast<Uint128>(k);
  const Uint128 mean = static_cast<Uint128>(v.sum) * v.sum, full = (n * n) << (2 * quantum_bits);
  int t = 2;
  while (t > -64 && (t > 1 ? mean <= full << (t - 1) : mean << (1 - t) <= full)) --t;
  return t;
}

struct Needs {
  int exact = unreachable;   // scaled exponent from which every element is an integer
  int own = unreachable;     // ... from which the rounding is small against each element
  int flat_2 = unreachable;  // ... against flat partners, before their roughness is added
  int roughness_2 = unreachable;
  int blocks = unreachable;  // ... by block spans, against all partners
  int ordinary = 0;          // scaled exponent of the ordinary scale
};

class Chooser {
 public:
  Chooser(const ScalingRule& rule, std::int64_t k) : rule_(rule), k_(k), twice_log2_k_(floor_twice_log2(k)) {
    guard_ = floor_log2(static_cast<std::uint64_t>(k)) + 2;
  }

  Needs needs(const VectorStatistics& v, std::uint8_t block_cost = no_cost) const {
    Needs need;
    need.exact = v.exponent - std::max(v.lowest - (rule_.precision - 1), rule_.last_bit);
    need.own = std::min(need.exact, rule_.unit_bits + v.span() - twice_log2_k_ / 2 + 1);
    if (v.flatness != not_flat) {
      need.flat_2 = 2 * rule_.unit_bits - twice_log2_k_ + v.flatness + 1;
      need.roughness_2 = std::max(0, v.flatness + mean_2(v, k_));
    }
    if (block_cost != no_cost) need.blocks = std::max((2 * (rule_.unit_bits + block_cost) - twice_log2_k_) / 2, guard_);
    const int by_norm = quantum_bits + norm_exponent(v.squares, rule_.twice_norm_bits_16);
    need.ordinary = std::min({by_norm, rule_.largest_exponent, need.exact});
    return need;
  }

  // The scaled exponent at which flatness proves the bound against partners of the given roughness.
  int flat_exponent(const Needs& need, int partners_2) const {
    if (need.flat_2 >= unreachable || partners_2 >= unreachable) return unreachable;
    return std::max((need.flat_2 + partners_2 + 1) / 2, guard_);
  }

  std::uint8_t proofs(const Needs& need, int partners_2) const {
    if (!rule_.componentwise) return proof_flat;
    const bool flat = need.roughness_2 <= ordinary_roughness_2 && need.ordinary >= flat_exponent(need, partners_2);
    const bool own = need.ordinary >= need.own;
    const bool blocks = need.ordinary >= need.blocks;
    return static_cast<std::uint8_t>((flat ? proof_flat : 0) | (own ? proof_own_span : 0) |
                                     (blocks ? proof_blocks : 0));
  }

  int wide_exponent(const Needs& need, int partners_2) const {
    const int wanted = std::min({need.own, flat_exponent(need, partners_2), need.blocks});
    return std::min(std::max(need.ordinary, wanted), need.exact);
  }

  double norm_log2(const VectorStatistics& v, int exponent) const {
    const double norm = std::sqrt(static_cast<double>(v.squares)) * std::ldexp(1.0, -quantum_bits);
    const double rounding = std::sqrt(static_cast<double>(k_)) * 0.5;  // of the elements to integers
    return exponent + std::log2(norm + std::ldexp(rounding, -exponent)) + 1e-9;
  }

 private:
  const ScalingRule& rule_;
  std::int64_t k_;
  int twice_log2_k_, guard_;
};

// One operand: what its vectors need together.
struct Side {
  std::span<const VectorStatistics> statistics;
  std::span<VectorScales> scales;
  BlockCosts costs;
  int ordinary_roughness_2 = 0, roughness_2 = 0;  // largest among the vectors that may be ordinary, and among all
  std::int64_t kinds[proof_sets] = {};            // how many vectors have each set of proofs
  std::uint8_t all_proofs = 0;                    // union over the vectors
  double wide_log2 = 0;                           // largest 2-norm in wide entries
  std::int64_t wide_vectors = 0;                  // without any ordinary entry

  Side(const Chooser& chooser, std::span<const VectorStatistics> s, std::span<VectorScales> out, BlockCosts c)
      : statistics(s), scales(out), costs(c) {
    for (const VectorStatistics& v : statistics) {
      if (v.zero()) continue;
      const int r = chooser.needs(v).roughness_2;
      roughness_2 = std::max(roughness_2, r);
      if (r <= vernier::ordinary_roughness_2) ordinary_roughness_2 = std::max(ordinary_roughness_2, r);
    }
  }

  Needs needs(const Chooser& chooser, std::size_t i) const {
    return chooser.needs(statistics[i], costs.empty() ? no_cost : costs[i]);
  }

  void prove(const Chooser& chooser, const Side& other) {
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = VectorScales{};
      scales[i].proofs = statistics[i].zero() ? proof_sets - 1  // has exact products with everything
                                              : chooser.proofs(needs(chooser, i), other.ordinary_roughness_2);
    }
    count_kinds();
  }

  void count_kinds() {
    std::fill(std::begin(kinds), std::end(kinds), 0);
    all_proofs = 0;
    for (const VectorScales& v : scales) {
      ++kinds[v.proofs];
      all_proofs |= v.proofs;
    }
  }

  void withdraw_proofs() {
    for (VectorScales& v : scales) v.proofs = proof_none;
    count_kinds();
  }

  void set_scales(const Chooser& chooser, const Side& other, Scaling& result);
};

bool disjoint_from_some(std::uint8_t proofs, const Side& other) {
  for (unsigned p = 0; p < proof_sets; ++p)
    if (other.kinds[p] != 0 && (proofs & p) == 0) return true;
  return false;
}

double wide_entries(const Side& rows, const Side& columns) {
  double count = 0;
  for (unsigned p = 0; p < proof_sets; ++p)
    for (unsigned q = 0; q < proof_sets; ++q)
      if ((p & q) == 0) count += static_cast<double>(rows.kinds[p]) * static_cast<double>(columns.kinds[q]);
  return count;
}

void Side::set_scales(const Chooser& chooser, const Side& other, Scaling& result) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const VectorStatistics& v = statistics[i];
    if ((scales[i].proofs & other.all_proofs) == 0) ++wide_vectors;
    if (v.zero()) continue;
    const Needs need = needs(chooser, i);
    scales[i].ordinary = scales[i].wide = need.ordinary - v.exponent;
    if (!disjoint_from_some(scales[i].proofs, other)) continue;
    const int exponent = chooser.wide_exponent(need, other.roughness_2);
    scales[i].wide = exponent - v.exponent;
    result.wide_exponent = std::max(result.wide_exponent, exponent);
    wide_log2 = std::max(wide_log2, chooser.norm_log2(v, exponent));
  }
}

}  // namespace

int norm_exponent(std::uint64_t squares, int budget_16) {
  const int whole = budget_16 >> 4;
  const std::uint64_t power = sixteenth_powers[static_cast<std::size_t>(budget_16 & 15)];
  // squares <= 2^(i + fraction) with i = whole - 2 x: the smallest such i of the parity of whole
  int i = static_cast<int>(std::bit_width(squares)) - 2;
  i += (whole - i) & 1;
  while (i < 0 || squares > (power >> (62 - i))) i += 2;
  return (whole - i) / 2;
}

int ordinary_scale(const ScalingRule& rule, std::int64_t k, const VectorStatistics& v) {
  return v.zero() ? 0 : Chooser(rule, k).needs(v).ordinary - v.exponent;
}

Scaling choose_scales(const ScalingRule& rule, std::int64_t k, std::span<const VectorStatistics> a,
                      std::span<const VectorStatistics> b, std::span<VectorScales> a_scales,
                      std::span<VectorScales> b_scales, BlockCosts a_costs, BlockCosts b_costs) {
  const Chooser chooser(rule, k);
  Side rows(chooser, a, a_scales, a_costs), columns(chooser, b, b_scales, b_costs);
  rows.prove(chooser, columns);
  columns.prove(chooser, rows);
  double wide = wide_entries(rows, columns);
  if (wide > most_wide_entries * static_cast<double>(a.size()) * static_cast<double>(b.size())) {
    rows.withdraw_proofs();
    columns.withdraw_proofs();
    wide = 1;
  }
  Scaling result;
  result.any_ordinary = (rows.all_proofs & columns.all_proofs) != 0;
  result.any_wide = wide > 0;
  rows.set_scales(chooser, columns, result);
  columns.set_scales(chooser, rows, result);
  result.wide_rows = rows.wide_vectors;
  result.wide_columns = columns.wide_vectors;
  result.wide_log2 = rows.wide_log2 + columns.wide_log2;
  return result;
}

}  // namespace vernier
