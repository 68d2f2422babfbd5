#include "residue/scale/block_spans.hpp"

#include <algorithm>

#include "backends.hpp"
#include "samples.hpp"
#include "spans.hpp"
#include "support/exact.hpp"

namespace vernier::test::block_spans_test {
namespace {

template <class T>
class BlockSpansTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(BlockSpansTest, Types);

template <class T>
std::vector<VectorStatistics> statistics_of(const Matrix<T>& x) {
  std::vector<VectorStatistics> s;
  for (std::int64_t v = 0; v < x.columns(); ++v) s.push_back(vector_statistics(&x(0, v), 1, x.rows()));
  return s;
}

// From the exponent of the maximum to that of the ninth largest magnitude of the block; only normal numbers count.
template <class T>
int expected_deficit(const Matrix<T>& x, std::int64_t v, std::int64_t block, int exponent) {
  std::vector<int> deficits(span_block, no_deficit);
  for (std::int64_t l = 0; l < span_block && block * span_block + l < x.rows(); ++l) {
    const T value = x(block * span_block + l, v);
    if (std::isnormal(value))
      deficits[static_cast<std::size_t>(l)] = std::min<int>(no_deficit, exponent - std::ilogb(value));
  }
  std::sort(deficits.begin(), deficits.end());
  return deficits[8];
}

template <class T>
struct Pair {
  Matrix<T> rows, columns;  // k x vectors
  StoredOperand<T> a, b;
  std::vector<VectorStatistics> a_statistics, b_statistics;

  Pair(std::int64_t m, std::int64_t n, std::int64_t k, bool nonfinite, bool k_contiguous, Random& r)
      : rows(made(k, m, nonfinite, r)),
        columns(made(k, n, nonfinite, r)),
        a(rows, k_contiguous, 3),
        b(columns, !k_contiguous, 1),
        a_statistics(statistics_of(rows)),
        b_statistics(statistics_of(columns)) {}

  static Matrix<T> made(std::int64_t k, std::int64_t vectors, bool nonfinite, Random& r) {
    Matrix<T> x = vectors_of_all_kinds<T>(k, vectors, r);
    if (nonfinite) sprinkle_nonfinite(x, r);
    return x;
  }
};

// Calls look(pair) for operands of many sizes.
template <class T, class Look>
void for_all_pairs(Look look) {
  Random random(1);
  for (const std::int64_t k : {1, 8, 9, 16, 17, 60, 200})
    for (const auto& [m, n] : {std::pair{1, 1}, {5, 63}, {64, 65}, {131, 70}})
      for (const bool flag : {false, true}) {
        look(Pair<T>(m, n, k, flag, flag, random));
        if (testing::Test::HasFatalFailure()) return;
      }
}

template <class T>
void expect_deficits(const SchemeBackend<T>& backend) {
  for_all_pairs<T>([&](const Pair<T>& p) {
    const Spans s = block_spans(backend, p.a.operand, p.b.operand, p.a_statistics, p.b_statistics);
    for (std::int64_t block = 0; block < s.blocks; ++block)
      for (std::int64_t v = 0; v < s.a_stride; ++v) {
        const int got = s.a_deficits[static_cast<std::size_t>(block * s.a_stride + v)];
        const int expected =
            v < p.rows.columns()
                ? expected_deficit(p.rows, v, block, p.a_statistics[static_cast<std::size_t>(v)].exponent)
                : no_deficit;
        ASSERT_EQ(got, expected) << "vector " << v << ", block " << block << ", k = " << p.rows.rows();
      }
  });
}

TYPED_TEST(BlockSpansTest, PortableDeficitsAreThoseOfTheNinthLargest) {
  expect_deficits(portable_backend<TypeParam>());
}
TYPED_TEST(BlockSpansTest, VectorDeficitsAreThoseOfTheNinthLargest) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_deficits(*vector);
  }
}

// cost of a row = max over nonzero columns of D + norm bits of the column; none where a D is missing.
template <class T>
void expect_costs(const SchemeBackend<T>& backend) {
  for_all_pairs<T>([&](const Pair<T>& p) {
    const Spans s = block_spans(backend, p.a.operand, p.b.operand, p.a_statistics, p.b_statistics);
    std::vector<int> rows(p.a_statistics.size()), columns(p.b_statistics.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j) {
        if (p.a_statistics[i].zero() || p.b_statistics[j].zero()) continue;
        int span = 2 * no_deficit;
        for (std::int64_t block = 0; block < s.blocks; ++block)
          span = std::min(span, s.a_deficits[static_cast<std::size_t>(block * s.a_stride) + i] +
                                    s.b_deficits[static_cast<std::size_t>(block * s.b_stride) + j]);
        rows[i] = std::max(rows[i], span < no_deficit ? span + s.b_norm_bits[j] : no_cost);
        columns[j] = std::max(columns[j], span < no_deficit ? span + s.a_norm_bits[i] : no_cost);
      }
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(s.a_costs[i], rows[i]) << "row " << i;
    for (std::size_t j = 0; j < columns.size(); ++j) ASSERT_EQ(s.b_costs[j], columns[j]) << "column " << j;
  });
}

TYPED_TEST(BlockSpansTest, PortableCostsAreTheLargestOverThePartners) { expect_costs(portable_backend<TypeParam>()); }
TYPED_TEST(BlockSpansTest, VectorCostsAreTheLargestOverThePartners) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_costs(*vector);
  }
}

// (1) of docs/accuracy.md: sum |x||y| >= 2 * 2^(e_x + e_y - D), in integers.
TYPED_TEST(BlockSpansTest, BoundThePositiveProductFromBelow) {
  using T = TypeParam;
  Random random(2);
  int bounded = 0;
  for (const std::int64_t k : {9, 16, 40, 130}) {
    const Pair<T> p(40, 40, k, false, true, random);
    const Spans s = block_spans(best_backend<T>(), p.a.operand, p.b.operand, p.a_statistics, p.b_statistics);
    const ExactProduct<T> exact(transposed(p.rows), p.columns);
    for (std::size_t i = 0; i < 40; ++i)
      for (std::size_t j = 0; j < 40; ++j) {
        int span = no_deficit;
        for (std::int64_t block = 0; block < s.blocks; ++block)
          span = std::min(span, s.a_deficits[static_cast<std::size_t>(block * s.a_stride) + i] +
                                    s.b_deficits[static_cast<std::size_t>(block * s.b_stride) + j]);
        if (span >= no_deficit) continue;
        ++bounded;
        const int exponent = 1 + p.a_statistics[i].exponent + p.b_statistics[j].exponent - span - exact_unit;
        const mpz_class sum = exact.magnitude(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) << no_deficit;
        ASSERT_GE(cmp(sum, mpz_class(mpz_class(1) << static_cast<unsigned long>(exponent + no_deficit))), 0)
            << i << ", " << j << ", k = " << k;
      }
  }
  EXPECT_GT(bounded, 1000);
}

}  // namespace
}  // namespace vernier::test::block_spans_test
