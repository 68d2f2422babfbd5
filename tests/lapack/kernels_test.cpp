// The inner loops: a panel is LU as the textbook has it, and no instruction set shows in a bit.
#include "lapack/kernels.hpp"

#include <gtest/gtest.h>

#include "base/cpu_features.hpp"
#include "support/compare.hpp"
#include "support/exact.hpp"
#include "systems.hpp"

namespace vernier::test::kernels_test {
namespace {

std::vector<const KernelTable*> runnable_tables() {
  std::vector<const KernelTable*> tables = {&portable_kernels()};
#if VERNIER_X86
  if (missing_features(InstructionSet::avx2).empty()) tables.push_back(&avx2_kernels());
  if (missing_features(InstructionSet::avx512_vnni).empty()) tables.push_back(&avx512_kernels());
#endif
  return tables;
}

template <class T>
PanelKernel<T> panel_of(const FactorKernels<T>& table) {
  return table.panel;
}
const VectorKernels<double>& full(const KernelTable& table) { return table; }

template <class T>
void textbook(Matrix<T>& a, Pivots& pivots) {
  for (std::int64_t j = 0; j < std::min(a.rows(), a.columns()); ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < a.rows(); ++i)
      if (std::abs(a(i, j)) > std::abs(a(pivot, j))) pivot = i;
    pivots.push_back(pivot + 1);
    for (std::int64_t l = 0; l < a.columns(); ++l) std::swap(a(j, l), a(pivot, l));
    const T reciprocal = 1 / a(j, j);
    for (std::int64_t i = j + 1; i < a.rows(); ++i) a(i, j) *= reciprocal;
    for (std::int64_t l = j + 1; l < a.columns(); ++l)
      for (std::int64_t i = j + 1; i < a.rows(); ++i) a(i, l) -= a(i, j) * a(j, l);
  }
}

template <class T>
class Kernels : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernels, Types);

TYPED_TEST(Kernels, PanelIsBitForBitTheTextbookLu) {
  for (const KernelTable* table : runnable_tables())
    for (const auto& [m, width] :
         {std::tuple{1, 1}, {7, 3}, {16, 16}, {100, 16}, {333, 9}, {4, 16}, {2, 4}, {6, 16}, {1100, 13}}) {
      auto expected = scattered_matrix<TypeParam>(m, width, 0.5, static_cast<std::uint64_t>(m)),
           got = padded(expected, 2);
      Pivots textbook_pivots, pivots(static_cast<std::size_t>(std::min(m, width)));
      textbook(expected, textbook_pivots);
      EXPECT_EQ(panel_of<TypeParam>(*table)(m, width, got.data(), got.ld(), pivots.data()), 0);
      EXPECT_EQ(difference(got, expected), "") << m << " x " << width;
      EXPECT_EQ(got.broken_guard(), "");
      EXPECT_EQ(pivots, textbook_pivots);
    }
}

TEST(Kernels, EveryInstructionSetGivesTheSameVectors) {
  const std::int64_t m = 77, n = 13;
  const auto a = scattered_matrix<double>(m, n, 2, 1), x = scattered_matrix<double>(m, 1, 2, 2);
  const auto run = [&](const VectorKernels<double>& k) {
    Matrix<double> y(m, 6);
    for (std::int64_t j = 0; j < 6; ++j)
      for (std::int64_t i = 0; i < m; ++i) y(i, j) = x(i, 0);
    k.subtract(m, n, a.data(), m, x.data(), &y(0, 0));
    k.subtract_transposed(m, n, a.data(), m, x.data(), &y(0, 1));
    k.magnitudes(m, n, a.data(), m, x.data(), &y(0, 2));
    k.magnitudes_transposed(m, n, a.data(), m, x.data(), &y(0, 3));
    k.exact(m, n, a.data(), m, x.data(), &y(0, 4), &y(0, 5));
    k.exact_transposed(m, n, a.data(), m, x.data(), &y(0, 4), &y(0, 5));
    return y;
  };
  const auto expected = run(full(portable_kernels()));
  for (const KernelTable* table : runnable_tables()) EXPECT_EQ(difference(run(full(*table)), expected), "");
}

// b - A x where all but 2^-50 of it cancels: what is left is right to nearly all bits of a double.
TEST(Kernels, ExactResidualSurvivesCancellation) {
  const std::int64_t n = 200;
  const auto a = scattered_matrix<double>(n, n, 1, 3), x = scattered_matrix<double>(n, 1, 1, 4);
  const ExactProduct<double> plain(a, x), transposed_product(transposed(a), x);
  for (const KernelTable* table : runnable_tables())
    for (const bool transpose : {false, true}) {
      const auto& product = transpose ? transposed_product : plain;
      auto high = product.rounded();
      const auto b = high;
      Matrix<double> low = Matrix<double>::of(n, 1, [](auto, auto) { return 0; });
      (transpose ? full(*table).exact_transposed : full(*table).exact)(n, n, a.data(), n, x.data(), high.data(),
                                                                       low.data());
      for (std::int64_t i = 0; i < n; ++i) {
        const double expected = rounded<double>(exact_value(b(i, 0)) - product.sum(i, 0));
        const double size = rounded<double>(product.magnitude(i, 0));
        EXPECT_NEAR(high(i, 0) + low(i, 0), expected, 4 * n * n * 0x1p-106 * size);
      }
    }
}

TEST(Kernels, HalfReadsEveryNumber) {
  EXPECT_EQ(static_cast<double>(Half{0x3c00}), 1);
  EXPECT_EQ(static_cast<double>(Half{0xc000}), -2);
  EXPECT_EQ(static_cast<double>(Half{0x7bff}), 65504);
  EXPECT_EQ(static_cast<double>(Half{0x0001}), 0x1p-24);
  EXPECT_EQ(static_cast<double>(Half{0x83ff}), -1023 * 0x1p-24);
}

}  // namespace
}  // namespace vernier::test::kernels_test
