// Residues of one element -> T, rounded once, in fp64 arithmetic that is exact where it must be. Host and device, the
// same bits on both, and those of recombine_portable.
//
// Two moduli at a time: u = r_a p_b + r_b p_a, |u| < 2^16, counts P / (p_a p_b), which is cut into limbs of limb_width
// bits. Sums of u times a limb stay below 2^53: up to 8 pairs with limbs of 34 bits, 12 with 33, 25 with 32. With kappa
// from docs/accuracy.md, theorem 4, Ct = sum_l 2^(limb_width l) (s_l - kappa P_l).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "number/host_device.hpp"
#include "number/ieee754.hpp"
#include "number/moduli.hpp"
#include "residue/residues.hpp"

namespace vernier {

inline constexpr int max_crt_pairs = (max_moduli + 1) / 2;

template <int Limbs>
inline constexpr int crt_limb_width = Limbs == 3   ? 34
                                      : Limbs == 4 ? 33
                                                   : 32;
inline constexpr int most_moduli_of_three_limbs = 15, most_moduli_of_four_limbs = 19;

// Limbs that hold every weight and P itself, of the numbers that are compiled.
constexpr int crt_limbs(int moduli) {
  return moduli <= most_moduli_of_three_limbs  ? 3
         : moduli <= most_moduli_of_four_limbs ? 4
         : moduli <= 26                        ? 6
         : moduli <= 36                        ? 9
                                               : 11;
}

// Three limbs, also where there are more moduli because they are smaller: eight pairs, and P no larger.
constexpr bool three_limbs_hold(int moduli, ModuliList list) {
  return moduli <= (list == ModuliList::densest ? most_moduli_of_three_limbs : 16);
}

template <int Limbs, int Width = crt_limb_width<Limbs>>
struct CrtTables {
  static constexpr int width = Width;

  explicit CrtTables(const ResidueSystem& system) : pairs((system.count + 1) / 2) {
    for (int g = 0; g < pairs; ++g) {
      const int a = 2 * g;
      const bool two = 2 * g + 1 < system.count;
      const WideInteger rest = product_of_moduli(system.count, 2 * g, 2 * g + 2, system.list);
      pair[g] = static_cast<std::uint32_t>(two ? modulus_of(system.list, a + 1) : 1) |
                static_cast<std::uint32_t>(two ? modulus_of(system.list, a) : 0) << 16;
      for (int l = 0; l < Limbs; ++l) weight[g][l] = limb(rest, l);
    }
    for (int l = 0; l < Limbs; ++l) product[l] = limb(system.product, l);
    const int top = std::max(0, system.product.bit_width() - 64);
    inverse_top = std::ldexp(1.0 / static_cast<double>(system.product.bits(top, 64)), width * (Limbs - 1) - top);
  }

  int pairs;
  std::uint32_t pair[max_crt_pairs] = {};    // p_b in the low half, p_a in the high one
  double weight[max_crt_pairs][Limbs] = {};  // P / (p_a p_b), least significant limb first
  double product[Limbs] = {};                // P
  double inverse_top;                        // 2^(width (Limbs - 1)) / P

 private:
  // The leading limb takes all that is left.
  static double limb(const WideInteger& x, int l) {
    return static_cast<double>(x.bits(width * l, l == Limbs - 1 ? 64 : width));
  }
};

inline constexpr std::int32_t sign_turned = std::numeric_limits<std::int32_t>::min();

// u + 2^31 of a pair of residues, the bytes 2 half and 2 half + 1 of `residues`, signed; or u + what is given.
VERNIER_HD inline std::int32_t joined_residues(std::uint32_t pair, std::uint32_t residues, int half,
                                               std::int32_t to = sign_turned) {
#if defined(__CUDA_ARCH__)
  return half == 0 ? __dp2a_lo(static_cast<int>(pair), static_cast<int>(residues), to)
                   : __dp2a_hi(static_cast<int>(pair), static_cast<int>(residues), to);
#else
  const auto byte = [&](int i) {
    return static_cast<std::int32_t>(static_cast<std::int8_t>(residues >> (8 * i) & 255));
  };
  const std::int32_t u = static_cast<std::int16_t>(pair & 0xffff) * byte(2 * half) +
                         static_cast<std::int16_t>(pair >> 16) * byte(2 * half + 1);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) + static_cast<std::uint32_t>(u));
#endif
}

// The u of u + 2^31 as double, by the bits: conversions are slow on a GPU.
VERNIER_HD inline double exact_double(std::int32_t turned) {
  const std::uint64_t bits = std::uint64_t{0x43300000} << 32 | static_cast<std::uint32_t>(turned);
  return std::bit_cast<double>(bits) - 4503601774854144.0;  // 2^52 + 2^31
}

template <int Limbs, int Width = crt_limb_width<Limbs>>
struct CrtSums {
  double s[Limbs] = {};

  template <class Tables>
  VERNIER_HD void add(std::int32_t joined, const Tables& tables, int g) {
    const double d = exact_double(joined);
    VERNIER_UNROLL
    for (int l = 0; l < Limbs; ++l) s[l] = fma(d, tables.weight[g][l], s[l]);
  }

