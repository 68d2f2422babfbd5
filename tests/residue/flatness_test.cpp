// Lemma 1: sum |x_l| |y_l| >= k G_x G_y 2^(exponent_x + exponent_y) for any two flat vectors, decided in integers.
#include "product/flatness.hpp"

#include <algorithm>

#include "backends.hpp"
#include "samples.hpp"
#include "support/exact.hpp"

namespace vernier::test::flatness_test {
namespace {

template <class T>
class FlatnessTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(FlatnessTest, Types);

template <class T>
using Vector = std::vector<T>;

// The product of the vectors sorted opposite ways is the smallest of all orders.
template <class T>
void expect_lemma_1(const std::vector<Vector<T>>& vectors, std::int64_t k) {
  std::vector<Vector<T>> flat;
  std::vector<VectorStatistics> statistics;
  for (Vector<T> x : vectors) {
    const VectorStatistics s = vector_statistics(x.data(), 1, k);
    if (s.flatness == not_flat) continue;
    std::sort(x.begin(), x.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
    flat.push_back(x);
    statistics.push_back(s);
  }
  const auto count = static_cast<std::int64_t>(flat.size());
  ASSERT_GE(count, 1) << "nothing to test at k = " << k;
  const auto at = [&](std::int64_t v, std::int64_t l) {
    return flat[static_cast<std::size_t>(v)][static_cast<std::size_t>(l)];
  };
  const auto a = Matrix<T>::of(count, k, at);
  const auto b = Matrix<T>::of(k, count, [&](auto l, auto v) { return at(v, k - 1 - l); });
  const ExactProduct<T> product(a, b);
  for (std::int64_t j = 0; j < count; ++j)
    for (std::int64_t i = 0; i < count; ++i) {
      const VectorStatistics &x = statistics[static_cast<std::size_t>(i)], &y = statistics[static_cast<std::size_t>(j)];
      // squares of both sides
      const mpz_class& sum = product.magnitude(i, j);
      const mpz_class left = (sum * sum) << static_cast<unsigned long>(x.flatness + y.flatness);
      const mpz_class right = mpz_class(static_cast<long>(k) * static_cast<long>(k))
                              << static_cast<unsigned long>(2 * (x.exponent + y.exponent - exact_unit));
      ASSERT_GE(cmp(left, right), 0) << "k = " << k << ", flatness " << x.flatness << " and " << y.flatness
                                     << ", vectors " << i << " and " << j;
    }
}

TYPED_TEST(FlatnessTest, Lemma1HoldsForRandomVectorsSortedOppositeWays) {
  Random random(1);
  for (const std::int64_t k : {1, 2, 3, 8, 33, 100}) {
    std::vector<Vector<TypeParam>> vectors;
    for (const Kind kind : all_kinds)
      for (int i = 0; i < 12; ++i) {
        Vector<TypeParam> x;
        for (std::int64_t l = 0; l < k; ++l) x.push_back(sample<TypeParam>(kind, l, random));
        vectors.push_back(x);
      }
    expect_lemma_1(vectors, k);
  }
}

// One maximum, some elements next to a threshold, the others zero or next to nothing: what comes closest to the bound.
TYPED_TEST(FlatnessTest, Lemma1HoldsForVectorsNextToTheThresholds) {
  using T = TypeParam;
  for (const std::int64_t k : {2, 3, 4, 11, 32}) {
    std::vector<Vector<T>> vectors;
    for (const int depth : {0, 2, 4, 6, 8, 10, 24, 96})
      for (int side = -1; side <= 1; ++side)
        for (const std::int64_t large : {k / 2 + 1, k / 2 + 2, k})
          for (const T low : {T{0}, std::ldexp(T{1}, -100)}) {
            const T power = std::ldexp(T{1}, -depth);
            const T high = side == 0 ? power : std::nextafter(power, side < 0 ? T{0} : T{2});
            Vector<T> x(static_cast<std::size_t>(k), low);
            std::fill_n(x.begin(), std::min(large, k), high);
            x[0] = T{1};
            vectors.push_back(x);
            x[0] = std::nextafter(T{2}, T{0});
            vectors.push_back(x);
          }
    expect_lemma_1(vectors, k);
  }
}

// Random steps: each element is one of the thresholds or zero.
TYPED_TEST(FlatnessTest, Lemma1HoldsForRandomStaircases) {
  Random random(2);
  for (const std::int64_t k : {7, 16, 40}) {
    std::vector<Vector<TypeParam>> vectors;
    for (int i = 0; i < 150; ++i) {
      const double zeros = random.uniform() * 0.5;
      const int deepest = static_cast<int>(random.integer(1, 12));
      Vector<TypeParam> x(static_cast<std::size_t>(k), TypeParam{1});
      for (std::size_t l = 1; l < x.size(); ++l)
        x[l] = random.uniform() < zeros ? TypeParam{0}
                                        : std::ldexp(TypeParam{1}, -static_cast<int>(random.integer(0, deepest)));
      vectors.push_back(x);
    }
    expect_lemma_1(vectors, k);
  }
}

TYPED_TEST(FlatnessTest, NoStatementIsMadeOfVectorsWithMoreZerosThanHalf) {
  for (std::int64_t k = 1; k <= 60; ++k)
    for (std::int64_t ones = 1; 2 * ones <= k; ++ones) {
      Vector<TypeParam> x(static_cast<std::size_t>(k), TypeParam{0});
      std::fill_n(x.begin(), ones, TypeParam{1});
      ASSERT_EQ(vector_statistics(x.data(), 1, k).flatness, not_flat) << ones << " of " << k;
    }
}

// Ordinary vectors must come out as flat, or everything would be wide.
TYPED_TEST(FlatnessTest, OrdinaryVectorsAreFlat) {
  Random random(3);
  for (const double phi : {0.1, 0.5, 1.0, 2.0}) {
    Vector<TypeParam> x;
    for (int l = 0; l < 1000; ++l) x.push_back(static_cast<TypeParam>(random.scattered(phi)));
    EXPECT_LE(vector_statistics(x.data(), 1, 1000).flatness, phi < 1.5 ? 20 : 40) << phi;
  }
}

TEST(Log2RatioUp, IsTheSmallestExponentThatReaches) {
  EXPECT_EQ(log2_ratio_up(0, 5), not_flat);
  EXPECT_EQ(log2_ratio_up(-3, 5), not_flat);
  for (std::int64_t numerator = 1; numerator <= 300; ++numerator)
    for (std::int64_t denominator = 1; denominator <= 300; ++denominator) {
      int t = 0;
      while (numerator << t < denominator) ++t;
      ASSERT_EQ(log2_ratio_up(numerator, denominator), t) << numerator << " / " << denominator;
    }
}

}  // namespace
}  // namespace vernier::test::flatness_test
