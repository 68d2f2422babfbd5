// Tables of the residue number system with a given number of moduli p_1 .. p_N, P = p_1 ... p_N (Ozaki scheme II).
//
//     C = sum_q r_q (P / p_q)  mod P,     r_q = C (P / p_q)^-1  mod p_q        (both symmetric)
//
// The factor (P / p_q)^-1 costs nothing: it is folded into the residues of A.
#pragma once

#include <array>
#include <cstdint>

#include "number/moduli.hpp"
#include "number/wide_integer.hpp"

namespace vernier {

struct ResidueSystem {
  explicit ResidueSystem(int count, ModuliList list = ModuliList::densest);

  int count;
  ModuliList list;
  double log2_product;
  WideInteger product;                             // P
  std::array<int, max_moduli> row_factor{};        // (P / p_q)^-1 mod p_q
  std::array<WideInteger, max_moduli> cofactor{};  // P / p_q
};

// Made once, thread-safe.
const ResidueSystem& residue_system(int count, ModuliList list = ModuliList::densest);

double log2_product_of_moduli(int count, ModuliList list = ModuliList::densest);

// The least number of moduli with 2 * 2^log2_bound <= P (1 - 2^-20), or 0 if all together do not reach it. The margin
// lets the multiple of P in the recombination be found in floating point.
int moduli_for(double log2_bound, ModuliList list = ModuliList::densest);

// A log2_bound that so many moduli hold.
double log2_bound_of(int count, ModuliList list = ModuliList::densest);

// ---- scaled integers as digits -------------------------------------------------------------------------------------
//
// A scaled element x = RN(a 2^s) is split into limbs of 62 bits, x = sum_t x_t 2^(62 t), each offset to be positive and
// read as eight bytes. Dot products of these digits with weights modulo p give the residue; a group is four digits.
//   narrow: |x| <= 2^30 in 32 bits, one group;   otherwise two groups a limb, |x_t| <= 2^62
inline constexpr int limb_bits = 62;
inline constexpr int max_limbs = 3;
inline constexpr int max_groups = 2 * max_limbs;
inline constexpr int narrow_exponent = 29;  // largest of an element in narrow form, which may round up to 2^30
constexpr int largest_exponent(int limbs) { return limb_bits * limbs - 1; }

enum class PanelSide { rows, columns };

struct DigitWeights {
  int modulus;
  FloatRemainder remainder;  // its start makes every sum positive and takes the limbs' offsets out again
  std::array<std::uint32_t, max_groups> group;  // four int8 weights each, least significant digit first
};

struct DigitTables {
  DigitTables(const ResidueSystem& system, PanelSide side, bool narrow, int limbs);

  int count;  // moduli
  int limbs;  // 0: narrow
  PanelSide side;
  std::array<int, max_moduli> factor{};     // residues are multiplied by this
  std::array<int, max_moduli> limb_base{};  // 2^limb_bits mod p
  std::array<DigitWeights, max_moduli> weights{};
};

// As above: they take a quarter of a millisecond, some of the time of small products.
const DigitTables& digit_tables(int moduli, PanelSide side, bool narrow, int limbs);

}  // namespace vernier