  // Takes kappa P away: what remains is Ct.
  template <class Tables>
  VERNIER_HD void reduce(const Tables& tables) {
    constexpr double step = 1.0 / static_cast<double>(std::uint64_t{1} << Tables::width), magic = 6755399441055744.0;
    double top = s[0];
    VERNIER_UNROLL
    for (int l = 1; l < Limbs; ++l) top = fma(top, step, s[l]);
    const double kappa = fma(top, tables.inverse_top, magic) - magic;
    VERNIER_UNROLL
    for (int l = 0; l < Limbs; ++l) s[l] = fma(-kappa, tables.product[l], s[l]);
  }
};

// RN(2^exponent sum_l 2^(width l) s_l) by integers: for any value.
template <class T, int Limbs, int width>
VERNIER_NOINLINE VERNIER_HD T round_exactly(const CrtSums<Limbs, width> c, int exponent) {
  constexpr std::int64_t mask = (std::int64_t{1} << width) - 1;
  std::int64_t digit[Limbs];  // digits of `width` bits, the leading one with the sign
  std::int64_t carry = 0;
  for (int l = 0; l < Limbs; ++l) {
    const std::int64_t sum = static_cast<std::int64_t>(c.s[l]) + carry;
    digit[l] = l < Limbs - 1 ? sum & mask : sum;
    carry = sum >> width;
  }
  const bool negative = digit[Limbs - 1] < 0;
  if (negative) {
    std::int64_t borrow = 1;  // all digits turned, plus one
    for (int l = 0; l < Limbs; ++l) {
      const std::int64_t sum = (l < Limbs - 1 ? ~digit[l] & mask : ~digit[l]) + borrow;
      digit[l] = l < Limbs - 1 ? sum & mask : sum;
      borrow = l < Limbs - 1 ? sum >> width : 0;
    }
  }
  int top = Limbs - 1;
  while (top > 0 && digit[top] == 0) --top;
  std::uint64_t significand = static_cast<std::uint64_t>(digit[top]);
  int shift = 0;  // of the significand against 2^(width top)
  if (significand == 0) return T{0};
  bool rest = false;
  for (int l = top - 1; l >= 0; --l) {
    // As many bits of the digit as there is room for; the others only show whether there is anything.
    const int room = std::min(leading_zeros(significand), width);
    significand =
        room == 0 ? significand : significand << room | static_cast<std::uint64_t>(digit[l]) >> (width - room);
    shift -= room;
    rest = rest || (digit[l] & ((std::int64_t{1} << (width - room)) - 1)) != 0;
    if (room < width) {  // full: what follows lies below
      for (int j = 0; j < l; ++j) rest = rest || digit[j] != 0;
      break;
    }
  }
  return round_scaled<T>(negative, significand | (rest ? 1 : 0), exponent + width * top + shift);
}

// The same by sums in double, and a test whether they decide the rounding.
template <class T, int Limbs, int Width>
VERNIER_HD inline T round_by_sums(const CrtSums<Limbs, Width>& c, int exponent) {
  constexpr int below = Width * (Limbs - 2);  // the two leading limbs are added exactly
  constexpr double unit = 1.0 / static_cast<double>(std::uint64_t{1} << Width);
  double low = c.s[0], rounded = 0;  // the limbs below, within 2^-53 rounded
  VERNIER_UNROLL
  for (int l = 1; l < Limbs - 2; ++l) {
    low = fma(low, unit, c.s[l]);
    rounded = fma(rounded, unit, fabs(low));
  }
  const double a = c.s[Limbs - 1] / unit, sum = a + c.s[Limbs - 2], t = sum - a,
               error = (a - (sum - t)) + (c.s[Limbs - 2] - t);
  const double rest = fma(low, unit, error);
  double up, down;
  if constexpr (Limbs == 3) {  // low is exact
    up = fma(rest, 1.0 + 0x1p-50, sum), down = fma(rest, 1.0 - 0x1p-50, sum);
  } else {
    const double margin = fma(rounded, unit, fabs(rest)) * 0x1p-50;
    up = sum + (rest + margin), down = sum + (rest - margin);
  }
  // up, a normal number or zero, counts 2^(exponent + below)
  const auto bits = std::bit_cast<std::uint64_t>(up);
  const int field = static_cast<int>(bits >> 52 & 0x7ff) + exponent + below;
  constexpr int bias = Ieee754<double>::max_exponent;
  constexpr int least = Ieee754<T>::min_exponent + bias, most = Ieee754<T>::max_exponent + bias;
  if (up == 0 && down == 0) return T{0};
  bool decided = up == down && field >= least && field < most;
  if constexpr (sizeof(T) == 4)
    decided = decided && (bits & 0x1fffffff) != 0x10000000;  // no tie of the second rounding
  if (!decided) return round_exactly<T>(c, exponent);
  const auto moved = bits + (static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent + below)) << 52);
  return static_cast<T>(std::bit_cast<double>(moved));
}

template <class T, int Limbs, int Width>
VERNIER_HD inline T rounded_crt(const CrtSums<Limbs, Width>& c, int exponent) {
  return round_by_sums<T>(c, exponent);
}

// ---- sums of a few products by residues, as recombination takes them of the products of Strassen-Winograd: u of up to
// four of them, |u| < 2^18, is not brought back modulo p_a p_b, since narrower limbs keep all sums below 2^53: three of
// 32 bits up to 14 moduli, four up to 18, five of 31 for 19.

inline constexpr int most_summed_products = 4;

template <int Limbs>
inline constexpr int summed_limb_width = Limbs > 4 ? 31 : 32;

}  // namespace vernier
