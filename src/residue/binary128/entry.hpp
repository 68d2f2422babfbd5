// Sums of limbs of the Chinese remainder -> T in binary128, rounded once. Host and device; where it is decided the
// result is that of quad_writer.hpp.
#pragma once

#include "residue/binary128/bits.hpp"
#include "residue/quad/crt_dd.hpp"

namespace vernier {

// The leading 127 bits of an integer.
template <int Limbs>
VERNIER_HD inline WideNumber wide_of_sums(const CrtSums<Limbs>& c) {
  constexpr int width = crt_limb_width<Limbs>;
  constexpr std::int64_t mask = (std::int64_t{1} << width) - 1;
  std::int64_t digit[Limbs];  // the leading one with the sign
  std::int64_t carry = 0;
  for (int l = 0; l < Limbs; ++l) {
    const std::int64_t sum = static_cast<std::int64_t>(c.s[l]) + carry;
    digit[l] = l < Limbs - 1 ? sum & mask : sum;
    carry = sum >> width;
  }
  int top = Limbs - 1;
  while (top > 0 && digit[top] == 0) --top;
  // 127 bits hold a leading digit of 53 bits and at least one more: digits join as long as nothing is lost.
  WideNumber x{digit[top], 0, false};
  int l = top;
  for (; l > 0; --l) {
    const Int128 next = (x.value << width) + digit[l - 1];
    if (bit_width_of(magnitude_of(x.value)) + width > 126) break;
    x.value = next;
  }
  x.exponent = width * l;
  if (l == 0) return x;
  const int room = 126 - bit_width_of(magnitude_of(x.value));
  const std::int64_t below = digit[l - 1];
  x.value = (x.value << room) + (below >> (width - room));
  x.exponent -= room;
  bool rest = (below & ((std::int64_t{1} << (width - room)) - 1)) != 0;
  for (int j = 0; j < l - 1; ++j) rest = rest || digit[j] != 0;
  if (rest) x.value |= 1, x.cut = true;
  return x;
}

// C of an entry as its bits, low and high half in DdEntry's numbers; power of two times T.
template <int Limbs>
VERNIER_HD inline DdEntry binary128_entry(const CrtSums<Limbs>& reduced, const DdVector& row, const DdVector& column,
                                          const DdRule& rule) {
  if (row.special + column.special != 0) return {0, 0, DdState::special};
  if (rule.host) return {0, 0, DdState::doubtful};
  WideNumber x = wide_of_sums(reduced);
  const double error = dd_error(row, column);
  if (error != 0) {
    const double size = fabs(round_wide<double>(x.value, x.exponent)),
                 proved = fmax(size * (1 - 0x1p-40) - 2 * error, row.floor * column.floor);
    if (rule.exact || !(error <= rule.share * proved)) return {0, 0, DdState::open};
  }
  if (rule.sign < 0) x.value = -x.value;
  x.exponent += row.exponent + column.exponent + rule.exponent;
  const Uint128 bits = binary128_bits(x, rule.exact ? rule.rounding : Rounding::nearest);
  return {std::bit_cast<double>(static_cast<std::uint64_t>(bits)),
          std::bit_cast<double>(static_cast<std::uint64_t>(bits >> 64)), DdState::known};
}

}  // namespace vernier
