// The scales of rows and columns, held against what they promise: everything decided in integers.
#include "residue/scale/scaling.hpp"

#include <gmpxx.h>

#include "backends.hpp"
#include "residue/scale/vector_needs.hpp"
#include "scaled.hpp"

namespace vernier::test::scaling_test {
namespace {

template <class T>
class ScalingTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(ScalingTest, Types);

// Theorem 2 of docs/accuracy.md: |sum a~ b~ 2^-(s + t) - AB| <= g u |A||B| before the last rounding.
TYPED_TEST(ScalingTest, KeepTheComponentwiseBound) {
  constexpr int room = 6000;
  int wide = 0, ordinary = 0;
  for_all_operands<TypeParam>([&](const ScalingRule& rule, const Scaled<TypeParam>& s, const std::string& name) {
    if (!rule.componentwise || s.beyond_scheme()) return;
    const ExactProduct<TypeParam> exact(s.a, s.b);
    for (std::int64_t i = 0; i < s.a.rows(); ++i)
      for (std::int64_t j = 0; j < s.b.columns(); ++j) {
        (s.ordinary(i, j) ? ordinary : wide) += 1;
        const auto shift = static_cast<unsigned long>(room - exact_unit - s.sum_of_scales(i, j));
        const mpz_class error = abs(mpz_class((s.integer_product(i, j).product << shift) - (exact.sum(i, j) << room)));
        const mpz_class yardstick = exact.magnitude(i, j) << static_cast<unsigned long>(room - rule.unit_bits);
        ASSERT_LE(cmp(mpz_class(error * error), mpz_class(yardstick * yardstick * square_of_g(rule, s.k))), 0)
            << name << ", entry " << i << ", " << j << (s.ordinary(i, j) ? "" : ", wide");
      }
  });
  EXPECT_GT(wide, 1000);
  EXPECT_GT(ordinary, 1000);
}

// The same against norms, squared: error^2 <= k u^2 |A_i|^2 |B_j|^2.
TYPED_TEST(ScalingTest, KeepTheNormwiseBound) {
  constexpr int room = 6000;
  for_all_operands<TypeParam>([&](const ScalingRule& rule, const Scaled<TypeParam>& s, const std::string& name) {
    if (rule.componentwise) return;
    EXPECT_FALSE(s.scaling.any_wide);
    const ExactProduct<TypeParam> exact(s.a, s.b);
    const auto rows = squared_row_norms(s.a), columns = squared_column_norms(s.b);
    for (std::int64_t i = 0; i < s.a.rows(); ++i)
      for (std::int64_t j = 0; j < s.b.columns(); ++j) {
        const auto shift = static_cast<unsigned long>(room - exact_unit - s.sum_of_scales(i, j));
        const mpz_class error = (s.integer_product(i, j).product << shift) - (exact.sum(i, j) << room);
        const mpz_class bound =
            (rows[static_cast<std::size_t>(i)] * columns[static_cast<std::size_t>(j)] * static_cast<long>(s.k))
            << static_cast<unsigned long>(2 * (room - rule.unit_bits));
        ASSERT_LE(cmp(mpz_class(error * error), bound), 0) << name << ", entry " << i << ", " << j;
      }
  });
}

// sum x^2 4^s <= 2^(budget / 16), as 16th powers.
void expect_norm_within(const mpz_class& squares, int scale, const ScalingRule& rule, const std::string& name) {
  mpz_class left, right = 1;
  mpz_pow_ui(left.get_mpz_t(), squares.get_mpz_t(), 16);
  const int shift = rule.twice_norm_bits_16 - 16 * (2 * scale + exact_unit);
  if (shift >= 0)
    right <<= static_cast<unsigned long>(shift);
  else
    left <<= static_cast<unsigned long>(-shift);
  ASSERT_LE(cmp(left, right), 0) << name;
}

TYPED_TEST(ScalingTest, OrdinaryVectorsKeepTheNormAndTheExponentOfTheRule) {
  for_all_operands<TypeParam>([](const ScalingRule& rule, const Scaled<TypeParam>& s, const std::string& name) {
    const auto rows = squared_row_norms(s.a), columns = squared_column_norms(s.b);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      expect_norm_within(rows[i], s.a_proofs[i].ordinary, rule, name);
      if (s.a_statistics[i].zero()) continue;
      ASSERT_LE(s.a_statistics[i].exponent + s.a_proofs[i].ordinary, rule.largest_exponent) << name;
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
      expect_norm_within(columns[j], s.b_proofs[j].ordinary, rule, name);
      if (s.b_statistics[j].zero()) continue;
      ASSERT_LE(s.b_statistics[j].exponent + s.b_proofs[j].ordinary, rule.largest_exponent) << name;
    }
  });
}

TYPED_TEST(ScalingTest, WideEntriesStayWithinTheirModuliAndLimbs) {
  int wide = 0;
  for_all_operands<TypeParam>([&](const ScalingRule&, const Scaled<TypeParam>& s, const std::string& name) {
    const int count = s.scaling.any_wide ? moduli_for(s.scaling.wide_log2) : 0;
    if (count == 0) return;
    mpz_class product;
    const WideInteger p = product_of_moduli(count);
    mpz_import(product.get_mpz_t(), p.limb.size(), -1, sizeof(std::uint64_t), 0, 0, p.limb.data());
    for (std::int64_t i = 0; i < s.a.rows(); ++i)
      for (std::int64_t j = 0; j < s.b.columns(); ++j) {
        if (s.ordinary(i, j)) continue;
        ++wide;
        const mpz_class largest = s.integer_product(i, j).magnitude;
        ASSERT_LE(cmp(mpz_class(largest << 21), mpz_class(product * ((1 << 20) - 1))), 0) << name;
        long exponent = 0;
        const double leading = mpz_get_d_2exp(&exponent, largest.get_mpz_t());
        if (largest != 0) {
          ASSERT_LE(std::log2(leading) + static_cast<double>(exponent), s.scaling.wide_log2) << name;
        }
        for (const auto& [statistics, scales] : {std::pair{s.a_statistics[static_cast<std::size_t>(i)], s.row(i)},
                                                 std::pair{s.b_statistics[static_cast<std::size_t>(j)], s.column(j)}})
          if (!statistics.zero()) {
            ASSERT_LE(statistics.exponent + scales.wide, s.scaling.wide_exponent) << name;
          }
      }
  });
  EXPECT_GT(wide, 1000);
}

TYPED_TEST(ScalingTest, FlagsAndCountsFollowFromTheEntries) {
  for_all_operands<TypeParam>([](const ScalingRule&, const Scaled<TypeParam>& s, const std::string& name) {
    std::int64_t ordinary = 0, wide_rows = s.a.rows(), wide_columns = s.b.columns();
    for (std::int64_t i = 0; i < s.a.rows(); ++i) {
      std::int64_t here = 0;
      for (std::int64_t j = 0; j < s.b.columns(); ++j) here += s.ordinary(i, j) ? 1 : 0;
      ordinary += here;
      wide_rows -= here > 0 ? 1 : 0;
    }
    for (std::int64_t j = 0; j < s.b.columns(); ++j)
      for (std::int64_t i = 0; i < s.a.rows(); ++i)
        if (s.ordinary(i, j)) {
          --wide_columns;
          break;
        }
    ASSERT_EQ(s.scaling.any_ordinary, ordinary > 0) << name;
    ASSERT_EQ(s.scaling.any_wide, ordinary < s.a.rows() * s.b.columns()) << name;
    ASSERT_EQ(s.scaling.wide_rows, wide_rows) << name;
    ASSERT_EQ(s.scaling.wide_columns, wide_columns) << name;
  });
}

TYPED_TEST(ScalingTest, OrdinaryScalesDependOnTheVectorAlone) {
  for_all_operands<TypeParam>([](const ScalingRule& rule, const Scaled<TypeParam>& s, const std::string& name) {
    for (std::size_t i = 0; i < s.a_proofs.size(); ++i)
      ASSERT_EQ(s.a_proofs[i].ordinary, ordinary_scale(rule, s.k, s.a_statistics[i])) << name;
    for (std::size_t j = 0; j < s.b_proofs.size(); ++j)
      ASSERT_EQ(s.b_proofs[j].ordinary, ordinary_scale(rule, s.k, s.b_statistics[j])) << name;
  });
}

// One pass of ordinary entries for what most users have; and every family within the scheme.
TYPED_TEST(ScalingTest, OrdinaryDataAreOrdinary) {
  const auto rule = rules<TypeParam>()[sizeof(TypeParam) == 4 ? 0 : 1];
  for (const char* family : {"random_phi_0_1", "random_phi_0_5", "positive", "integers", "graded_rows_and_columns",
                             "full_significands", "zeros"}) {
    const Operands<TypeParam> o = make_operands<TypeParam>(family, 40, 40, 200, 3);
    EXPECT_FALSE(Scaled<TypeParam>(rule, o.a, o.b, true).scaling.any_wide) << family;
  }
}

TYPED_TEST(ScalingTest, EveryFamilyIsWithinTheScheme) {
  const auto rule = rules<TypeParam>()[sizeof(TypeParam) == 4 ? 0 : 1];
  for (const std::string& family : operand_families()) {
    const Operands<TypeParam> o = make_operands<TypeParam>(family, 20, 20, 100, 4);
    EXPECT_FALSE(Scaled<TypeParam>(rule, o.a, o.b, true).beyond_scheme()) << family;
  }
}

// squares 4^x <= 2^(budget / 16) < squares 4^(x + 1), as 16th powers.
void expect_largest(std::uint64_t squares, int budget) {
  const int x = norm_exponent(squares, budget);
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), squares, 16);
  const auto at_most = [&](int y) {
    const int shift = budget - 32 * y;
    return shift >= 0 ? cmp(power, mpz_class(mpz_class(1) << static_cast<unsigned long>(shift))) <= 0
                      : cmp(mpz_class(power << static_cast<unsigned long>(-shift)), mpz_class(1)) <= 0;
  };
  ASSERT_TRUE(at_most(x)) << squares << ", budget " << budget << "/16: " << x;
  ASSERT_FALSE(at_most(x + 1)) << squares << ", budget " << budget << "/16: " << x;
}

TEST(NormExponent, IsTheLargestWithinTheBudget) {
  Random random(1);
  std::vector<int> budgets = {875, 1746, 1868};
  for (int n = 4; n <= 110; n += 7) budgets.push_back(32 * n + 172);
  for (int f = 0; f < 32; ++f) budgets.push_back(960 + f);
  for (const int budget : budgets) {
    for (std::uint64_t squares = 1; squares <= 300; ++squares) expect_largest(squares, budget);
    for (int i = 0; i < 200; ++i)
      expect_largest(static_cast<std::uint64_t>(random.integer(1, (std::int64_t{1} << random.integer(1, 61)) - 1)),
                     budget);
    // floor(2^(i + f / 16)), where the answer changes, and its neighbours
    for (int i = 1; i <= 60; ++i) {
      mpz_class edge = mpz_class(1) << static_cast<unsigned long>(16 * i + budget % 16);
      mpz_root(edge.get_mpz_t(), edge.get_mpz_t(), 16);
      for (int d = -1; d <= 1; ++d)
        if (edge + d >= 1) expect_largest(mpz_class(edge + d).get_ui(), budget);
    }
  }
}

}  // namespace
}  // namespace vernier::test::scaling_test
