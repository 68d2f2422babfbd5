// The parts of correct rounding: lowest_bits, leading bits, the rounding test, compensated sums. Every backend gives
// what is right.
#include "residue/exact/exact.hpp"
#include "number/long_accumulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "backends.hpp"
#include "support/compare.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier::test::exact_test {
namespace {

// Those that run here: portable always.
template <class T>
std::vector<const SchemeBackend<T>*> backends() {
  std::vector<const SchemeBackend<T>*> list = vector_backends<T>();
  list.push_back(&portable_backend<T>());
  return list;
}

template <class T>
class ExactPartsTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactPartsTest, Types);

TYPED_TEST(ExactPartsTest, LowestBitsCountWhatScalingLeaves) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  // Two vectors of five: 6, 0.75, 0, inf, -8 and zeros.
  const std::vector<T> by_vector = {6, T{0.75}, 0, infinity, -8, 0, 0, 0, 0, 0};
  std::vector<T> by_index(10);
  for (std::size_t l = 0; l < 5; ++l) by_index[2 * l] = by_vector[l], by_index[2 * l + 1] = by_vector[5 + l];
  for (const auto* backend : backends<T>())
    for (const bool contiguous : {false, true}) {
      const Operand<T> view{contiguous ? by_vector.data() : by_index.data(), 2, 5, contiguous ? 5 : 2, contiguous};
      LowestBits lowest_bits[2];
      for (const auto& [scale, inexact] : {std::pair{0, 1}, {2, 0}, {-2, 2}, {-4, 3}}) {
        const int scales[2] = {scale, scale};
        backend->lowest_bits(view, scales, lowest_bits);
        EXPECT_EQ(lowest_bits[0].exponent, -2);
        EXPECT_EQ(lowest_bits[0].inexact, inexact) << scale;
        EXPECT_EQ(lowest_bits[1].exponent, no_lowest_bit);
        EXPECT_EQ(lowest_bits[1].inexact, 0);
      }
    }
}

mpz_class value_of(const SignedInteger& x) {
  mpz_class z;
  mpz_import(z.get_mpz_t(), x.magnitude.limb.size(), -1, 8, 0, 0, x.magnitude.limb.data());
  return x.negative ? mpz_class(-z) : z;
}

mpz_class two_words(std::int64_t high, std::uint64_t low) {
  return (mpz_class(static_cast<long>(high)) << 64) + mpz_class(static_cast<unsigned long>(low));
}

// Integers of every size below P / 2 (1 - 2^-20).
TEST(RecombineLeading, HoldsTheLeadingBitsOfTheInteger) {
  Random random(5);
  for (int count = 2; count <= max_moduli; ++count) {
    const ResidueSystem& system = residue_system(count);
    const RecombineTables tables(system);
    alignas(64) static std::int8_t residues[max_moduli][block_elements];
    std::vector<mpz_class> integers(block_elements);
    for (std::size_t e = 0; e < block_elements; ++e) {
      const auto bits = static_cast<int>(random.integer(0, static_cast<int>(system.log2_product) - 2));
      mpz_class c = 0;
      for (int b = 0; b < bits; b += 32) c = (c << 32) + static_cast<unsigned long>(random.integer(0, (1ll << 32) - 1));
      c >>= static_cast<unsigned long>((32 - bits % 32) % 32);
      integers[e] = random.sign() < 0 ? mpz_class(-c) : c;
      const int index = residue_index(static_cast<int>(e) % strip_size, static_cast<int>(e) / strip_size);
      for (int q = 0; q < count; ++q) {
        const int p = moduli[static_cast<std::size_t>(q)];
        const int r = static_cast<int>(mpz_fdiv_ui(integers[e].get_mpz_t(), static_cast<unsigned long>(p)));
        residues[q][index] =
            static_cast<std::int8_t>(multiply_mod(r, system.row_factor[static_cast<std::size_t>(q)], p));
      }
    }
    for (const auto* backend : backends<double>()) {
      const auto tile = std::make_unique<LeadingTile>();
      backend->recombine_leading(tables, residues[0], block_elements, *tile);
      for (std::size_t e = 0; e < block_elements; ++e) {
        const mpz_class x = two_words(tile->high[e], tile->low[e]);
        const int unit = tile->exponent[e] - 64;  // x 2^unit is the integer
        const mpz_class difference = unit >= 0 ? mpz_class((x << static_cast<unsigned long>(unit)) - integers[e])
                                               : mpz_class(x - (integers[e] << static_cast<unsigned long>(-unit)));
        if (difference != 0) {
          EXPECT_GT(unit, 0);
          EXPECT_TRUE(abs(difference) < (mpz_class(1) << static_cast<unsigned long>(std::max(unit, 0))));
          EXPECT_EQ(tile->low[e] & 1, 1u);
        }
        const bool normalised = tile->high[e] >= 1ll << 62 || tile->high[e] <= -(1ll << 62);
        EXPECT_TRUE(normalised || (tile->low[e] == 0 && tile->exponent[e] == 0)) << count;
      }
    }
    EXPECT_TRUE(value_of(recombine_entry(tables, residues[0] + residue_index(3, 5), block_elements)) ==
                integers[5 * strip_size + 3]);
  }
}

