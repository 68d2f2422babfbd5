// Data too wide to win are known by a few vectors, before anything is converted.
#include "residue/wide_sample.hpp"

#include <cmath>

#include "array.hpp"
#include "blas/plan.hpp"
#include "fixture.hpp"
#include "slow_native.hpp"
#include "support/bound.hpp"
#include "support/random.hpp"

namespace vernier::test::wide_sample_test {
namespace {

constexpr std::int64_t n = 320;  // whose native time pays for a sample on a fast engine too
constexpr int threads = 2;

// Residues of 15 moduli win, those of twice as many lose.
class WideSample : public testing::Test {
 protected:
  SlowNative slow_{1.6, 15, n, threads};
};

void expect_native_and_nothing_converted(const Report& report) {
  EXPECT_EQ(report.plan.scheme, "native") << report.text();
  EXPECT_TRUE(report.fallback);
  EXPECT_NE(report.plan.reason.find("sampled"), std::string::npos) << report.plan.reason;
  EXPECT_EQ(report.plan.workspace, 0U);
  EXPECT_EQ(report.seconds_residues, 0);
  EXPECT_EQ(report.seconds_bound, 0);
  EXPECT_GT(report.seconds_statistics, 0);
}

template <class R>
Array<std::complex<R>> wide_complex(int reach, std::uint64_t seed) {
  Random random(seed);
  return filled<std::complex<R>>(
      n, n, [&] { return std::ldexp(2 * random.uniform() - 1, static_cast<int>(random.integer(-reach, reach))); });
}

template <class R>
Report complex_product(Op opa, Op opb, const Array<std::complex<R>>& a, const Array<std::complex<R>>& b,
                       Array<std::complex<R>>& c, const Options& options) {
  c = Array<std::complex<R>>{n, n};
  return gemm<std::complex<R>>(opa, opb, n, n, n, 1, a.x.data(), n, b.x.data(), n, 0, c.x.data(), n, options);
}

TEST_F(WideSample, LeavesAWideRealProductToTheNativeOne) {
  const auto a = exp_rand_matrix<double>(n, n, -400, 400, 1), b = exp_rand_matrix<double>(n, n, -400, 400, 2);
  for (const Op op : {Op::none, Op::transpose}) {
    forget_observations();
    const Call<double> call{.a = a, .b = b, .opa = op, .opb = op};
    const auto out = multiply<double>(call, {.threads = threads});
    expect_native_and_nothing_converted(out.report);
    EXPECT_EQ(difference(out.c, multiply<double>(call, {.engine = "native", .threads = threads}).c), "");
  }
}

TEST_F(WideSample, LeavesAWideComplexProductToTheNativeOne) {
  const auto a = wide_complex<double>(400, 1), b = wide_complex<double>(400, 2);
  for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose}) {
    forget_observations();
    Array<std::complex<double>> c{n, n}, native{n, n};
    expect_native_and_nothing_converted(complex_product(op, op, a, b, c, {.threads = threads}));
    complex_product(op, op, a, b, native, {.engine = "native", .threads = threads});
    EXPECT_EQ(c.x, native.x);
  }
}

TEST_F(WideSample, LeavesOrdinaryDataToResidues) {
  const auto a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, n, 0.5, 2);
  const auto out = multiply<double>({.a = a, .b = b}, {.threads = threads});
  EXPECT_EQ(out.report.plan.scheme, "residues") << out.report.text();
  EXPECT_FALSE(out.report.fallback);
  Array<std::complex<double>> c{n, n};
  const auto z = wide_complex<double>(0, 3);
  const Report report = complex_product(Op::none, Op::none, z, z, c, {.threads = threads});
  EXPECT_EQ(report.plan.scheme, "residues") << report.text();
}

TEST_F(WideSample, DoesNotDecideWhereTheContractOrTheCallerAskForResidues) {
  const auto a = exp_rand_matrix<double>(n, n, -60, 60, 1), b = exp_rand_matrix<double>(n, n, -60, 60, 2);
  for (const char* contract : {"fp64+reproducible", "exact", "bits(60)"}) {
    const Options options{.contract = Contract::parse(contract), .threads = threads};
    EXPECT_EQ(multiply<double>({.a = a, .b = b}, options).report.plan.scheme, "residues") << contract;
  }
  const std::string engine = default_engine();
  EXPECT_EQ(multiply<double>({.a = a, .b = b}, {.engine = engine, .threads = threads}).report.plan.scheme, "residues");
}

