// What one vector asks of its scale, from its statistics and the contract's rule alone: integer arithmetic, host and
// device. scaling.cpp puts the vectors of both operands together. Statements refer to docs/accuracy.md; "bits" count in
// halves where a name ends in _2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "number/host_device.hpp"
#include "residue/residues.hpp"
#include "residue/scale/block_spans.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

inline constexpr int unreachable = 1 << 24;

// A vector whose flatness costs more than this (in half bits) is wide: it does not set the pace for the others.
inline constexpr int most_ordinary_roughness_2 = 12;

namespace detail {

VERNIER_HD constexpr int floor_log2(std::uint64_t x) { return vernier::bit_width(x) - 1; }

VERNIER_HD constexpr int bit_width(Uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 64 + vernier::bit_width(high) : vernier::bit_width(static_cast<std::uint64_t>(x));
}

VERNIER_HD constexpr int floor_twice_log2(std::int64_t k) {
  return bit_width(static_cast<Uint128>(k) * static_cast<Uint128>(k)) - 1;
}

// floor(2^(62 + f / 16))
constexpr std::uint64_t sixteenth_power(int f) {
  constexpr std::uint64_t powers[16] = {
      4611686018427387904u, 4815862801830788490u, 5029079263719320435u, 5251735624851448219u,
      5484249825272419511u, 5727058308814112982u, 5980616842327661685u, 6245401371186603363u,
      6521908912666391106u, 6810658488877194079u, 7112192101001162094u, 7427075746662858865u,
      7755900482342532474u, 8099283532826439816u, 8457869449776733335u, 8832331321595618838u};
  return powers[f];
}

}  // namespace detail

// 2^(budget_16 / 16) as 2^whole times a power between 1 and 2, which counts in 2^-62. Made once: a GPU has no table.
struct NormBudget {
  int whole = 0;
  std::uint64_t power = 0;

  constexpr explicit NormBudget(int budget_16)
      : whole(budget_16 >> 4), power(detail::sixteenth_power(budget_16 & 15)) {}
};

// Largest x with squares * 4^x <= the budget, squares > 0: integer arithmetic only.
VERNIER_HD constexpr int norm_exponent(std::uint64_t squares, const NormBudget& budget) {
  // squares <= 2^(i + fraction) with i = whole - 2 x: the smallest such i of the parity of whole
  int i = bit_width(squares) - 2;
  i += (budget.whole - i) & 1;
  while (i < 0 || squares > (budget.power >> (62 - i))) i += 2;
  return (budget.whole - i) / 2;
}
constexpr int norm_exponent(std::uint64_t squares, int budget_16) {
  return norm_exponent(squares, NormBudget(budget_16));
}

// Contract `exact`: the exponent of the largest element at which the 2-norm meets the budget, or from which on all
// elements, whose lowest bit has exponent `lowest_bit`, are integers. Not for zero vectors.
VERNIER_HD constexpr int exact_exponent(const VectorStatistics& v, int lowest_bit, int budget_16) {
  const int by_norm = quantum_bits + norm_exponent(v.squares, budget_16), integers = v.exponent - lowest_bit;
  return std::min(std::min(by_norm, integers), largest_exponent(max_limbs));
}

struct VectorNeeds {
  int exact = unreachable;   // scaled exponent from which every element is an integer
  int own = unreachable;     // ... from which the rounding is small against each element
  int flat_2 = unreachable;  // ... against flat partners, before their roughness is added
  int roughness_2 = unreachable;
  int blocks = unreachable;  // ... by block spans, against all partners
  int ordinary = 0;          // scaled exponent of the ordinary scale
};

class ScaleChooser {
 public:
  constexpr ScaleChooser() : ScaleChooser({}, 1) {}
  constexpr ScaleChooser(const ScalingRule& rule, std::int64_t k)
      : rule_(rule),
        norm_budget_(rule.twice_norm_bits_16),
        k_(k),
        twice_log2_g_(std::min(detail::floor_twice_log2(k), rule.most_twice_log2_g)),
        guard_(detail::floor_log2(static_cast<std::uint64_t>(k)) + 2) {}

  constexpr const ScalingRule& rule() const { return rule_; }

  constexpr VectorNeeds needs(const VectorStatistics& v, std::uint8_t block_cost = no_cost) const {
    VectorNeeds need;
    need.exact = exact_exponent(v);
    need.own = std::min(need.exact, rule_.unit_bits + v.span() - twice_log2_g_ / 2 + 1);
    if (v.flatness != not_flat) {
      need.flat_2 = 2 * rule_.unit_bits - twice_log2_g_ + v.flatness + 1;
      need.roughness_2 = std::max(0, v.flatness + mean_2(v));
    }
    if (block_cost != no_cost) need.blocks = std::max((2 * (rule_.unit_bits + block_cost) - twice_log2_g_) / 2, guard_);
    need.ordinary = ordinary_exponent(v);
    return need;
  }

