// The oracle that the other tests trust: against values by hand and against MPFR.
#include <mpfr.h>

#include <cmath>

#include "fixture.hpp"
#include "support/bound.hpp"
#include "support/special.hpp"

namespace vernier::test::oracle_test {
namespace {

template <class T>
Matrix<T> row(const std::vector<T>& x) {
  return Matrix<T>::of(1, static_cast<std::int64_t>(x.size()),
                       [&](auto, auto l) { return x[static_cast<std::size_t>(l)]; });
}

template <class T>
T exact_dot(const std::vector<T>& x, const std::vector<T>& y) {
  return ExactProduct<T>(row(x), transposed(row(y))).rounded()(0, 0);
}

TEST(Oracle, SumsByHand) {
  EXPECT_EQ(exact_dot<double>({1, 2, 3}, {4, 5, 6}), 32);
  EXPECT_EQ(exact_dot<double>({1e300, 1, -1e300}, {1e300, 3, 1e300}), 3);
  EXPECT_EQ(exact_dot<double>({0x1p-1074, 1}, {0x1p-1074, 1}), 1);
  EXPECT_EQ(exact_dot<double>({0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023}, {1, -0.5}), 0x1.fffffffffffffp1022);
  EXPECT_EQ(bits_of(exact_dot<double>({1, -1}, {2, 2})), bits_of(0.0));
  EXPECT_EQ(exact_dot<float>({0x1p-149f, 0x1p-149f}, {0.5f, 0.5f}), 0x1p-149f);
}

TEST(Oracle, RoundsOnceToNearestEven) {
  EXPECT_EQ(exact_dot<double>({0x1p53, 1}, {1, 1}), 0x1p53);
  EXPECT_EQ(exact_dot<double>({0x1p53, 1, 0x1p-1074}, {1, 1, 0x1p-1074}), 0x1p53 + 2);
  EXPECT_EQ(exact_dot<double>({0x1p53, 3}, {1, 1}), 0x1p53 + 4);
  EXPECT_EQ(exact_dot<float>({0x1p24f, 1}, {1, 1}), 0x1p24f);
  EXPECT_EQ(exact_dot<float>({0x1p24f, 1, 0x1p-149f}, {1, 1, 0x1p-149f}), 0x1p24f + 2);
  EXPECT_EQ(exact_dot<double>({0x1p-1074}, {0.5}), 0);
  EXPECT_EQ(exact_dot<double>({0x1p-1074}, {0.75}), 0x1p-1074);
  EXPECT_EQ(exact_dot<double>({0x1p-1074}, {1.5}), 0x1p-1073);
  EXPECT_EQ(exact_dot<double>({0x1.fffffffffffffp-1022}, {0.5}), 0x1p-1022);
  EXPECT_EQ(exact_dot<double>({0x1.fffffffffffffp1023, 0x1p969}, {1, 1}), 0x1.fffffffffffffp1023);
  EXPECT_EQ(exact_dot<double>({0x1.fffffffffffffp1023, 0x1p970}, {1, 1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exact_dot<float>({-0x1.fffffep127f, 0x1p103f}, {1, -1}), -std::numeric_limits<float>::infinity());
}

TEST(Oracle, AgreesWithMpfrOnEveryFamily) {
  // No sum of products of doubles needs more bits than this.
  constexpr mpfr_prec_t precision = 4400;
  mpfr_t sum, term;
  mpfr_init2(sum, precision);
  mpfr_init2(term, precision);
  for (const std::string& family : operand_families()) {
    const auto [a, b] = make_operands<double>(family, 7, 6, 45, 100);
    const auto got = ExactProduct<double>(a, b).rounded();
    for (std::int64_t i = 0; i < 7; ++i)
      for (std::int64_t j = 0; j < 6; ++j) {
        mpfr_set_zero(sum, 1);
        for (std::int64_t l = 0; l < 45; ++l) {
          mpfr_set_d(term, a(i, l), MPFR_RNDN);
          mpfr_mul_d(term, term, b(l, j), MPFR_RNDN);
          mpfr_add(sum, sum, term, MPFR_RNDN);
        }
        EXPECT_EQ(got(i, j), mpfr_get_d(sum, MPFR_RNDN)) << family << " (" << i << ", " << j << ")";
      }
  }
  mpfr_clear(sum);
  mpfr_clear(term);
}

// The smallest step over the bound is seen, the largest within is not.
template <class T>
void expect_limit(const Contract& contract, T within, T beyond) {
  const auto a = row<T>({1, 1}), b = transposed(row<T>({1, 0}));
  const auto result = [](T value) { return Matrix<T>::of(1, 1, [&](auto, auto) { return value; }); };
  EXPECT_EQ(broken_bound(contract, a, b, result(1)), "");
  EXPECT_EQ(broken_bound(contract, a, b, result(within)), "");
  EXPECT_NE(broken_bound(contract, a, b, result(beyond)), "") << contract.text();
}

TEST(Oracle, DecidesBoundsToTheLastBit) {
  // k = 2, |A||B| = 1, |A_i| |B_j| = sqrt(2)
  expect_limit<double>(Contract::fp64(), 1 + 0x1p-52, 1 + 0x1p-51);  // 3 * 2^-53
  expect_limit<double>(Contract::fp64(), 1 - 3 * 0x1p-53, 1 - 0x1p-51);
  expect_limit<double>(Contract::fp32(), 1 + 3 * 0x1p-24, 1 + 3 * 0x1p-24 + 0x1p-52);
  expect_limit<double>(Contract::bits(20), 1 + 0x1p-19, 1 + 0x1p-19 + 0x1p-52);
  expect_limit<double>(Contract::bits(110), 1 - 0x1p-53, 1 + 0x1p-52);
  expect_limit<double>(Contract::normwise(), 1 - 3 * 0x1p-53, 1 - 4 * 0x1p-53);  // (2 + sqrt(2)) * 2^-53
  expect_limit<float>(Contract::fp32(), 1 + 0x1p-22f, 1 + 0x1p-22f + 0x1p-23f);  // 3 u + u |T|
  expect_limit<float>(Contract::fp64(), 1.0f, 1 - 0x1p-24f - 0x1p-24f);
}

TEST(Oracle, LetsInfinityStandForOverflowAlone) {
  const double infinity = std::numeric_limits<double>::infinity(), top = std::numeric_limits<double>::max();
  const auto result = [](double value) { return Matrix<double>::of(1, 1, [&](auto, auto) { return value; }); };
  const auto one = result(1), two = result(2), large = result(top), less = result(top * 0.99);
  EXPECT_EQ(broken_bound(Contract::fp64(), large, two, result(infinity)), "");
  EXPECT_NE(broken_bound(Contract::fp64(), large, two, result(-infinity)), "");
  EXPECT_NE(broken_bound(Contract::fp64(), large, two, result(top)), "");
  EXPECT_NE(broken_bound(Contract::fp64(), less, one, result(infinity)), "");
  EXPECT_NE(broken_bound(Contract::fp64(), one, one, result(std::nan(""))), "");
}

TEST(Oracle, FindsBrokenGuardsAndDifferingBits) {
  Matrix<float> x(3, 2, 2);
  for (std::int64_t j = 0; j < 2; ++j)
    for (std::int64_t i = 0; i < 3; ++i) x(i, j) = 0;
  EXPECT_EQ(x.broken_guard(), "");
  Matrix<float> y = x;
  y(2, 1) = -0.0f;
  EXPECT_NE(difference(y, x).find("(2, 1)"), std::string::npos) << difference(y, x);
  for (const std::int64_t offset : {-16, -1, 3, 4, 8, 9, 10, 25}) {
    Matrix<float> z = x;
    z.data()[offset] = 0;
    EXPECT_NE(z.broken_guard(), "") << offset;
  }
}

TEST(Oracle, KnowsWhereIeeeSendsNanAndInfinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto special = [](const std::vector<double>& x, const std::vector<double>& y) {
    return special_value(row(x), transposed(row(y)), 0, 0);
  };
  EXPECT_FALSE(special({1, 1e308}, {1, 1e308}).has_value());
  EXPECT_EQ(special({infinity, 1}, {2, 3}), infinity);
  EXPECT_EQ(special({infinity, -infinity}, {2, -3}), infinity);
  EXPECT_TRUE(std::isnan(*special({infinity, -infinity}, {2, 3})));
  EXPECT_TRUE(std::isnan(*special({infinity, 1}, {0, 1})));
  EXPECT_TRUE(std::isnan(*special({std::nan(""), 1}, {0, 1})));
}

}  // namespace
}  // namespace vernier::test::oracle_test
