// Strassen-Winograd: the signs make a product, and sums of quarters have the residues of sums.
#include "residue/convert/winograd.hpp"

#include <gtest/gtest.h>

#include <random>

#include "residue/convert/digits.hpp"

namespace vernier::winograd_test {
namespace {

// Quarter c of C is the sum over halves h of k of quarter (rows, h) of A times quarter (columns, h) of B: compared
// coefficient by coefficient.
TEST(Winograd, SevenProductsMakeTheProductOfQuarters) {
  for (int c = 0; c < quarters; ++c)
    for (int a = 0; a < quarters; ++a)
      for (int b = 0; b < quarters; ++b) {
        int coefficient = 0;
        for (int s = 0; s < winograd_products; ++s)
          coefficient += winograd_c[c][s] * winograd_a[s][a] * winograd_b[s][b];
        const bool term = a / 2 == c / 2 && b / 2 == c % 2 && a % 2 == b % 2;
        EXPECT_EQ(coefficient, term ? 1 : 0) << "C " << c << ", A " << a << ", B " << b;
      }
}

template <int Words>
void expect_sums_reduced_once() {
  std::mt19937_64 random(3);
  for (int q = 0; q < most_winograd_moduli; ++q) {
    const int p = moduli[static_cast<std::size_t>(q)];
    const ByteReduction<Words> one = digit_reduction<Words>(p, ByteForm::natural);
    for (const auto& side : {winograd_a, winograd_b})
      for (int s = 0; s < winograd_products; ++s) {
        const int net = winograd_net(side[s]);
        ASSERT_GE(net, 0);
        ASSERT_LE(net, 2);
        const ByteReduction<Words> r = digit_reduction<Words>(p, ByteForm::natural, quarters, net);
        for (int i = 0; i < 300; ++i) {
          std::int32_t sum = r.start;
          int expected = 0;
          for (int c = 0; c < quarters; ++c) {
            std::uint32_t words[Words];
            for (std::uint32_t& w : words) w = i < 10 ? (i % 2 == 0 ? ~0u : 0u) : static_cast<std::uint32_t>(random());
            for (int w = 0; w < Words; ++w) sum += side[s][c] * dot_bytes(words[w], r.weights[w], 0);
            expected += side[s][c] * static_cast<int>(residue_byte(words, one) & 255);
          }
          ASSERT_EQ((static_cast<int>(remainder_byte(sum, r) & 255) - expected) % p, 0) << "p = " << p << ", sum " << s;
        }
      }
  }
}

TEST(Winograd, SumsAreReducedOnce) {
  expect_sums_reduced_once<2>();
  expect_sums_reduced_once<3>();
}

}  // namespace
}  // namespace vernier::winograd_test