// Row and column 80, which no spread sample holds, are graded against each other.
TEST_F(WideSample, ByTheWidestVectorsComesBeforeTheProductOfMagnitudes) {
  constexpr std::int64_t odd = 80;
  const auto grade = [](std::int64_t l) { return std::ldexp(1.0, static_cast<int>(3 * (l - n / 2))); };
  auto a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, n, 0.5, 2);
  for (std::int64_t l = 0; l < n; ++l) a(odd, l) *= grade(l), b(l, odd) /= grade(l);
  const Call<double> call{.a = a, .b = b};
  const auto out = multiply<double>(call, {.threads = threads});
  EXPECT_EQ(out.report.plan.scheme, "native") << out.report.text();
  EXPECT_TRUE(out.report.fallback);
  EXPECT_EQ(out.report.seconds_bound, 0);
  Random random(5);
  auto z = filled<std::complex<double>>(n, n, [&] { return 2 * random.uniform() - 1; }), w = z;
  for (std::int64_t l = 0; l < n; ++l) z(odd, l) *= grade(l), w(l, odd) /= grade(l);
  Array<std::complex<double>> c{n, n}, native{n, n};
  const Report report = complex_product(Op::none, Op::none, z, w, c, {.threads = threads});
  EXPECT_EQ(report.plan.scheme, "native") << report.text();
  EXPECT_EQ(report.seconds_bound, 0);
  complex_product(Op::none, Op::none, z, w, native, {.engine = "native", .threads = threads});
  EXPECT_EQ(c.x, native.x);
}

// Never more than the search over all vectors asks: the engine is named, so that it has to go through with it.
TEST(WideSampleBound, IsAtMostWhatTheWholeSearchTakes) {
  const auto expect_bounded = [](const Matrix<double>& a, const Matrix<double>& b, const std::string& what) {
    const Options options{.engine = "portable", .threads = threads};
    const ProductPlan plan = plan_product<double>({a.rows(), b.columns(), a.columns()}, options);
    const Operand<double> rows{a.data(), a.rows(), a.columns(), a.ld(), false},
        columns{b.data(), b.columns(), a.columns(), b.ld(), true};
    const double log2 = least_log2_by_sample(plan, sample(rows, spread_vectors(rows.vectors, 16)),
                                             sample(columns, spread_vectors(columns.vectors, 16)));
    const Report report = multiply<double>({.a = a, .b = b, .pad_a = 0, .pad_b = 0}, options).report;
    const int taken = report.wide_moduli != 0 ? report.wide_moduli : report.plan.moduli;
    if (report.plan.scheme == "residues") {
      EXPECT_LE(moduli_for(log2), taken) << what << ": " << log2;
      EXPECT_NE(log2 == 0 ? 1 : moduli_for(log2), 0) << what;
    }
  };
  for (const int reach : {8, 20, 40, 60, 100, 300})
    expect_bounded(exp_rand_matrix<double>(90, 70, -reach, reach, 1), exp_rand_matrix<double>(70, 80, -reach, reach, 2),
                   "reach " + std::to_string(reach));
  for (const std::string& family : operand_families()) {
    const auto [a, b] = make_operands<double>(family, 70, 60, 90, 3);
    expect_bounded(a, b, family);
  }
}

// A row and a column graded against each other: their shares of each other are below the range of float.
TEST(WideSampleBound, IsBeyondAllModuliWhereSharesUnderflow) {
  constexpr std::int64_t graded = 3;
  auto a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, n, 0.5, 2);
  for (std::int64_t l = 0; l < n; ++l) {
    const double grade = std::ldexp(1.0, static_cast<int>(3 * (l - n / 2)));
    a(graded, l) *= grade, b(l, graded) /= grade;
  }
  const ProductPlan plan = plan_product<double>({n, n, n}, {.engine = "portable", .threads = threads});
  const Operand<double> rows{a.data(), n, n, n, false}, columns{b.data(), n, n, n, true};
  const std::vector<std::int64_t> few = {0, 1, graded};
  EXPECT_EQ(moduli_for(least_log2_by_sample(plan, sample(rows, few), sample(columns, few))), 0);
}

// A row and a column whose product is 2^-159 of their largest elements', below the range of float as it stands; the
// search scales it, and so does the sample.
TEST(WideSampleBound, TakesSharesAsTheSearchDoes) {
  constexpr std::int64_t few = 12;
  auto a = scattered_matrix<float>(few, few, 0.5, 1), b = scattered_matrix<float>(few, few, 0.5, 2);
  for (std::int64_t l = 0; l < few; ++l) a(0, l) = b(l, 0) = 0;
  a(0, 0) = b(1, 0) = 0x1p120f;
  a(0, 1) = b(0, 0) = 0x1p-40f;
  a(0, 2) = b(2, 0) = 0x1p-126f;
  const Options options{.contract = Contract::fp32(), .engine = "portable", .threads = threads};
  const ProductPlan plan = plan_product<float>({few, few, few}, options);
  const Operand<float> rows{a.data(), few, few, a.ld(), false}, columns{b.data(), few, few, b.ld(), true};
  const double log2 =
      least_log2_by_sample(plan, sample(rows, spread_vectors(few, 16)), sample(columns, spread_vectors(few, 16)));
  // Each side's exponent is 24 and the bits of the share, 159 less those of the weight; own scales would take 246.
  EXPECT_GT(log2, 2 * (24 + 155) - 160);
  EXPECT_LT(log2, 2 * (24 + 160) - 158);
}

