// T in dd from the leading four limbs of the Chinese remainder and, rounded, all that lies below them: a third of the
// operations of all limbs, and right where it decides (docs/accuracy.md, theorem 13). Host and device.
#pragma once

#include "residue/quad/crt_dd.hpp"

namespace vernier {

inline constexpr int leading_limbs = 4;

// P leaves the leading limb so few bits that the first two limbs are one double.
constexpr bool leading_limbs_serve(int moduli) { return moduli == 27 || moduli == 28; }

// CrtTables<Limbs>, its limbs in units of their own, the low ones as one double in units of the highest of them.
template <int Limbs>
struct LeadingCrtTables {
  static_assert(Limbs > leading_limbs);
  static constexpr int low_limbs = Limbs - leading_limbs, width = crt_limb_width<Limbs>;

  explicit LeadingCrtTables(const ResidueSystem& system) : all(system), pairs(all.pairs), inverse_top(all.inverse_top) {
    const auto cut = [](const double* limbs, double* leading, double& low) {
      for (int l = 0; l < leading_limbs; ++l) leading[l] = limbs[low_limbs + l];
      low = 0;
      for (int l = 0; l < low_limbs; ++l) low = std::ldexp(low, -width) + limbs[l];
    };
    for (int g = 0; g < pairs; ++g) pair[g] = all.pair[g], cut(all.weight[g], leading[g], low[g]);
    cut(all.product, product, product_low);
  }

  CrtTables<Limbs> all;  // for doubts
  int pairs;
  std::uint32_t pair[max_crt_pairs] = {};
  double leading[max_crt_pairs][leading_limbs] = {}, low[max_crt_pairs] = {};  // least significant limb first
  double product[leading_limbs] = {}, product_low = 0;
  double inverse_top;
};

// Twice what `low` is off by, in its units: weights by 2^-22 times up to 2^16, of 25 pairs at most, P by 2^-22 times
// less than 2^5, and 26 sums below 2^53 by half.
inline constexpr double low_sum_error = 32;

// As CrtSums, to be reduced and rounded.
template <int Limbs>
struct LeadingCrtSums {
  double s[leading_limbs] = {}, low = 0;

  template <class Tables>
  VERNIER_HD void add(std::int32_t joined, const Tables& tables, int g) {
    const double d = exact_double(joined);
    VERNIER_UNROLL
    for (int l = 0; l < leading_limbs; ++l) s[l] = fma(d, tables.leading[g][l], s[l]);
    low = fma(d, tables.low[g], low);
  }

  template <class Tables>
  VERNIER_HD void reduce(const Tables& tables) {
    constexpr double step = 1.0 / static_cast<double>(std::uint64_t{1} << Tables::width), magic = 6755399441055744.0;
    double top = low;
    VERNIER_UNROLL
    for (int l = 0; l < leading_limbs; ++l) top = fma(top, step, s[l]);
    const double kappa = fma(top, tables.inverse_top, magic) - magic;
    VERNIER_UNROLL
    for (int l = 0; l < leading_limbs; ++l) s[l] = fma(-kappa, tables.product[l], s[l]);
    low = fma(-kappa, tables.product_low, low);
  }
};

// c is reduced. doubt: all limbs have to decide.
template <int Limbs>
VERNIER_HD inline DdOfSums leading_dd(LeadingCrtSums<Limbs> c) {
  constexpr double back = static_cast<double>(std::uint64_t{1} << crt_limb_width<Limbs>), magic = 6755399441055744.0;
  VERNIER_UNROLL
  for (int l = 0; l + 1 < leading_limbs; ++l) {  // as carry_limbs()
    const double carry = fma(c.s[l], 1 / back, magic) - magic;
    c.s[l] = fma(-carry, back, c.s[l]);
    c.s[l + 1] += carry;
  }
  // In units of limb 0: the first two limbs are one double, the third is added exactly, being smaller or alone.
  const double first = fma(c.s[3], back, c.s[2]) * (back * back), sum = fma(c.s[1], back, first),
               of_second = sum - first, rest = fma(c.s[1], back, -of_second);
  const DdSum below = dd_sum(c.s[0], c.low * (1 / back));
  // rest is zero or a multiple of back, below less than back.
  const double r = rest + below.sum, left = below.sum - (r - rest) + below.rest;
  const double hi = sum + r, remains = r - (hi - sum);
  constexpr double margin = low_sum_error / back;
  const double lo = remains + (left - margin);
  const bool decided = lo == remains + (left + margin) && hi + lo * (1 + 0x1p-51) == hi;
  constexpr int unit = crt_limb_width<Limbs> * (Limbs - leading_limbs);
  constexpr double factor = std::bit_cast<double>(static_cast<std::uint64_t>(unit + 1023) << 52);
  return {hi * factor, lo * factor, !decided};
}

}  // namespace vernier
