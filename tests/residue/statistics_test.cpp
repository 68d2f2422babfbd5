#include "product/statistics.hpp"

#include <gmpxx.h>

#include "backends.hpp"
#include "samples.hpp"
#include "support/exact.hpp"

namespace vernier {

static void PrintTo(const VectorStatistics& s, std::ostream* out) {
  *out << "{exponent " << s.exponent << ", lowest " << s.lowest << ", squares " << s.squares << ", sum " << s.sum
       << ", flatness " << s.flatness << ", nonfinite " << s.nonfinite << '}';
}

namespace test {
namespace {

template <class T>
class StatisticsTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(StatisticsTest, Types);

template <class T>
using Statistics = void (*)(const Operand<T>&, std::int64_t, std::int64_t, VectorStatistics*);

// Every count of vectors, from the first and from the third on, in both layouts, against vectors read one by one.
template <class T>
void expect_the_definition(Statistics<T> statistics, bool nonfinite) {
  Random random(1);
  for (const std::int64_t k : {1, 2, 7, 15, 16, 17, 33, 64, 101}) {
    Matrix<T> x = vectors_of_all_kinds<T>(k, 72, random);
    if (nonfinite) sprinkle_nonfinite(x, random);
    std::vector<VectorStatistics> expected;
    for (std::int64_t v = 0; v < 72; ++v) expected.push_back(vector_statistics(&x(0, v), 1, k));
    for (const bool k_contiguous : {false, true})
      for (const std::int64_t pad : {0, 5}) {
        const StoredOperand<T> stored(x, k_contiguous, pad);
        for (std::int64_t count = 1; count <= 70; ++count)
          for (const std::int64_t first : {0, 2}) {
            std::vector<VectorStatistics> got(static_cast<std::size_t>(count + 1));
            statistics(stored.operand, first, count, got.data());
            for (std::int64_t v = 0; v < count; ++v)
              ASSERT_EQ(got[static_cast<std::size_t>(v)], expected[static_cast<std::size_t>(first + v)])
                  << "vector " << first << " + " << v << " of " << count << ", k = " << k << ", contiguous "
                  << k_contiguous;
            ASSERT_EQ(got.back(), VectorStatistics{}) << "written behind the last vector";
          }
      }
  }
}

TYPED_TEST(StatisticsTest, PortableEqualsTheDefinition) {
  expect_the_definition<TypeParam>(statistics_portable<TypeParam>, false);
}
TYPED_TEST(StatisticsTest, PortableEqualsTheDefinitionWithNonfinite) {
  expect_the_definition<TypeParam>(statistics_portable<TypeParam>, true);
}
TYPED_TEST(StatisticsTest, VectorsEqualTheDefinition) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_the_definition<TypeParam>(vector->statistics, false);
  }
}
TYPED_TEST(StatisticsTest, VectorsEqualTheDefinitionWithNonfinite) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_the_definition<TypeParam>(vector->statistics, true);
  }
}

// Vectors as long as the sums of the vector form can take before they are put away, and longer.
TYPED_TEST(StatisticsTest, VectorsEqualTheDefinitionForLongVectorsOfTheLargestElements) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    Random random(2);
    for (const std::int64_t k : {255, 256, 2048, 2049, 6007}) {
      const auto x =
          Matrix<TypeParam>::of(k, 40, [&](auto l, auto) { return sample<TypeParam>(Kind::largest, l, random); });
      for (const bool k_contiguous : {false, true}) {
        const StoredOperand<TypeParam> stored(x, k_contiguous, 0);
        std::vector<VectorStatistics> got(40);
        vector->statistics(stored.operand, 0, 40, got.data());
        for (std::int64_t v = 0; v < 40; ++v)
          ASSERT_EQ(got[static_cast<std::size_t>(v)], vector_statistics(&x(0, v), 1, k)) << "k = " << k;
      }
    }
  }
}

// Down to where a float holds the power of two that elements are measured by no more.
TYPED_TEST(StatisticsTest, VectorsEqualTheDefinitionOfSmallElements) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    Random random(3);
    const auto x = Matrix<TypeParam>::of(150, 64, [&](auto, auto v) {
      return static_cast<TypeParam>(std::ldexp(random.uniform() - 0.5, -90 - static_cast<int>(v)));
    });
    for (const bool k_contiguous : {false, true}) {
      const StoredOperand<TypeParam> stored(x, k_contiguous, 0);
      std::vector<VectorStatistics> got(64);
      vector->statistics(stored.operand, 0, 64, got.data());
      for (std::int64_t v = 0; v < 64; ++v)
        ASSERT_EQ(got[static_cast<std::size_t>(v)], vector_statistics(&x(0, v), 1, 150)) << "vector " << v;
    }
  }
}