// One of its rows is rougher than others, and proved against these columns all the same: others may be worse.
TEST(WideSampleBound, ExpectsWideEntriesBehindARoughVector) {
  constexpr std::int64_t m = 2000, k = 256;
  auto a = scattered_matrix<double>(m, k, 0.5, 1);
  const auto b = scattered_matrix<double>(k, m, 0.5, 2);
  const ProductPlan plan = plan_product<double>({m, m, k}, {.engine = "portable", .threads = threads});
  const Operand<double> rows{a.data(), m, k, a.ld(), false}, columns{b.data(), m, k, b.ld(), true};
  EXPECT_FALSE(look_at_sample<double>(plan, {rows}, {columns}).wide);
  for (std::int64_t l = 0; l < k; ++l) a(0, l) = l < 2 ? 1 : a(0, l) * 0x1p-5;
  ASSERT_EQ(sampled_vectors(plan), 16);
  const std::vector<std::int64_t> chosen = spread_vectors(m, 16);
  EXPECT_EQ(least_log2_by_sample(plan, sample(rows, chosen), sample(columns, chosen)), 0);
  EXPECT_TRUE(look_at_sample<double>(plan, {rows}, {columns}).wide);
}

TEST(WideSampleVectors, AreSpreadInGroupsOrTheWidest) {
  EXPECT_EQ(spread_vectors(3, 8), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(spread_vectors(100, 8), (std::vector<std::int64_t>{0, 1, 2, 3, 96, 97, 98, 99}));
  EXPECT_EQ(spread_vectors(100, 4), (std::vector<std::int64_t>{48, 49, 50, 51}));
  VectorStatistics statistics[5];
  for (int i = 0; i < 5; ++i) statistics[i] = {.exponent = i == 3 ? 9 : i == 1 ? 7 : 1, .lowest = 0, .sum = 1};
  EXPECT_EQ(widest_vectors(statistics, 5, 2), (std::vector<std::int64_t>{3, 1}));
}

// Whatever method the plan takes by estimate, where the data have few nonzero elements.
TEST(NonzeroProduct, TakesOverFromTheNativeProduct) {
  if (!missing_features(InstructionSet::avx512_vnni).empty()) GTEST_SKIP() << "no AVX-512";
  constexpr std::int64_t m = 1024;
  const SlowNative fast{0.8, 15, m, 2};
  const auto a = sparse_matrix<double>(m, m, 0.02, 3), b = scattered_matrix<double>(m, m, 1, 4);
  const auto engine = [&](const Matrix<double>& left, const Options& options) {
    const Report report = multiply<double>({.a = left, .b = b}, options).report;
    EXPECT_EQ(report.plan.scheme, "native") << report.text();
    return report.plan.engine;
  };
  EXPECT_EQ(engine(a, {.threads = 2}), "nonzeros");
  EXPECT_EQ(engine(b, {.threads = 2}), native_name()) << "it has no zeros";
  EXPECT_EQ(engine(a, {.engine = "native", .threads = 2}), native_name()) << "it was asked for";
  EXPECT_EQ(engine(a, {.threads = 2, .workspace_limit = 1 << 20}), native_name()) << "its memory is bounded";
}

// The plan takes residues by estimate.
TEST(NonzeroProduct, TakesOverWhereItIsFaster) {
  if (!missing_features(InstructionSet::avx512_vnni).empty()) GTEST_SKIP() << "no AVX-512";
  constexpr std::int64_t m = 1024;
  const SlowNative slow{1.6, 15, m, 2};
  const auto a = sparse_matrix<double>(m, m, 0.02, 1), b = scattered_matrix<double>(m, m, 1, 2);
  const Options two{.threads = 2};
  for (const bool left : {true, false}) {
    const auto out = multiply<double>({.a = left ? a : b, .b = left ? b : a}, two);
    EXPECT_EQ(out.report.plan.scheme, "native");
    EXPECT_EQ(out.report.plan.engine, "nonzeros");
    EXPECT_FALSE(out.report.fallback);
    const auto native = multiply<double>({.a = left ? a : b, .b = left ? b : a}, {.engine = "native", .threads = 2});
    double largest = 0;
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t i = 0; i < m; ++i) largest = std::max(largest, std::abs(out.c(i, j) - native.c(i, j)));
    EXPECT_LT(largest, 1e-12);
    Options other = two;  // where bits are promised, or residues asked for
    other.contract.reproducible = true;
    EXPECT_EQ(multiply<double>({.a = left ? a : b, .b = left ? b : a}, other).report.plan.scheme, "residues");
  }
  EXPECT_NE(multiply<double>({.a = b, .b = b}, two).report.plan.engine, "nonzeros");
  Options named = two;
  named.engine = std::string(preferred_int8_engine().name());
  EXPECT_EQ(multiply<double>({.a = a, .b = b}, named).report.plan.engine, named.engine);
}

}  // namespace
}  // namespace vernier::test::wide_sample_test