// Integers placed around midpoints, errors around their distance: decided only if the whole interval rounds alike.
TYPED_TEST(ExactPartsTest, DecidesExactlyWhatTheIntervalAllows) {
  using T = TypeParam;
  Random random(6);
  const auto integers = std::make_unique<LeadingTile>();
  constexpr int ulp_bit = 63 - std::numeric_limits<T>::digits;  // of high
  int decided = 0, open = 0;
  for (int trial = 0; trial < 60; ++trial) {
    for (std::size_t e = 0; e < block_elements; ++e) {
      std::uint64_t high = (std::uint64_t{1} << 62) | static_cast<std::uint64_t>(random.integer(0, (1ll << 62) - 1));
      high = (high >> ulp_bit << ulp_bit) | (std::uint64_t{1} << (ulp_bit - 1));  // a midpoint
      if (e % 7 == 0) high = std::uint64_t{1} << 62;
      const std::int64_t beside = random.integer(0, 1 << 6) - (1 << 5);
      integers->high[e] = static_cast<std::int64_t>(high) + beside;
      if (e % 2 == 0) integers->high[e] = -integers->high[e];
      integers->low[e] = static_cast<std::uint64_t>(random.integer(0, 1)) << 63;
      integers->exponent[e] = 10;
    }
    const int range = Ieee754<T>::min_exponent - 75;
    int row_scales[strip_size] = {}, column_scales[strip_size];
    for (int j = 0; j < strip_size; ++j) column_scales[j] = j < 16 ? 0 : -(range + j);  // to the subnormal numbers
    double one[strip_size], zero[strip_size] = {}, many[strip_size];
    for (int i = 0; i < strip_size; ++i) one[i] = 1, many[i] = std::ldexp(random.uniform(), 17);
    const TileErrors errors{{one, zero, zero}, {zero, many, many}};  // the error of (i, j) is many[j]
    for (const auto* backend : backends<T>()) {
      std::vector<T> c(block_elements, poison<T>());
      EntryMask undecided;
      const T alpha = trial % 2 == 0 ? T{1} : T{-2};
      backend->round_tile({alpha, 0, c.data(), strip_size, ~0u, 0x7fffffffu, row_scales, column_scales, errors},
                          *integers, undecided);
      for (std::size_t e = 0; e < block_elements; ++e) {
        const std::size_t j = e / strip_size, i = e % strip_size;
        if (j == 31) {  // takes no part
          EXPECT_EQ(bits_of(c[e]), bits_of(poison<T>()));
          continue;
        }
        const mpz_class x = two_words(integers->high[e], integers->low[e]) * static_cast<long>(alpha);
        const int unit = 10 - 64 - column_scales[j];
        const mpz_class error = mpz_class(std::ldexp(many[j], 54)) * static_cast<long>(std::abs(alpha));
        const T low = rounded<T>(x - error, unit), high = rounded<T>(x + error, unit);
        if ((undecided[j] >> i & 1) == 0) {
          ++decided;
          EXPECT_EQ(bits_of(c[e]), bits_of(low));
          EXPECT_EQ(bits_of(c[e]), bits_of(high));
        } else {
          ++open;
          EXPECT_EQ(bits_of(c[e]), bits_of(poison<T>()));
          const mpz_class wider = error + (mpz_class(1) << 16);  // the test's own slack is far below
          EXPECT_NE(rounded<T>(x - wider, unit), rounded<T>(x + wider, unit));
        }
      }
    }
  }
  EXPECT_GT(decided, 1000);
  EXPECT_GT(open, 1000);
}

