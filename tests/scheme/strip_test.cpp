#include "scheme/strip.hpp"

#include "backends.hpp"
#include "samples.hpp"
#include "support/compare.hpp"

namespace vernier::test {
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
}  // namespace vernier::test
