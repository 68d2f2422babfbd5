#include "product/specials.hpp"

#include "backends.hpp"
#include "engine/panel.hpp"
#include "samples.hpp"
#include "support/compare.hpp"
#include "support/special.hpp"

namespace vernier::test::specials_test {
namespace {

template <class T>
class SpecialsTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(SpecialsTest, Types);

template <class T>
std::vector<VectorStatistics> statistics_of(const Operand<T>& x) {
  std::vector<VectorStatistics> s(static_cast<std::size_t>(x.vectors));
  statistics_portable(x, 0, x.vectors, s.data());
  return s;
}

// Entries that a product in floating point makes NaN or infinite get that value; all others stay as they were.
TYPED_TEST(SpecialsTest, GoWhereTheProductSendsThem) {
  using T = TypeParam;
  Random random(1);
  for (int repetition = 0; repetition < 60; ++repetition) {
    const std::int64_t m = random.integer(1, 70), n = random.integer(1, 40), k = random.integer(1, 12);
    Matrix<T> rows = Matrix<T>::of(k, m, [&](auto, auto) { return random.integer(-2, 2); });
    Matrix<T> columns = Matrix<T>::of(k, n, [&](auto, auto) { return random.integer(-2, 2); });
    if (repetition % 3 != 0) sprinkle_nonfinite(rows, random);
    if (repetition % 3 != 1) sprinkle_nonfinite(columns, random);
    const Matrix<T> a = transposed(rows);
    const StoredOperand<T> x(rows, repetition % 2 == 0, 2), y(columns, repetition % 5 < 2, 1);
    const auto row_statistics = statistics_of(x.operand), column_statistics = statistics_of(y.operand);
    for (std::int64_t i = 0; i < m; i += strip_size)
      for (std::int64_t j = 0; j < n; j += strip_size) {
        T tile[block_elements];
        std::fill_n(tile, block_elements, T{42});
        patch_specials(x.operand, y.operand, i, j, &row_statistics[static_cast<std::size_t>(i)],
                       &column_statistics[static_cast<std::size_t>(j)], tile);
        const auto got =
            Matrix<T>::of(strip_size, strip_size, [&](auto r, auto c) { return tile[c * strip_size + r]; });
        const auto expected = Matrix<T>::of(strip_size, strip_size, [&](auto r, auto c) {
          return i + r < m && j + c < n ? special_value(a, columns, i + r, j + c).value_or(T{42}) : T{42};
        });
        ASSERT_EQ(difference_but_for_nans(got, expected), "")
            << m << " x " << n << " x " << k << " from " << i << ", " << j;
      }
  }
}

}  // namespace
}  // namespace vernier::test::specials_test
