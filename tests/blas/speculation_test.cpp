// Products under fp64 that a CPU takes with 14 moduli: their definition, bit by bit, what is open after 14, and which
// data go the usual way.
#include <cmath>
#include <functional>

#include "fixture.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/residues.hpp"
#include "residue/scale/scaling.hpp"
#include "support/bound.hpp"
#include "vernier/prepared.hpp"

namespace vernier::test::speculation_test {
namespace {

// Not of the tests' own choice: where a speculative product begins and ends.
constexpr std::int64_t least = SpeculativeProduct::least_k, most = SpeculativeProduct::most_k;

class Speculation : public testing::TestWithParam<std::string> {
 protected:
  static Options options() { return {.contract = Contract::fp64(), .engine = GetParam()}; }
  static Options reproducible() {
    Options made = options();
    made.contract.reproducible = true;
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, Speculation, testing::ValuesIn(supported_engines()), ReadableName());

struct Case {
  Matrix<double> a, b;
};
Case random_case(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed) {
  return {scattered_matrix<double>(m, k, 0.5, seed), scattered_matrix<double>(k, n, 0.5, seed + 1)};
}

// The rows of x as integers, and how they came to be ones.
struct Integers {
  Matrix<double> values;
  std::vector<int> scales;
  int factor;

  explicit Integers(const Matrix<double>& x) : values(x.rows(), x.columns()) {
    const std::int64_t k = x.columns();
    const ScalingRule rule = speculative_product<double>(Contract::fp64(), k)->rule;
    std::vector<VectorStatistics> statistics;
    for (std::int64_t i = 0; i < x.rows(); ++i) statistics.push_back(vector_statistics(&x(i, 0), x.ld(), k));
    const auto sample = static_cast<std::size_t>(std::min<std::int64_t>(factor_sample, x.rows()));
    factor = choose_factor(rule, k, std::span(statistics).first(sample));
    for (const VectorStatistics& v : statistics) scales.push_back(ordinary_scale(rule, k, multiplied(v, factor)));
    for (std::int64_t i = 0; i < x.rows(); ++i)
      for (std::int64_t l = 0; l < k; ++l)
        values(i, l) = std::nearbyint(std::ldexp(factor / 16.0 * x(i, l), scales[static_cast<std::size_t>(i)]));
  }
};

// T as docs/accuracy.md defines it, through the exact product of the integers.
struct Definition {
  Matrix<double> t;
  double largest_integer = 0;

