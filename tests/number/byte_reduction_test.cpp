#include "number/byte_reduction.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace vernier::byte_reduction_test {
namespace {

int value_of(std::uint32_t byte, ByteForm form) {
  const auto low = static_cast<std::uint8_t>(byte);
  return form == ByteForm::natural ? low : static_cast<std::int8_t>(low);
}

template <int Words>
void every_sum_leaves_its_residue() {
  for (const int p : moduli)
    for (const ByteForm form : {ByteForm::symmetric, ByteForm::natural}) {
      const auto r = make_byte_reduction<Words>(p, 1, {}, form);
      constexpr int most = Words * 4 * 255 * 128 + 256;
      for (int y = -most; y <= most; ++y) {
        const int got = value_of(remainder_byte(r.start + y, r), form);
        ASSERT_EQ((got - y) % p, 0) << "p = " << p << ", y = " << y;
        if (form == ByteForm::symmetric) {
          ASSERT_LE(2 * std::abs(got), p + 1) << "p = " << p << ", y = " << y;
        }
      }
    }
}

TEST(ByteReduction, EverySumOfOneWordLeavesItsResidue) { every_sum_leaves_its_residue<1>(); }
TEST(ByteReduction, EverySumOfTwoWordsLeavesItsResidue) { every_sum_leaves_its_residue<2>(); }
TEST(ByteReduction, EverySumOfSixWordsLeavesItsResidue) { every_sum_leaves_its_residue<6>(); }

TEST(ByteReduction, A64BitIntegerWithAnOffsetAndAFactor) {
  std::mt19937_64 random(1);
  for (const int p : moduli)
    for (const int factor : {1, -1, p / 2, p - 1}) {
      const auto r = make_byte_reduction<2>(p, factor, {{{0, -1}, {32, 31}}}, ByteForm::natural);
      for (int i = 0; i < 200; ++i) {
        const auto x = static_cast<std::int64_t>(random()) >> (i % 63);
        const std::uint64_t biased = static_cast<std::uint64_t>(x) ^ (std::uint64_t{1} << 63);
        const std::int32_t sum = dot_bytes(static_cast<std::uint32_t>(biased >> 32), r.weights[1],
                                           dot_bytes(static_cast<std::uint32_t>(biased), r.weights[0], r.start));
        const int got = value_of(remainder_byte(sum, r), ByteForm::natural);
        ASSERT_EQ(symmetric_residue(got, p), multiply_mod(symmetric_residue(x, p), factor, p)) << x << " mod " << p;
      }
    }
}

}  // namespace
}  // namespace vernier::byte_reduction_test
