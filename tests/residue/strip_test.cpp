#include "product/strip.hpp"

#include "backends.hpp"
#include "samples.hpp"
#include "support/compare.hpp"

namespace vernier::test::strip_test {
namespace {

template <class T>
class StripTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(StripTest, Types);

TYPED_TEST(StripTest, HoldsTheVectorsAndZerosBehindThem) {
  using T = TypeParam;
  Random random(1);
  for (const std::int64_t vectors : {1, 31, 32, 33, 70})
    for (const std::int64_t k : {1, 23, 24, 25, 100}) {
      Matrix<T> x = vectors_of_all_kinds<T>(k, vectors, random);
      sprinkle_nonfinite(x, random);
      const StoredOperand<T> stored(x, false, 3);
      for (std::int64_t first = 0; first < vectors; first += strip_size)
        for (const auto& [begin, count] :
             {std::pair<std::int64_t, std::int64_t>{0, k}, {k / 2, k - k / 2}, {k / 3, 1}}) {
          Matrix<T> buffer(strip_size, count);
          const Operand<T> strip = gather_strip(stored.operand, first, begin, count, buffer.data());
          ASSERT_EQ(strip.vectors, std::min<std::int64_t>(strip_size, vectors - first));
          ASSERT_EQ(strip.k, count);
          const auto got = Matrix<T>::of(strip_size, count, [&](auto v, auto l) { return *strip.at(v, l); });
          const auto expected = Matrix<T>::of(
              strip_size, count, [&](auto v, auto l) { return v < strip.vectors ? x(begin + l, first + v) : T{0}; });
          ASSERT_EQ(difference(got, expected), "") << vectors << " vectors, k from " << begin << ": " << count;
          ASSERT_EQ(buffer.broken_guard(), "");
        }
    }
}

// The strip of gather_strip and the statistics of the definition; nothing is written behind the last vector's.
template <class T>
void expect_measured(decltype(SchemeBackend<T>::measured_strip) measured_strip) {
  Random random(3);
  for (const std::int64_t vectors : {1, 31, 32, 33, 70})
    for (const std::int64_t k : {1, 4, 25, 103, 300})
      for (const bool k_contiguous : {false, true})
        for (const bool nonfinite : {false, true}) {
          Matrix<T> x = vectors_of_all_kinds<T>(k + 3, vectors, random);
          if (nonfinite) sprinkle_nonfinite(x, random);
          const StoredOperand<T> stored(x, k_contiguous, 3);
          for (std::int64_t first = 0; first < vectors; first += strip_size) {
            Matrix<T> buffer(strip_size, k), expected(strip_size, k);
            std::vector<VectorStatistics> got(strip_size + 1);
            const Operand<T> strip = measured_strip(stored.operand, first, 2, k, buffer.data(), got.data());
            const Operand<T> gathered = gather_strip(stored.operand, first, 2, k, expected.data());
            ASSERT_EQ(strip.vectors, gathered.vectors);
            ASSERT_EQ(strip.data == buffer.data(), gathered.data == expected.data());
            ASSERT_EQ(difference(buffer, expected), "") << vectors << " vectors, k = " << k;
            ASSERT_EQ(buffer.broken_guard(), "");
            for (std::int64_t v = 0; v <= strip_size; ++v)
              ASSERT_EQ(got[static_cast<std::size_t>(v)],
                        v < strip.vectors ? vector_statistics(&x(2, first + v), 1, k) : VectorStatistics{})
                  << "vector " << first << " + " << v << " of " << vectors << ", k = " << k << ", contiguous "
                  << k_contiguous;
          }
        }
}

TYPED_TEST(StripTest, PortableMeasuresWhatItGathers) { expect_measured<TypeParam>(measured_strip_portable<TypeParam>); }
TYPED_TEST(StripTest, VectorsMeasureWhatItGathers) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_measured<TypeParam>(vector->measured_strip);
  }
}

TYPED_TEST(StripTest, OfContiguousVectorsIsAView) {
  Random random(2);
  const StoredOperand<TypeParam> stored(vectors_of_all_kinds<TypeParam>(50, 70, random), true, 2);
  const Operand<TypeParam> strip = gather_strip<TypeParam>(stored.operand, 64, 10, 40, nullptr);
  EXPECT_EQ(strip.data, stored.operand.at(64, 10));
  EXPECT_EQ(strip.vectors, 6);
  EXPECT_EQ(strip.k, 40);
  EXPECT_EQ(strip.at(5, 39), stored.operand.at(69, 49));
}

}  // namespace
}  // namespace vernier::test::strip_test
