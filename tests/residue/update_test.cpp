#include "residue/recombine/recombine.hpp"

#include <cmath>
#include <limits>

#include "backends.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

namespace vernier::test::update_test {
namespace {

template <class T>
class UpdateTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(UpdateTest, Types);

template <class T>
struct Tile {
  alignas(64) T data[block_elements];

  explicit Tile(Random& r) {
    for (T& x : data) x = static_cast<T>(r.exp_rand(-4, 4));
    data[3] = std::numeric_limits<T>::infinity();
    data[70] = std::numeric_limits<T>::quiet_NaN();
    data[105] = -T{0};
    data[106] = std::numeric_limits<T>::denorm_min();
    data[140] = std::numeric_limits<T>::max();
  }
};

enum class Mask { none, ordinary, wide };

template <class T>
void expect_the_definition(decltype(SchemeBackend<T>::update) update, T alpha, T beta, std::int64_t rows,
                           std::int64_t columns, Mask mask, Random& r) {
  const Tile<T> tile(r);
  std::array<VectorProof, strip_size> row_scales, column_scales;
  for (auto* scales : {&row_scales, &column_scales})
    for (VectorProof& s : *scales) s.proofs = static_cast<std::uint8_t>(r.integer(0, 3));
  Matrix<T> c(rows, columns, 3);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) c(i, j) = static_cast<T>(r.exp_rand(-4, 4));
  if (beta == 0) c(rows / 2, columns / 2) = std::numeric_limits<T>::quiet_NaN();
  const auto expected = Matrix<T>::of(rows, columns, [&](auto i, auto j) {
    const bool ordinary =
        (row_scales[static_cast<std::size_t>(i)].proofs & column_scales[static_cast<std::size_t>(j)].proofs) != 0;
    if (mask != Mask::none && ordinary != (mask == Mask::ordinary)) return c(i, j);
    const T t = tile.data[j * strip_size + i];
    if (beta == 0) return static_cast<T>(alpha * t);
    const T scaled = beta * c(i, j);
    return std::fma(alpha, t, scaled);
  });
  TileUpdate<T> u{.to = {alpha, beta, c.data(), c.ld()}, .rows = rows, .columns = columns};
  if (mask != Mask::none) {
    u.row_proofs = row_scales.data();
    u.column_proofs = column_scales.data();
    u.ordinary = mask == Mask::ordinary;
  }
  update(u, tile.data);
  ASSERT_EQ(difference_but_for_nans(c, expected), "") << "alpha " << alpha << ", beta " << beta << ", " << rows << " x "
                                                      << columns << ", mask " << static_cast<int>(mask);
  ASSERT_EQ(c.broken_guard(), "");
}

template <class T>
void expect_the_definition(decltype(SchemeBackend<T>::update) update) {
  Random random(1);
  for (const Mask mask : {Mask::none, Mask::ordinary, Mask::wide})
    for (const T alpha : {T{1}, T{-1}, T{0}, T{1} / 3, std::numeric_limits<T>::max()})
      for (const T beta : {T{0}, -T{0}, T{1}, T{-1}, T{2} / 3, std::numeric_limits<T>::denorm_min()})
        for (const std::int64_t rows : {1, 7, 8, 15, 16, 17, 31, 32})
          for (const std::int64_t columns : {1, 5, 32}) {
            expect_the_definition<T>(update, alpha, beta, rows, columns, mask, random);
            if (testing::Test::HasFatalFailure()) return;
          }
}

TYPED_TEST(UpdateTest, PortableEqualsTheDefinition) { expect_the_definition<TypeParam>(update_portable<TypeParam>); }
TYPED_TEST(UpdateTest, VectorsEqualTheDefinition) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_the_definition<TypeParam>(vector->update);
  }
}

// (1 + e)^2 - RN((1 + 2e) * 1) = e^2 shows that alpha T is not rounded before the sum.
template <class T>
void expect_fused(decltype(SchemeBackend<T>::update) update) {
  constexpr T e = std::numeric_limits<T>::epsilon();
  alignas(64) T tile[block_elements];
  std::fill_n(tile, block_elements, 1 + e);
  Matrix<T> c = Matrix<T>::of(32, 32, [](auto, auto) { return 1 + 2 * e; });
  update({.to = {1 + e, -1, c.data(), c.ld()}, .rows = 32, .columns = 32}, tile);
  EXPECT_EQ(difference(c, Matrix<T>::of(32, 32, [](auto, auto) { return e * e; })), "");
}

TYPED_TEST(UpdateTest, PortableRoundsAlphaTimesTAndTheSumOnce) { expect_fused<TypeParam>(update_portable<TypeParam>); }
TYPED_TEST(UpdateTest, VectorsRoundAlphaTimesTAndTheSumOnce) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_fused<TypeParam>(vector->update);
  }
}

// With beta = 2/3 the product beta C is rounded by itself.
TYPED_TEST(UpdateTest, RoundsBetaTimesCBeforeTheSum) {
  using T = TypeParam;
  const T beta = T{2} / 3, c0 = T{1} + std::numeric_limits<T>::epsilon();
  const volatile T product = beta * c0;
  for (auto* update : {&portable_backend<T>(), &best_backend<T>()}) {
    alignas(64) T tile[block_elements];
    std::fill_n(tile, block_elements, T{1});
    T c = c0;
    update->update({.to = {-product, beta, &c, 1}, .rows = 1, .columns = 1}, tile);
    EXPECT_EQ(bits_of(c), bits_of(T{0}));
  }
}

}  // namespace
}  // namespace vernier::test::update_test