int floor_log2(const mpz_class& x) { return static_cast<int>(mpz_sizeinbase(x.get_mpz_t(), 2)) - 1; }

// Elements this many bits below the maximum vanish where they are measured against it, and may count as zero.
constexpr int vanishing = 1085;

// exponent, lowest, squares and sum of the header's formulas in integers, without elements deeper than the given bits.
template <class T>
VectorStatistics exact_statistics(const T* x, std::int64_t k, int depth) {
  VectorStatistics s;
  mpz_class largest = 0, smallest = 0;
  for (std::int64_t l = 0; l < k; ++l) {
    s.nonfinite = s.nonfinite || !std::isfinite(x[l]);
    if (!std::isfinite(x[l]) || x[l] == 0) continue;
    const mpz_class magnitude = abs(exact_value(static_cast<double>(x[l])));
    if (magnitude > largest) largest = magnitude;
    if (smallest == 0 || magnitude < smallest) smallest = magnitude;
  }
  if (largest == 0) return s;
  s.exponent = floor_log2(largest) + exact_unit;
  s.lowest = floor_log2(smallest) + exact_unit;
  for (std::int64_t l = 0; l < k; ++l) {
    if (!std::isfinite(x[l])) continue;
    mpz_class v = abs(exact_value(static_cast<double>(x[l])));
    if (floor_log2(v) + exact_unit < s.exponent - depth) continue;
    mpz_cdiv_q_2exp(v.get_mpz_t(), v.get_mpz_t(), static_cast<mp_bitcnt_t>(s.exponent - quantum_bits - exact_unit));
    s.squares += v.get_ui() * v.get_ui();
    s.sum += v.get_ui();
  }
  return s;
}

TYPED_TEST(StatisticsTest, AreTheIntegersOfTheirFormulas) {
  Random random(2);
  for (const std::int64_t k : {1, 2, 30, 101})
    for (int repetition = 0; repetition < 3; ++repetition) {
      Matrix<TypeParam> x = vectors_of_all_kinds<TypeParam>(k, 60, random);
      if (repetition > 0) sprinkle_nonfinite(x, random);
      for (std::int64_t v = 0; v < 60; ++v) {
        VectorStatistics got = vector_statistics(&x(0, v), 1, k);
        got.flatness = not_flat;
        const VectorStatistics least = exact_statistics(&x(0, v), k, vanishing);
        VectorStatistics expected = exact_statistics(&x(0, v), k, 1 << 20);
        ASSERT_GE(got.sum, least.sum);
        ASSERT_LE(got.sum, expected.sum);
        ASSERT_EQ(expected.squares - got.squares, expected.sum - got.sum);  // each that vanished has v = 1
        expected.squares = got.squares;
        expected.sum = got.sum;
        ASSERT_EQ(got, expected) << "vector " << v << ", k = " << k;
      }
    }
}

TYPED_TEST(StatisticsTest, OfAZeroVectorSayZero) {
  const std::vector<TypeParam> zeros = {TypeParam{0}, -TypeParam{0}, TypeParam{0}};
  const VectorStatistics s = vector_statistics(zeros.data(), 1, 3);
  EXPECT_EQ(s, VectorStatistics{});
  EXPECT_TRUE(s.zero());
  EXPECT_EQ(s.span(), 0);
}

TYPED_TEST(StatisticsTest, DoNotDependOnOrderOrSigns) {
  Random random(3);
  for (int repetition = 0; repetition < 100; ++repetition) {
    const Matrix<TypeParam> x = vectors_of_all_kinds<TypeParam>(77, 1, random);
    Matrix<TypeParam> y = rows_in_order(x, random.permutation(77));
    for (std::int64_t l = 0; l < 77; ++l) y(l, 0) *= static_cast<TypeParam>(random.sign());
    ASSERT_EQ(vector_statistics(y.data(), 1, 77), vector_statistics(x.data(), 1, 77));
  }
}

}  // namespace
}  // namespace test
}  // namespace vernier