  // Of the largest element at the scale from which every element is an integer.
  constexpr int exact_exponent(const VectorStatistics& v) const {
    return v.exponent - std::max(v.lowest - (rule_.precision - 1), rule_.last_bit);
  }

  // Of the largest element at the ordinary scale.
  constexpr int ordinary_exponent(const VectorStatistics& v) const {
    const int by_norm = quantum_bits + norm_exponent(v.squares, norm_budget_);
    return std::min(std::min(by_norm, rule_.largest_exponent), exact_exponent(v));
  }

  // The scaled exponent at which flatness proves the bound against partners of the given roughness.
  constexpr int flat_exponent(const VectorNeeds& need, int partners_2) const {
    if (need.flat_2 >= unreachable || partners_2 >= unreachable) return unreachable;
    return std::max((need.flat_2 + partners_2 + 1) / 2, guard_);
  }

  constexpr bool proved_flat(const VectorNeeds& need, int partners_2) const {
    return need.roughness_2 <= most_ordinary_roughness_2 && need.ordinary >= flat_exponent(need, partners_2);
  }
  constexpr bool proved_by_own_span(const VectorNeeds& need) const { return need.ordinary >= need.own; }

  constexpr std::uint8_t proofs(const VectorNeeds& need, int partners_2) const {
    if (!rule_.componentwise) return proof_flat;
    const bool flat = proved_flat(need, partners_2), own = proved_by_own_span(need);
    const bool blocks = need.ordinary >= need.blocks;
    return static_cast<std::uint8_t>((flat ? proof_flat : 0) | (own ? proof_own_span : 0) |
                                     (blocks ? proof_blocks : 0));
  }

  // The roughest partners that flatness is proved against at the ordinary scale; -1 if there are none.
  constexpr int flat_allowance_2(const VectorNeeds& need) const {
    for (int partners_2 = most_ordinary_roughness_2; partners_2 >= 0; --partners_2)
      if (proved_flat(need, partners_2)) return partners_2;
    return -1;
  }

  constexpr int wide_exponent(const VectorNeeds& need, int partners_2) const {
    const int wanted = std::min(std::min(need.own, flat_exponent(need, partners_2)), need.blocks);
    return std::min(std::max(need.ordinary, wanted), need.exact);
  }

 private:
  // 2 log2 of (1-norm / (k 2^exponent)) in half bits, rounded up: the smallest t with sum^2 <= k^2 4^quantum_bits 2^t;
  // t <= 2, or 4 for a vector with a factor (scaling.hpp).
  constexpr int mean_2(const VectorStatistics& v) const {
    const auto n = static_cast<Uint128>(k_);
    const Uint128 mean = static_cast<Uint128>(v.sum) * v.sum, full = (n * n) << (2 * quantum_bits);
    const int t = detail::bit_width(mean) - detail::bit_width(full);  // as many bits
    const bool fits = t > 0 ? mean <= full << t : mean << -t <= full;
    return std::clamp(fits ? t : t + 1, -64, 4);
  }

  ScalingRule rule_;
  NormBudget norm_budget_;
  std::int64_t k_;
  int twice_log2_g_, guard_;
};

// ---- what the vectors' proofs say together about the entries of a product: which are wide, and how wide. Host and
// device; scaling.cpp and route_choice.cu go over the vectors.

// A larger share of wide entries than this makes all of them wide: blocks of C are multiplied whole, so that scattered
// wide vectors would have nearly all of C multiplied twice.
inline constexpr double most_wide_entries = 1.0 / 16;

// kinds[s]: how many vectors have the set s of proofs.
template <class Count>
VERNIER_HD constexpr bool disjoint_from_some(unsigned proofs, const Count* kinds) {
  for (unsigned p = 0; p < proof_sets; ++p)
    if (kinds[p] != 0 && (proofs & p) == 0) return true;
  return false;
}

template <class Count>
VERNIER_HD constexpr double wide_entries(const Count* rows, const Count* columns) {
  double count = 0;
  for (unsigned p = 0; p < proof_sets; ++p)
    for (unsigned q = 0; q < proof_sets; ++q)
      if ((p & q) == 0) count += static_cast<double>(rows[p]) * static_cast<double>(columns[q]);
  return count;
}

// An upper bound of log2 of the 2-norm at the given scaled exponent, after the rounding to integers. Host and device
// may differ in its last bits, and so in the number of moduli, but not in the product.
VERNIER_HD inline double norm_log2(const VectorStatistics& v, std::int64_t k, int exponent) {
  const double norm = std::sqrt(static_cast<double>(v.squares)) * std::ldexp(1.0, -quantum_bits);
  const double rounding = std::sqrt(static_cast<double>(k)) * 0.5;
  return exponent + std::log2(norm + std::ldexp(rounding, -exponent)) + 1e-9;
}

}  // namespace vernier