// x_1 is scaled down to nothing, and y_1 to the largest.
TEST(ExactParts, CompensatedSumsKnowWhatUnderflows) {
  const double x[] = {0x1p482, std::numeric_limits<double>::denorm_min()}, y[] = {0, 1};
  const VectorPair<double> pair{.row = x, .column = y, .k = 2, .row_scale = -2, .column_scale = compensated_exponent};
  for (const auto* backend : backends<double>()) EXPECT_GE(backend->compensated(pair).error, 0x1p-596);
}

TEST(ExactParts, CompensatedSumsOfWhatIsNotRoundedAreExact) {
  const double x[] = {1.0 / 3, 2, 0}, y[] = {0, -7, 1.0 / 3}, c = 0;
  const VectorPair<double> pair{.row = x, .column = y, .k = 3, .row_scale = 0, .column_scale = 0, .underflows = false};
  for (const auto* backend : backends<double>()) {
    const CompensatedSum sum = backend->compensated(pair);
    EXPECT_EQ(sum.error, 0);
    EXPECT_EQ(refined_entry(sum, 0, 1.0, 0.0, &c, Rounding::nearest), -14.0);
    EXPECT_EQ(refined_entry(CompensatedSum{}, 0, 1.0, 0.0, &c, Rounding::down), 0.0);
  }
}

// Beside the sum of all products as an integer: elements of every size, and sums that cancel but for their last terms.
TYPED_TEST(ExactPartsTest, CompensatedSumsErrLessThanTheirBound) {
  using T = TypeParam;
  constexpr int largest = std::numeric_limits<T>::max_exponent - 1, least = std::numeric_limits<T>::min_exponent - 20;
  Random random(7);
  const auto element = [&](int spread, int most) {
    const auto x = std::ldexp(random.scattered(1), static_cast<int>(random.integer(most - spread, most)));
    return std::isinf(static_cast<T>(x)) ? T{1} : static_cast<T>(x);
  };
  for (const std::int64_t k : {1, 7, 31, 32, 33, 64, 100, 1000})
    for (const auto& [spread, most] : {std::pair{0, 0}, {40, 0}, {largest - least, largest - 2}, {20, least + 20}})
      for (const bool cancels : {false, true}) {
        std::vector<T> x, y;
        for (std::int64_t l = 0; l < k; ++l) x.push_back(element(spread, most)), y.push_back(element(spread, most));
        for (std::size_t l = 1; l < x.size() && cancels; l += 2) x[l] = -x[l - 1], y[l] = y[l - 1];
        const auto exponent = [](const std::vector<T>& v) {
          return vector_statistics(v.data(), 1, static_cast<std::int64_t>(v.size())).exponent;
        };
        const VectorPair<T> pair{.row = x.data(),
                                 .column = y.data(),
                                 .k = k,
                                 .row_scale = compensated_exponent - exponent(x),
                                 .column_scale = compensated_exponent - exponent(y)};
        for (const auto* backend : backends<T>()) {
          const CompensatedSum sum = backend->compensated(pair);
          LongAccumulator difference;
          for (std::size_t l = 0; l < x.size(); ++l)
            difference.add_product(static_cast<double>(x[l]), static_cast<double>(y[l]));
          for (const double part : std::initializer_list<double>{sum.sum, sum.rest}) {
            const DoubleParts p = parts_of(part);
            if (part != 0) difference.add(!p.negative, p.significand, p.exponent - pair.row_scale - pair.column_scale);
          }
          const LeadingBits off = difference.leading();
          const double error =
              std::abs(std::ldexp(static_cast<double>(off.value), off.exponent + pair.row_scale + pair.column_scale));
          EXPECT_LE(error, sum.error) << k << ' ' << spread << ' ' << most << ' ' << cancels;
          EXPECT_LE(sum.error, 0x1p872 * static_cast<double>(k * k));
        }
      }
}

}  // namespace
}  // namespace vernier::test::exact_test
