#include <algorithm>
#include <cmath>

#include "base/fork_mutex.hpp"
#include "base/instantiate.hpp"
#include "number/host_device.hpp"
#include "number/ieee754.hpp"
#include "residue/recombine/crt.hpp"
#include "residue/recombine/recombine.hpp"

namespace vernier {
namespace {

constexpr int limb52 = 52;
constexpr int kappa_bits = 7;      // kappa < 4 groups <= 68
constexpr int two_words = 127;     // bits of P up to which three limbs are read as two words
constexpr int one_word_bits = 59;  // ... and up to which 16 P fits one

// P / (product of the six moduli of a pair of groups)
WideInteger without_pair(int count, int pair) {
  return product_of_moduli(count, 6 * pair, std::min(6 * pair + 6, count));
}

}  // namespace

FractionTables::FractionTables(const ResidueSystem& s) {
  const auto product_of = [&](int first) {
    std::uint64_t product = 1;
    for (int q = first; q < std::min(first + 3, s.count); ++q)
      product *= static_cast<std::uint64_t>(moduli[static_cast<std::size_t>(q)]);
    return product;
  };
  for (int first = 0; first < s.count; first += 6) {
    const std::uint64_t p1 = product_of(first), p2 = product_of(first + 3);
    const int shift = 48 - static_cast<int>(std::bit_width(p1 * p2 - 1));
    const auto i = static_cast<std::size_t>(first / 6);
    multiplier[2 * i] = p2 << shift;
    multiplier[2 * i + 1] = p1 << shift;
    const Uint128 divisor = static_cast<Uint128>(p1 * p2) << shift, one = static_cast<Uint128>(1) << 99;
    inverse_high[i] = static_cast<std::uint64_t>(one / divisor);
    inverse_low[i] = static_cast<std::uint64_t>((one % divisor << limb52) / divisor);
  }
  const int bits = s.product.bit_width(), top = std::max(0, bits - 53), next = std::max(0, top - 53);
  product = std::ldexp(static_cast<double>(s.product.bits(top, 53)), top - 64);
  product_rest = std::ldexp(static_cast<double>(s.product.bits(next, top - next)), next - 64);
  unit = std::ldexp(product, 64 - 99);
  width = 2 * error * unit;
}

namespace {

template <int Limbs>
void copy_tables(const ResidueSystem& system, LimbSumTables& out) {
  const CrtTables<Limbs> tables(system);
  out.limbs = Limbs;
  out.width = tables.width;
  out.pairs = tables.pairs;
  out.inverse_top = tables.inverse_top;
  std::copy_n(tables.product, Limbs, out.product);
  for (int g = 0; g < tables.pairs; ++g) {
    out.pair[g] = tables.pair[g];
    std::copy_n(tables.weight[g], Limbs, out.weight[g]);
  }
}

}  // namespace

LimbSumTables::LimbSumTables(const ResidueSystem& s) {
  const int needed = crt_limbs(s.count);
  const auto copy = needed == 3   ? copy_tables<3>
                    : needed == 4 ? copy_tables<4>
                    : needed == 6 ? copy_tables<6>
                    : needed == 9 ? copy_tables<9>
                                  : copy_tables<11>;
  copy(s, *this);
}

const LimbSumTables& limb_sum_tables(int count) {
  static std::array<Once<LimbSumTables>, max_moduli + 1> tables;
  const ResidueSystem& system = residue_system(count);
  return tables[static_cast<std::size_t>(count)].get(system);
}

const RecombineTables& recombine_tables(int moduli) {
  static std::array<Once<RecombineTables>, max_moduli + 1> tables;
  const ResidueSystem& system = residue_system(moduli);
  return tables[static_cast<std::size_t>(moduli)].get(system);
}

RecombineTables::RecombineTables(const ResidueSystem& s) : system(s), fraction(s) {
  groups = (s.count + 2) / 3;
  pairs = (groups + 1) / 2;
  limbs = std::max(3, (s.product.bit_width() + kappa_bits) / limb52 + 1);
  if (s.product.bit_width() > two_words) limbs = std::max(limbs, 4);
  factor_limbs = 1;
  group_product.fill(1);
  for (int q = 0; q < s.count; ++q)
    group_product[static_cast<std::size_t>(q / 3)] *= static_cast<std::uint64_t>(moduli[static_cast<std::size_t>(q)]);
  for (int q = 0; q < s.count; ++q) {
    const auto g = static_cast<std::size_t>(q / 3);
    const auto weight =
        static_cast<std::uint32_t>(group_product[g] / static_cast<std::uint64_t>(moduli[static_cast<std::size_t>(q)]));
    weight_low[g] |= (weight & 255) << (8 * (q % 3));
    weight_high[g] |= (weight >> 8) << (8 * (q % 3));
  }
  for (int pair = 0; pair < pairs; ++pair) {
    const WideInteger factor = without_pair(s.count, pair);
    factor_limbs = std::max(factor_limbs, (factor.bit_width() + limb52 - 1) / limb52);
    for (int l = 0; l < limbs; ++l)
      pair_factor[static_cast<std::size_t>(pair)][static_cast<std::size_t>(l)] = factor.bits(limb52 * l, limb52);
  }
  std::uint64_t borrow = 1;  // two's complement: all bits turned, plus one
  for (int l = 0; l < limbs; ++l) {
    const std::uint64_t mask = (std::uint64_t{1} << limb52) - 1;
    const std::uint64_t sum = (~s.product.bits(limb52 * l, limb52) & mask) + borrow;
    minus_product[static_cast<std::size_t>(l)] = sum & mask;
    borrow = sum >> limb52;
  }
  const int shift = limb52 * (limbs - 2);
  const int top = std::max(0, s.product.bit_width() - 64);
  inverse_top = std::ldexp(1.0 / static_cast<double>(s.product.bits(top, 64)), shift - top);
  one_word = groups <= 3 && s.product.bit_width() <= one_word_bits;
  if (!one_word) return;
  const std::uint64_t product = s.product.bits(0, 64);
  inverse_product = 1.0 / static_cast<double>(product);
  for (int g = 0; g < groups; ++g)
    group_factor[static_cast<std::size_t>(g)] = product / group_product[static_cast<std::size_t>(g)];
  for (std::size_t kappa = 0; kappa < multiple.size(); ++kappa)
    multiple[kappa] = static_cast<std::int64_t>(kappa * product);
}

namespace {

// Two's complement, least significant limb first; one limb more than the product of all moduli needs.
struct Accumulator {
  static constexpr int limbs = WideInteger::limbs;
  std::uint64_t limb[limbs] = {};

