// The conditions of theorem 2 (docs/accuracy.md) at the scales that are chosen, entry by entry and in integers.
#include "backends.hpp"
#include "scaled.hpp"

namespace vernier::test::theorem2_test {
namespace {

template <class T>
class Theorem2Test : public SchemeTest<T> {};
TYPED_TEST_SUITE(Theorem2Test, Types);

mpz_class power_of_two(int exponent) { return mpz_class(1) << static_cast<unsigned long>(exponent); }

// One vector of an entry, at its scaled exponent em.
template <class T>
struct Vector {
  const T* data;
  std::int64_t stride, k;
  const VectorStatistics& statistics;
  int scale;
  mpz_class g2;  // g^2

  int em() const { return statistics.exponent + scale; }
  mpz_class norm() const {  // the 1-norm in units of 2^-2148
    mpz_class sum = 0;
    for (std::int64_t l = 0; l < k; ++l) sum += abs(exact_value(static_cast<double>(data[l * stride])));
    return sum;
  }
  bool exact() const {
    const int drop = -(scale + exact_unit);
    for (std::int64_t l = 0; l < k; ++l) {
      const mpz_class x = exact_value(static_cast<double>(data[l * stride]));
      if (drop > 0 && x != 0 && mpz_scan1(x.get_mpz_t(), 0) < static_cast<mp_bitcnt_t>(drop)) return false;
    }
    return true;
  }
  bool own_span(int n) const {  // 2^em g >= 2^(n + r + 1)
    return em() >= 0 && power_of_two(2 * em()) * g2 >= power_of_two(2 * (n + statistics.span() + 1));
  }
  bool guarded() const { return em() > 0 && power_of_two(em() - 1) > k; }
  // em >= n - log2 g + cost / 2 + log2(|partner|_1 / 2^e), doubled and as powers of two
  bool reaches(int n, int cost, const Vector& partner) const {
    if (!guarded()) return false;
    const mpz_class left = power_of_two(2 * em() + 2 * (partner.statistics.exponent - exact_unit) + 2) * g2;
    const mpz_class norm = partner.norm();
    return left >= (norm * norm) << static_cast<unsigned long>(2 * n + cost + 2);
  }
  bool flat(int n, const Vector& partner) const {  // |partner|_1 = k Lambda 2^e
    if (statistics.flatness == not_flat || partner.statistics.flatness == not_flat || !guarded()) return false;
    const mpz_class square = mpz_class(static_cast<long>(k)) * static_cast<long>(k);
    const mpz_class left = square * g2 * power_of_two(2 * em() + 2 * (partner.statistics.exponent - exact_unit));
    const mpz_class norm = partner.norm();
    return left >=
           (norm * norm) << static_cast<unsigned long>(2 * n + statistics.flatness + partner.statistics.flatness + 1);
  }
  bool meets_a_condition(int n, int span, const Vector& partner) const {
    return exact() || own_span(n) || flat(n, partner) || (span < no_deficit && reaches(n, 2 * span - 1, partner));
  }
};

// The D of a row and a column; too large where spans were not measured.
int span_of(const Spans& s, std::int64_t i, std::int64_t j) {
  int span = 2 * no_deficit;
  for (std::int64_t block = 0; block < (s.a_deficits.empty() ? 0 : s.blocks); ++block)
    span = std::min(span, s.a_deficits[static_cast<std::size_t>(block * s.a_stride + i)] +
                              s.b_deficits[static_cast<std::size_t>(block * s.b_stride + j)]);
  return span;
}

TYPED_TEST(Theorem2Test, EveryRowAndColumnMeetsAConditionInEveryEntry) {
  using T = TypeParam;
  int entries = 0;
  for_all_operands<T>([&](const ScalingRule& rule, const Scaled<T>& s, const std::string& name) {
    if (!rule.componentwise || s.beyond_scheme()) return;
    const mpz_class g2 = square_of_g(rule, s.k);
    for (std::int64_t i = 0; i < s.a.rows(); ++i)
      for (std::int64_t j = 0; j < s.b.columns(); ++j) {
        const bool o = s.ordinary(i, j);
        const VectorStatistics &x = s.a_statistics[static_cast<std::size_t>(i)],
                               &y = s.b_statistics[static_cast<std::size_t>(j)];
        if (x.zero() || y.zero()) continue;
        const Vector<T> row{&s.a(i, 0), s.a.ld(), s.k, x, o ? s.row(i).ordinary : s.row(i).wide, g2};
        const Vector<T> column{&s.b(0, j), 1, s.k, y, o ? s.column(j).ordinary : s.column(j).wide, g2};
        const int span = span_of(s.spans, i, j), n = rule.unit_bits;
        ++entries;
        ASSERT_TRUE(row.meets_a_condition(n, span, column)) << name << ": row of entry " << i << ", " << j;
        ASSERT_TRUE(column.meets_a_condition(n, span, row)) << name << ": column of entry " << i << ", " << j;
      }
  });
  EXPECT_GT(entries, 10000);
}

}  // namespace
}  // namespace vernier::test::theorem2_test