  explicit Definition(const Case& c) {
    const Integers rows(c.a), columns(transposed(c.b));
    const Matrix<double> rounded = ExactProduct<double>(rows.values, transposed(columns.values)).rounded();
    const double divisor = rows.factor * columns.factor / 256.0;
    t = Matrix<double>::of(rounded.rows(), rounded.columns(), [&](auto i, auto j) {
      largest_integer = std::max(largest_integer, std::abs(rounded(i, j)));
      const int scale = rows.scales[static_cast<std::size_t>(i)] + columns.scales[static_cast<std::size_t>(j)];
      return std::ldexp(rounded(i, j), -scale) / divisor;
    });
  }
};
Matrix<double> definition(const Case& c) { return Definition(c).t; }

// Columns 36 and 39 point where rows 10 and 33 do, so that entries in two blocks are at their bound. The choice does
// not see them.
Case case_with_open_blocks(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed) {
  Case c = random_case(m, n, k, seed);
  for (std::int64_t l = 0; l < k; ++l) c.b(l, 36) = 3 * c.a(10, l), c.b(l, 39) = -c.a(33, l);
  return c;
}

TEST_P(Speculation, HasTheBitsOfItsDefinition) {
  for (const auto& [m, n, k] : {std::tuple{9, 35, least}, {37, 8, least + 41}, {5, 4, 1024}, {3, 6, most}}) {
    const Case c = random_case(m, n, k, 61);
    const auto out = multiply<double>({.a = c.a, .b = c.b, .opa = Op::transpose}, options());
    EXPECT_EQ(out.report.plan.moduli, 14) << k;
    EXPECT_EQ(out.report.undecided, 0) << k;
    EXPECT_EQ(difference(out.c, definition(c)), "") << k;
    EXPECT_EQ(broken_bound(Contract::fp64(), c.a, c.b, out.c), "") << k;
  }
}

TEST_P(Speculation, EntriesThatWrapTakeOneModulusMore) {
  const Case c = case_with_open_blocks(40, 45, least, 62);
  const auto beta = scattered_matrix<double>(40, 45, 0.5, 63);
  const Definition defined(c);
  const Matrix<double>& expected = defined.t;
  EXPECT_GT(defined.largest_integer, std::exp2(log2_product_of_moduli(14) - 1)) << "nothing wraps";
  for (const int threads : {1, 3}) {
    Options with = options();
    with.threads = threads;
    const auto out = multiply<double>({.a = c.a, .b = c.b, .alpha = 0.3, .beta = -2, .c = beta}, with);
    EXPECT_EQ(out.report.plan.moduli, 14);
    EXPECT_EQ(out.report.undecided, 40 * 13) << "two blocks, 32 x 13 and 8 x 13";
    EXPECT_EQ(difference(out.c, combined(0.3, expected, -2.0, beta)), "");
  }
  EXPECT_EQ(broken_bound(Contract::fp64(), c.a, c.b, expected), "");
}

TEST_P(Speculation, ManyBlocksHaveTheBitsOfEveryOtherEngine) {
  const Case c = case_with_open_blocks(131, 117, least + 30, 64);
  const Matrix<double> mine = multiply<double>({.a = c.a, .b = c.b}, options()).c;
  for (const std::string& engine : supported_engines()) {
    Options other = options();
    other.engine = engine;
    other.threads = 2;
    EXPECT_EQ(difference(multiply<double>({.a = c.a, .b = c.b, .opb = Op::transpose}, other).c, mine), "") << engine;
  }
}

// As long as a double holds every entry, whatever the largest elements: a factor would take that away from many.
TEST_P(Speculation, ProductsOfIntegersStayExact) {
  for (const auto& [most_a, most_b] : {std::pair<std::int64_t, std::int64_t>{8, 8},
                                       {1363148, 1363148},
                                       {5452595, 700000},
                                       {700000000000, 9},
                                       {1, 3000000000000}}) {
    const Case c{integer_matrix<double>(33, least, most_a, 65), integer_matrix<double>(least, 40, most_b, 66)};
    const auto out = multiply<double>({.a = c.a, .b = c.b}, options());
    EXPECT_EQ(out.report.plan.moduli, 14);
    const ExactProduct<double> exact(c.a, c.b);
    EXPECT_LT(rounded<double>(exact.magnitude(0, 0)), 0x1p53);
    EXPECT_EQ(difference(out.c, exact.rounded()), "") << most_a << ' ' << most_b;
  }
}

// Powers of two change neither the choice nor the bits, up to where exponents are near the ends of the range.
TEST_P(Speculation, PowersOfTwoOnlyScale) {
  const Case c = case_with_open_blocks(40, 45, least, 72);
  const auto plain = multiply<double>({.a = c.a, .b = c.b}, options());
  for (const auto& [up_a, up_b] : {std::pair{-300, -300}, {390, -390}, {395, 395}, {-390, -390}}) {
    const auto scaled = [](const Matrix<double>& x, int up) {
      return Matrix<double>::of(x.rows(), x.columns(), [&](auto i, auto j) { return std::ldexp(x(i, j), up); });
    };
    const auto out = multiply<double>({.a = scaled(c.a, up_a), .b = scaled(c.b, up_b)}, options());
    EXPECT_EQ(out.report.plan.moduli, 14) << up_a << ' ' << up_b;
    EXPECT_EQ(out.report.undecided, plain.report.undecided);
    EXPECT_EQ(difference(out.c, scaled(plain.c, up_a + up_b)), "") << up_a << ' ' << up_b;
  }
}

TEST_P(Speculation, NanAndInfinityReachWhatTheyReach) {
  Case c = case_with_open_blocks(40, 40, least, 67);
  const auto plain = multiply<double>({.a = c.a, .b = c.b}, options());
  c.a(20, 7) = std::numeric_limits<double>::quiet_NaN();
  c.b(9, 30) = -std::numeric_limits<double>::infinity();
  const auto out = multiply<double>({.a = c.a, .b = c.b}, options());
  EXPECT_EQ(out.report.plan.moduli, 14);
  EXPECT_EQ(out.report.nonfinite_rows, 1);
  EXPECT_EQ(out.report.nonfinite_columns, 1);
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int64_t j = 0; j < 40; ++j) {
      if (i == 20)
        EXPECT_TRUE(std::isnan(out.c(i, j)));
      else if (j == 30)
        EXPECT_EQ(out.c(i, j), -std::copysign(std::numeric_limits<double>::infinity(), c.a(i, 9)));
      else
        EXPECT_EQ(out.c(i, j), plain.c(i, j));
    }
}

// Each of these is noticed, in the first vectors or later, and has the usual moduli and bits.
TEST_P(Speculation, OtherDataGoTheUsualWay) {
  const std::int64_t m = 40, n = 36;
  const std::pair<const char*, std::function<void(Case&)>> changes[] = {
      {"elements of one sign",
       [](Case& c) {
         for (auto* x : {&c.a, &c.b})
           for (std::int64_t j = 0; j < x->columns(); ++j)
             for (std::int64_t i = 0; i < x->rows(); ++i) (*x)(i, j) = std::abs((*x)(i, j));
       }},
      {"A times its transpose", [](Case& c) { c.b = transposed(c.a); }},
      {"a huge row among the last",
       [](Case& c) {
         for (std::int64_t l = 0; l < c.a.columns(); ++l) c.a(39, l) *= 0x1p500;
       }},
      {"a tiny column among the last",
       [](Case& c) {
         for (std::int64_t l = 0; l < c.b.rows(); ++l) c.b(l, 35) *= 0x1p-500;
       }},
      {"infinity among the first", [](Case& c) { c.a(0, 0) = std::numeric_limits<double>::infinity(); }},
  };
  for (const auto& [name, change] : changes) {
    Case c = random_case(m, n, least, 68);
    change(c);
    const auto out = multiply<double>({.a = c.a, .b = c.b}, options());
    EXPECT_EQ(out.report.plan.moduli, 15) << name;
    const auto usual = multiply<double>({.a = c.a, .b = c.b}, reproducible());
    EXPECT_EQ(difference(out.c, usual.c), "") << name;
    EXPECT_EQ(out.report.nonfinite_rows, usual.report.nonfinite_rows) << name;
  }
}

TEST_P(Speculation, WideRowsAndColumnsTakeScalesFromTheProductOfMagnitudes) {
  for (const bool row : {true, false}) {
    Case c = random_case(40, 36, least, 69);
    (row ? c.a(38, 5) : c.b(5, 1)) *= 1e30;
    const auto out = multiply<double>({.a = c.a, .b = c.b}, options());
    EXPECT_TRUE(out.report.bounded);
    EXPECT_EQ(broken_bound(Contract::fp64(), c.a, c.b, out.c), "");
  }
}

TEST_P(Speculation, OtherProductsGoTheUsualWay) {
  const auto moduli = [](std::int64_t k, const Options& with) {
    const Case c = random_case(10, 10, k, 69);
    return multiply<double>({.a = c.a, .b = c.b}, with).report.plan.moduli;
  };
  EXPECT_EQ(moduli(least, options()), 14);
  EXPECT_EQ(moduli(most, options()), 14);
  EXPECT_EQ(moduli(least - 1, options()), 15);
  EXPECT_EQ(moduli(most + 1, options()), 15);
  EXPECT_EQ(moduli(least, reproducible()), 15);
}

TEST_P(Speculation, BlocksOfASmallWorkspaceHaveTheBitsOfTheWhole) {
  const Case c = case_with_open_blocks(230, 200, 1500, 70);
  const Matrix<double> whole = multiply<double>({.a = c.a, .b = c.b}, options()).c;
  Options small = options();
  small.workspace_limit = gemm_workspace<double>(230, 200, 1500, small, true);
  const auto out = multiply<double>({.a = c.a, .b = c.b}, small);
  EXPECT_EQ(out.report.plan.moduli, 14);
  EXPECT_LT(out.report.plan.m_block, 230);
  EXPECT_EQ(difference(out.c, whole), "");
  EXPECT_GT(out.report.undecided, 0);
  std::vector<std::byte> memory(gemm_workspace<double>(230, 200, 1500, options(), true) + 64);
  Options given = options();
  given.workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  given.workspace_bytes = memory.size() - 64;
  EXPECT_EQ(difference(multiply<double>({.a = c.a, .b = c.b}, given).c, whole), "");
}

// Their scales are those of each vector alone, so that they have the bits of reproducible products.
TEST_P(Speculation, PreparedOperandsGoTheUsualWay) {
  const Case c = random_case(40, 36, least, 73);
  const PreparedOperand<double> prepared(Side::left, Op::none, 40, least, c.a.data(), c.a.ld(), options());
  Matrix<double> got(40, 36);
  gemm(prepared, Op::none, 40, 36, least, 1.0, c.b.data(), c.b.ld(), 0.0, got.data(), got.ld(), options());
  EXPECT_EQ(difference(got, multiply<double>({.a = c.a, .b = c.b}, reproducible()).c), "");
}

TEST_P(Speculation, ZerosAreZeros) {
  Case c = random_case(40, 40, least, 71);
  for (std::int64_t l = 0; l < least; ++l) {
    c.a(2, l) = 0;
    c.b(l, 33) = -0.0;
    for (std::int64_t j = 0; j < 8; ++j) c.b(l, j) = 0;  // all that the choice looks at
  }
  const auto out = multiply<double>({.a = c.a, .b = c.b}, options());
  EXPECT_EQ(out.report.plan.moduli, 14);
  EXPECT_EQ(difference(out.c, definition(c)), "");
}

}  // namespace
}  // namespace vernier::test::speculation_test
