// Residues of C -> T = RN(2^-(s_i + t_j) sum_q r_q P / p_q mod P), one rounding from the exact integer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"
#include "number/wide_integer.hpp"
#include "product/operand.hpp"
#include "residue/residues.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

// Constants of C / P as a fraction of 99 bits. Pairs of groups as below, their z times 2^s so that 2^47 < P_1 P_2 2^s
// <= 2^48; a group without a partner is a pair with P_2 = 1.
struct FractionTables {
  explicit FractionTables(const ResidueSystem& system);

  static constexpr int max_pairs = (max_moduli + 5) / 6;
  static constexpr int error = 128;  // 2^-99 P: what the fraction and its product with P may be off by

  std::array<std::uint64_t, 2 * max_pairs> multiplier{};               // P_2 2^s, P_1 2^s
  std::array<std::uint64_t, max_pairs> inverse_high{}, inverse_low{};  // of 2^151 / (P_1 P_2 2^s)
  double product, product_rest;                                        // 2^-64 P
  double unit, width;                                                  // 2^-99 P, and 2 error times that
};

// Constants of the recombination, in the forms that the code paths read.
struct RecombineTables {
  explicit RecombineTables(const ResidueSystem& system);

  // Three moduli make a group, y_g = 2 P_g + sum r_q P_g / p_q < 2^26, and two groups a pair, z = y_1 P_2 + y_2 P_1 <
  // 2^51. Then sum z P / (P_1 P_2) over the pairs is C + kappa P with 0 <= kappa < 4 groups, in limbs of 52 bits.
  static constexpr int max_groups = (max_moduli + 2) / 3;
  static constexpr int max_pairs = (max_groups + 1) / 2;
  static constexpr int max_limbs = 7;

  const ResidueSystem& system;
  int groups, pairs, limbs;
  int factor_limbs;                                                           // of the longest pair_factor
  std::array<std::uint64_t, 2 * max_pairs> group_product{};                   // P_g; 1 for a group that is not there
  std::array<std::uint32_t, 2 * max_pairs> weight_low{}, weight_high{};       // bytes of the three P_g / p_q
  std::array<std::array<std::uint64_t, max_limbs>, max_pairs> pair_factor{};  // P / (P_1 P_2)
  std::array<std::uint64_t, max_limbs> minus_product{};                       // -P modulo 2^(52 limbs)
  double inverse_top;                                                         // 2^(52 (limbs - 2)) / P

  // Where all that fits 63 bits: C + kappa P = sum y_g P / P_g, kappa < 16.
  bool one_word;
  std::array<std::uint64_t, 4> group_factor{};  // P / P_g
  std::array<std::int64_t, 16> multiple{};      // kappa P
  double inverse_product = 0;                   // 1 / P

  FractionTables fraction;
};

// Made once, as residue_system().
const RecombineTables& recombine_tables(int moduli);

// The integers of a block of 32 x 32, element [column * 32 + row], by their leading bits:
//     C = (high 2^64 + low) 2^(exponent - 64),
// exactly, or with low's last bit set for all that was cut off. high has 63 bits and its sign, or exponent = low = 0.
struct LeadingTile {
  alignas(64) std::array<std::int64_t, block_elements> high;
  alignas(64) std::array<std::uint64_t, block_elements> low;
  alignas(64) std::array<std::int32_t, block_elements> exponent;
};

struct SignedInteger {
  bool negative = false;
  WideInteger magnitude;
};

// C of one element, all of it. residues: of modulus q at residues + q * plane_bytes.
SignedInteger recombine_entry(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes);

// Block of 32 x 32: residues of modulus q at residues + q * plane_bytes in the order of residue_index(). T goes to
// tile[column * 32 + row]. row_scales and column_scales: 32 each.
template <class T>
void recombine_portable(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                        const int* row_scales, const int* column_scales, T* tile);

// A block of a speculative product (docs/accuracy.md, theorem 11): the operands have been multiplied by numbers whose
// product is the divisor, and integers below `certain` have not wrapped.
struct SpeculativeTile {
  double divisor = 1, certain = 0;
};

// As recombine, with T = RN(RN(2^-(s_i + t_j) C) / divisor), all of it far from the ends of the range; for 13 to 15
// moduli. False if not all |C| are certain.
bool recombine_speculative_portable(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                    const int* row_scales, const int* column_scales, const SpeculativeTile& speculative,
                                    double* tile);

// A block of the residues of three real products that make a complex one (Karatsuba), with integers x, y, u and v:
//     (x + iy)(u + iv) = (xu - yv) + i ((x + y)(u + v) - xu - yv)
struct ComplexResidues {
  const std::int8_t* products = nullptr;  // of xu; of yv part_bytes further; of (x + y)(u + v) 2 part_bytes further
  std::size_t plane_bytes = 0, part_bytes = 0;
};

template <class T>
void recombine_complex_portable(const RecombineTables& tables, const ComplexResidues& residues, const int* row_scales,
                                const int* column_scales, T* real, T* imaginary);

void recombine_leading_portable(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                LeadingTile& out);

// The tables of crt.hpp for any number of moduli: C as sums of limbs in double, for instruction sets without products
// of integers that are wide enough.
struct LimbSumTables {
  static constexpr int max_pairs = (max_moduli + 1) / 2, max_limbs = 11;

  explicit LimbSumTables(const ResidueSystem& system);

  int pairs, limbs, width;                 // width: bits of a limb
  std::uint32_t pair[max_pairs];           // p_b in the low half, p_a in the high one
  double weight[max_pairs][max_limbs];     // P / (p_a p_b), least significant limb first
  double product[max_limbs], inverse_top;  // P; 2^(width (limbs - 1)) / P
};

// Likewise.
const LimbSumTables& limb_sum_tables(int count);

// C of one element, rounded once: RN(2^exponent C). residues: as in recombine_entry().
template <class T>
T rounded_entry(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes, int exponent);

// Entry e of a block from the sums of an integer's limbs, stride apart.
void put_leading(const LimbSumTables& tables, const double* sums, std::size_t stride, std::size_t e, LeadingTile& out);

// ---- a tile of T = op(A) op(B) into C

// C = RN(alpha T + RN(beta C)) on rows x columns (at most 32 each) of C; RN(alpha T) if beta = 0, whatever C held. If
// rows of row_proofs and columns of column_proofs are given, only the entries that are (ordinary) or are not ordinary
// are written.
template <class T>
struct TileUpdate {
  Output<T> to;  // from the tile's first entry on
  std::int64_t rows, columns;
  bool large = false;                       // all of C is more than caches hold
  const VectorProof* row_proofs = nullptr;  // both null: every entry
  const VectorProof* column_proofs = nullptr;
  bool ordinary = true;
};

// Lines of C that an update has written past the caches are there for other threads once this has run.
inline void publish_portable() {}

template <class T>
void update_portable(const TileUpdate<T>& update, const T* tile);

}  // namespace vernier