  void add_multiple(const WideInteger& x, std::int64_t factor) {
    Int128 carry = 0;
    for (int i = 0; i < limbs; ++i) {
      const Uint128 product = static_cast<Uint128>(x.limb[static_cast<std::size_t>(i)]) *
                              static_cast<std::uint64_t>(factor < 0 ? -factor : factor);
      // carry stays below 2^73 in magnitude, so the signed sum below cannot overflow
      const Int128 low = static_cast<std::uint64_t>(product), high = static_cast<std::uint64_t>(product >> 64);
      carry += static_cast<Int128>(limb[i]) + (factor < 0 ? -low : low);
      limb[i] = static_cast<std::uint64_t>(carry);
      carry = (carry >> 64) + (factor < 0 ? -high : high);
    }
  }

  bool negative() const { return (limb[limbs - 1] >> 63) != 0; }

  void negate() {
    std::uint64_t carry = 1;
    for (auto& x : limb) {
      x = ~x + carry;
      carry = carry != 0 && x == 0 ? 1 : 0;
    }
  }
};

template <class T>
T rounded(Accumulator c, int exponent) {
  const bool negative = c.negative();
  if (negative) c.negate();
  int top = Accumulator::limbs - 1;
  while (top > 0 && c.limb[top] == 0) --top;
  std::uint64_t significand = c.limb[top];
  if (top == 0) return round_scaled<T>(negative, significand, exponent);
  const int shift = std::countl_zero(significand);
  if (shift != 0) significand = significand << shift | c.limb[top - 1] >> (64 - shift);
  bool rest = (c.limb[top - 1] << shift) != 0;
  for (int i = 0; i < top - 1; ++i) rest = rest || c.limb[i] != 0;
  return round_scaled<T>(negative, significand | (rest ? 1 : 0), exponent + 64 * top - shift);
}

// C modulo P, symmetric; one element's residues.
Accumulator integer_of(const ResidueSystem& system, const std::int8_t* residues, std::size_t plane_bytes) {
  Accumulator c;
  double fraction = 0;  // C / P modulo 1
  for (int q = 0; q < system.count; ++q, residues += plane_bytes) {
    const auto index = static_cast<std::size_t>(q);
    c.add_multiple(system.cofactor[index], *residues);
    fraction += static_cast<double>(*residues) / moduli[index];
  }
  c.add_multiple(system.product, -static_cast<std::int64_t>(std::nearbyint(fraction)));
  return c;
}

}  // namespace

SignedInteger recombine_entry(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes) {
  Accumulator c = integer_of(tables.system, residues, plane_bytes);
  SignedInteger result;
  result.negative = c.negative();
  if (result.negative) c.negate();
  std::copy(std::begin(c.limb), std::end(c.limb), result.magnitude.limb.begin());
  return result;
}

template <class T>
T rounded_entry(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes, int exponent) {
  return rounded<T>(integer_of(tables.system, residues, plane_bytes), exponent);
}

namespace {

void put_leading(const SignedInteger& c, std::size_t e, LeadingTile& out) {
  const int cut = c.magnitude.bit_width() - 127;
  Uint128 leading;
  if (cut <= -64) {
    leading = static_cast<Uint128>(c.magnitude.limb[0]) << 64;
  } else {
    const int first = std::max(cut, 0);
    leading = static_cast<Uint128>(c.magnitude.bits(first + 64, 64)) << 64 | c.magnitude.bits(first, 64);
    if (cut < 0) leading <<= -cut;
    for (int bit = 0; bit < cut; bit += 64)
      if (c.magnitude.bits(bit, std::min(64, cut - bit)) != 0) leading |= 1;
  }
  if (c.negative) leading = -leading;
  out.high[e] = static_cast<std::int64_t>(static_cast<std::uint64_t>(leading >> 64));
  out.low[e] = static_cast<std::uint64_t>(leading);
  out.exponent[e] = cut <= -64 ? 0 : cut + 64;
}

}  // namespace

void put_leading(const LimbSumTables& tables, const double* sums, std::size_t stride, std::size_t e, LeadingTile& out) {
  const std::int64_t mask = (std::int64_t{1} << tables.width) - 1;
  std::int64_t digit[LimbSumTables::max_limbs] = {}, carry = 0;  // the leading digit has the sign
  const int last = tables.limbs - 1;
  for (int l = 0; l <= last; ++l) {
    const std::int64_t sum = static_cast<std::int64_t>(sums[static_cast<std::size_t>(l) * stride]) + carry;
    digit[l] = l < last ? sum & mask : sum;
    carry = sum >> tables.width;
  }
  SignedInteger c;
  c.negative = digit[last] < 0;
  std::int64_t borrow = c.negative ? 1 : 0;  // of a negative number all digits turned, plus one
  for (int l = 0; l <= last; ++l) {
    std::int64_t x = digit[l];
    if (c.negative) {
      const std::int64_t sum = (l < last ? ~x & mask : ~x) + borrow;
      x = l < last ? sum & mask : sum;
      borrow = l < last ? sum >> tables.width : 0;
    }
    const auto bits = static_cast<std::uint64_t>(x);
    const auto word = static_cast<std::size_t>(tables.width * l / 64);
    const int shift = tables.width * l % 64;
    c.magnitude.limb[word] |= bits << shift;
    if (shift != 0 && word + 1 < c.magnitude.limb.size()) c.magnitude.limb[word + 1] |= bits >> (64 - shift);
  }
  put_leading(c, e, out);
}

void recombine_leading_portable(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                LeadingTile& out) {
  for (std::size_t e = 0; e < out.high.size(); ++e) {
    const int index = residue_index(static_cast<int>(e) % strip_size, static_cast<int>(e) / strip_size);
    put_leading(recombine_entry(tables, residues + index, plane_bytes), e, out);
  }
}

template <class T>
void recombine_portable(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                        const int* row_scales, const int* column_scales, T* tile) {
  for (int j = 0; j < strip_size; ++j)
    for (int i = 0; i < strip_size; ++i)
      tile[j * strip_size + i] = rounded<T>(integer_of(tables.system, residues + residue_index(i, j), plane_bytes),
                                            -(row_scales[i] + column_scales[j]));
}

bool recombine_speculative_portable(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                    const int* row_scales, const int* column_scales, const SpeculativeTile& speculative,
                                    double* tile) {
  bool certain = true;
  for (int j = 0; j < strip_size; ++j)
    for (int i = 0; i < strip_size; ++i) {
      const Accumulator c = integer_of(tables.system, residues + residue_index(i, j), plane_bytes);
      certain = certain && std::abs(rounded<double>(c, 0)) < speculative.certain;
      tile[j * strip_size + i] = rounded<double>(c, -(row_scales[i] + column_scales[j])) / speculative.divisor;
    }
  return certain;
}

template <class T>
void recombine_complex_portable(const RecombineTables& tables, const ComplexResidues& residues, const int* row_scales,
                                const int* column_scales, T* real, T* imaginary) {
  std::int8_t part[2][max_moduli];
  for (int j = 0; j < strip_size; ++j)
    for (int i = 0; i < strip_size; ++i) {
      for (int q = 0; q < tables.system.count; ++q) {
        const auto index = static_cast<std::size_t>(q);
        const int p = moduli[index];
        const std::int8_t* product = residues.products + index * residues.plane_bytes + residue_index(i, j);
        const int xu = product[0], yv = product[residues.part_bytes], sums = product[2 * residues.part_bytes];
        part[0][q] = static_cast<std::int8_t>(symmetric_residue(xu - yv, p));
        part[1][q] = static_cast<std::int8_t>(symmetric_residue(sums - xu - yv, p));
      }
      const int exponent = -(row_scales[i] + column_scales[j]);
      real[j * strip_size + i] = rounded<T>(integer_of(tables.system, part[0], 1), exponent);
      imaginary[j * strip_size + i] = rounded<T>(integer_of(tables.system, part[1], 1), exponent);
    }
}

VERNIER_REAL_INSTANCES(rounded_entry, recombine_complex_portable, recombine_portable)

}  // namespace vernier
