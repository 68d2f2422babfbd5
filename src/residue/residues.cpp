#include "residue/residues.hpp"

#include <algorithm>
#include <cmath>

#include "base/fork_mutex.hpp"

namespace vernier {
namespace {

// Of the first 0, 1, 2, ... moduli of a list. Every plan asks for some, also that of a product of a microsecond.
using Logarithms = std::array<double, max_moduli + 1>;

Logarithms logarithms_of(ModuliList list) {
  Logarithms sums{};
  for (int q = 0; q < count_of(list); ++q) {
    const auto i = static_cast<std::size_t>(q);
    sums[i + 1] = sums[i] + std::log2(static_cast<double>(modulus_of(list, q)));
  }
  return sums;
}

constexpr auto remainders = [] {
  std::array<FloatRemainder, max_moduli> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = make_float_remainder(moduli[i]);
  return list;
}();
static_assert(std::ranges::all_of(remainders, [](const FloatRemainder& r) { return r.inverse != 0; }));

}  // namespace

double log2_product_of_moduli(int count, ModuliList list) {
  static const Logarithms densest = logarithms_of(ModuliList::densest), others = logarithms_of(ModuliList::with_root);
  return (list == ModuliList::densest ? densest : others)[static_cast<std::size_t>(count)];
}

double log2_bound_of(int count, ModuliList list) {
  const double margin = std::ldexp(1.5, -20);  // > -log2(1 - 2^-20)
  return log2_product_of_moduli(count, list) - margin - 1;
}

int moduli_for(double log2_bound, ModuliList list) {
  for (int count = 2; count <= count_of(list); ++count)
    if (log2_bound_of(count, list) >= log2_bound) return count;
  return 0;
}

ResidueSystem::ResidueSystem(int n, ModuliList of)
    : count(n), list(of), log2_product(log2_product_of_moduli(n, of)), product(product_of_moduli(n, 0, 0, of)) {
  for (int q = 0; q < n; ++q) {
    const auto i = static_cast<std::size_t>(q);
    cofactor[i] = product_of_moduli(n, q, q + 1, list);
    const int p = modulus_of(list, q);
    row_factor[i] = inverse_mod(cofactor[i].remainder(static_cast<std::uint32_t>(p)), p);
  }
}

const ResidueSystem& residue_system(int count, ModuliList list) {
  static std::array<Once<ResidueSystem>, 2 * (max_moduli + 1)> systems;
  return systems[2 * static_cast<std::size_t>(count) + (list == ModuliList::densest ? 0 : 1)].get(count, list);
}

DigitTables::DigitTables(const ResidueSystem& system, PanelSide panel_side, bool narrow, int limb_count)
    : count(system.count), limbs(narrow ? 0 : limb_count), side(panel_side) {
  const int digits = narrow ? 4 : 8 * limb_count;
  const int offset_bit = narrow ? 31 : 63;  // every limb has 2^offset_bit added
  for (int q = 0; q < count; ++q) {
    const auto i = static_cast<std::size_t>(q);
    const int p = moduli[i];
    factor[i] = side == PanelSide::rows ? system.row_factor[i] : 1;
    limb_base[i] = power_of_two_mod(limb_bits, p);
    DigitWeights& w = weights[i];
    w = {.modulus = p, .remainder = remainders[i], .group = {}};
    int negative = 0, added = 0;
    for (int d = 0; d < digits; ++d) {
      const int weight = multiply_mod(factor[i], power_of_two_mod(limb_bits * (d / 8) + 8 * (d % 8), p), p);
      if (weight < 0) negative += -weight * 255;
      w.group[static_cast<std::size_t>(d / 4)] |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(weight))
                                                  << (8 * (d % 4));
      if (d % 8 == 0) added += multiply_mod(factor[i], power_of_two_mod(limb_bits * (d / 8) + offset_bit, p), p);
    }
    int offset = symmetric_residue(-added, p);
    while (offset < negative) offset += p;
    w.remainder.start += offset;
  }
}

const DigitTables& digit_tables(int moduli, PanelSide side, bool narrow, int limbs) {
  constexpr std::size_t forms = 1 + max_limbs;  // narrow, or so many limbs
  static std::array<Once<DigitTables>, 2 * forms*(max_moduli + 1)> tables;
  const std::size_t form = narrow ? 0 : static_cast<std::size_t>(limbs);
  const std::size_t at = 2 * (static_cast<std::size_t>(moduli) * forms + form) + (side == PanelSide::rows ? 0 : 1);
  const ResidueSystem& system = residue_system(moduli);
  return tables[at].get(system, side, narrow, limbs);
}

}  // namespace vernier
