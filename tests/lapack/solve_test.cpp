// solve(): what the certificate says is true, and it says so for every kind of system.
#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "support/conditioned.hpp"
#include "support/error_message.hpp"
#include "support/exact.hpp"
#include "systems.hpp"

namespace vernier::test::solve_test {
namespace {

constexpr Factors all_factors[] = {Factors::automatic, Factors::bf16, Factors::fp16, Factors::fp32, Factors::fp64};
constexpr Refinement all_refinements[] = {Refinement::automatic, Refinement::classical, Refinement::gmres};

template <class T>
struct Solved {
  Matrix<T> x;
  SolveReport report;
};

template <class T>
Solved<T> solved(Op op, const Matrix<T>& a, const Matrix<T>& b, SolveOptions options = {}) {
  const Matrix<T> stored_a = padded(a, 2), stored_b = padded(b, 1);
  Solved<T> out{Matrix<T>(b.rows(), b.columns(), 3), {}};
  options.products.threads = 2;
  out.report = solve<T>(op, a.rows(), b.columns(), stored_a.data(), stored_a.ld(), stored_b.data(), stored_b.ld(),
                        out.x.data(), out.x.ld(), options);
  EXPECT_EQ(out.x.broken_guard(), "");
  return out;
}

// The verdict against a backward error measured in 64 bits of significand.
template <class T>
void expect_true(Op op, const Matrix<T>& a, const Matrix<T>& b, const Solved<T>& s) {
  ASSERT_EQ(static_cast<std::int64_t>(s.report.columns.size()), b.columns());
  bool all = true;
  for (std::int64_t c = 0; c < b.columns(); ++c) {
    const auto column = [&](const Matrix<T>& m) {
      return Matrix<T>::of(m.rows(), 1, [&](auto i, auto) { return m(i, c); });
    };
    const SolveColumn& report = s.report.columns[static_cast<std::size_t>(c)];
    const double error = backward_error(op, a, column(s.x), column(b));
    if (report.ok) {
      EXPECT_LE(error, s.report.tolerance * (1 + 1e-10));
      EXPECT_LE(error, report.backward_error * (1 + 1e-10) + 1e-19);
    }
    EXPECT_EQ(report.ok, report.backward_error <= s.report.tolerance);
    all = all && report.ok;
  }
  EXPECT_EQ(s.report.verdict == Verdict::ok || s.report.verdict == Verdict::ill_conditioned, all);
}

template <class T>
class Solve : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Solve, Types);

TYPED_TEST(Solve, TwoByTwo) {
  const TypeParam a[] = {1, 3, 2, 4}, b[] = {5, 11};
  TypeParam x[2];
  for (const Factors factors : all_factors) {
    const SolveReport report = solve<TypeParam>(Op::none, 2, 1, a, 2, b, 2, x, 2, {.factors = factors});
    EXPECT_EQ(report.verdict, Verdict::ok);
    // The condition number is 21, and a backward error of 4 u is good enough.
    EXPECT_NEAR(x[0], 1, 2 * 21 * 4 * unit_roundoff<TypeParam>);
    EXPECT_NEAR(x[1], 2, 2 * 21 * 4 * 2 * unit_roundoff<TypeParam>);
  }
}

TYPED_TEST(Solve, EveryPrecisionMethodAndOpGivesATrueCertificate) {
  for (const std::int64_t n : {1, 7, 130, 270}) {
    const auto a = scattered_matrix<TypeParam>(n, n, 0.5, static_cast<std::uint64_t>(n));
    const auto b = scattered_matrix<TypeParam>(n, 3, 0.5, 5);
    for (const Factors factors : all_factors)
      for (const Refinement refinement : all_refinements)
        for (const Op op : {Op::none, Op::transpose}) {
          const auto s = solved(op, a, b, {.factors = factors, .refinement = refinement});
          EXPECT_EQ(s.report.verdict, Verdict::ok) << s.report.text();
          expect_true(op, a, b, s);
        }
  }
}

TYPED_TEST(Solve, ManyRightHandSidesOfDifferentSizeAreAllRefined) {
  const std::int64_t n = 220, nrhs = 20;
  const auto a = scattered_matrix<TypeParam>(n, n, 0.5, 1);
  auto b = scattered_matrix<TypeParam>(n, nrhs, 0.5, 2);
  for (std::int64_t c = 0; c < nrhs; ++c)
    for (std::int64_t i = 0; i < n; ++i) b(i, c) = c == 4 ? 0 : std::ldexp(b(i, c), static_cast<int>(5 * c - 40));
  for (const Factors factors : {Factors::bf16, Factors::fp16, Factors::fp32}) {
    const auto s = solved(Op::none, a, b, {.factors = factors});
    EXPECT_EQ(s.report.verdict, Verdict::ok) << s.report.text();
    expect_true(Op::none, a, b, s);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(s.x(i, 4), 0);
  }
}

// Residuals of so many columns are products of matrices: with them, too, the certificate is an upper bound.
TYPED_TEST(Solve, ResidualsOfManyColumnsAtOnceAreTrue) {
  for (const auto& [n, nrhs] : {std::pair<std::int64_t, std::int64_t>{70, 33}, {600, 40}}) {
    const auto a = scattered_matrix<TypeParam>(n, n, 1, 1), b = scattered_matrix<TypeParam>(n, nrhs, 0.5, 2);
    for (const Factors factors : {Factors::automatic, Factors::fp32})
      for (const Op op : {Op::none, Op::transpose}) {
        const auto s = solved(op, a, b, {.factors = factors});
        EXPECT_EQ(s.report.verdict, Verdict::ok) << s.report.text();
        EXPECT_EQ(s.report.factors, factors == Factors::automatic ? Factors::fp64 : Factors::fp32);
        expect_true(op, a, b, s);
      }
  }
}

// [1 2 3; 4 5 6; 7 8 9] and a matrix whose condition no double tells.
TEST(Solve, SingularToWorkingPrecisionIsNotOk) {
  const double counted[] = {1, 4, 7, 2, 5, 8, 3, 6, 9}, b[] = {1, 2, 4};
  double x[3];
  const SolveReport report = solve<double>(Op::none, 3, 1, counted, 3, b, 3, x, 3);
  if (report.verdict != Verdict::singular) {  // the last pivot is zero, or its rounding
    EXPECT_EQ(report.verdict, Verdict::ill_conditioned) << report.text();
    EXPECT_TRUE(std::isinf(report.columns[0].forward_error));
    EXPECT_GE(report.condition, 0x1p53);
  }
  for (const std::int64_t n :
       {60, 230}) {  // with fp64 factors from the start, and with fp32 ones that refinement serves
    const auto a = conditioned_matrix(n, 1e19, Spectrum::one_small, 3);
    const auto ones = Matrix<double>::of(n, 1, [](auto, auto) { return 1; });
    for (const auto& right : {scattered_matrix<double>(n, 1, 0.5, 4), ExactProduct<double>(a, ones).rounded()}) {
      const auto s = solved(Op::none, a, right);
      EXPECT_EQ(s.report.verdict, Verdict::ill_conditioned) << s.report.text();
      EXPECT_NE(s.report.text().find("singular to working precision"), std::string::npos);
      EXPECT_TRUE(std::isinf(s.report.columns[0].forward_error));
    }
    const auto far = conditioned_matrix(n, 1e11, Spectrum::one_small, 3);
    EXPECT_EQ(solved(Op::none, far, ones).report.verdict, Verdict::ok);
  }
}

TEST(Solve, ProgressRisesToOne) {
  const auto a = scattered_matrix<double>(300, 300, 0.5, 1), b = scattered_matrix<double>(300, 50, 0.5, 2);
  std::vector<double> told;
  SolveOptions options;
  options.products.progress = [&](double fraction) { told.push_back(fraction); };
  (void)solved(Op::none, a, b, options);
  ASSERT_GT(told.size(), 3U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 1);
}

TYPED_TEST(Solve, XMayBeB) {
  const auto a = scattered_matrix<TypeParam>(50, 50, 0.5, 1), b = scattered_matrix<TypeParam>(50, 2, 0.5, 2);
  const auto s = solved(Op::none, a, b);
  auto x = b;
  EXPECT_EQ(solve<TypeParam>(Op::none, 50, 2, a.data(), 50, x.data(), 50, x.data(), 50).verdict, Verdict::ok);
  EXPECT_EQ(difference(x, padded(s.x, 0)), "");
}

// Rows and columns from 2^-60 to 2^60 (float: 2^-12 to 2^12): far outside of fp16.
TYPED_TEST(Solve, BadlyScaledSystemsAreEquilibrated) {
  const std::int64_t n = 90;
  const int reach = std::is_same_v<TypeParam, float> ? 12 : 60;
  const auto grade = [&](std::int64_t i) { return static_cast<int>(i * 7919 % (2 * reach + 1)) - reach; };
  auto a = scattered_matrix<TypeParam>(n, n, 0.5, 3), b = scattered_matrix<TypeParam>(n, 1, 0.5, 4);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = std::ldexp(a(i, j), grade(i) + grade(j + 3));
  for (const Factors factors : {Factors::bf16, Factors::fp16, Factors::fp32, Factors::fp64})
    for (const Op op : {Op::none, Op::transpose}) {
      const auto s = solved(op, a, b, {.factors = factors});
      EXPECT_TRUE(s.report.equilibrated);
      EXPECT_FALSE(s.report.fallback) << s.report.text();
      EXPECT_EQ(s.report.verdict, Verdict::ok) << s.report.text();
      expect_true(op, a, b, s);
    }
}

TEST(Solve, ExtremeExponentsAreTakenOutFirst) {
  for (const int exponent : {-1000, -600, 600, 1000}) {
    auto a = scattered_matrix<double>(60, 60, 0.5, 3), b = scattered_matrix<double>(60, 1, 0.5, 4);
    const auto plain = solved(Op::none, a, b);
    for (std::int64_t j = 0; j < 60; ++j)
      for (std::int64_t i = 0; i < 60; ++i) a(i, j) = std::ldexp(a(i, j), exponent);
    for (std::int64_t i = 0; i < 60; ++i) b(i, 0) = std::ldexp(b(i, 0), exponent);
    const auto s = solved(Op::none, a, b);
    EXPECT_EQ(s.report.verdict, Verdict::ok) << exponent << s.report.text();
    for (std::int64_t i = 0; i < 60; ++i) EXPECT_NEAR(s.x(i, 0), plain.x(i, 0), 1e-10 * std::abs(plain.x(i, 0)));
  }
}

// x = 2^1900: no double holds it, and nothing is called ok.
TEST(Solve, NormsTimesSolutionsMayPassTheLargestNumber) {
  for (const double rest : {1.9, 1.7, 1.3}) {
    const double a[] = {1.9, 0, rest, 0x1p-1022}, b[] = {1, 1.7};
    const auto x = Matrix<double>::of(2, 2, [&](auto i, auto j) { return a[i + 2 * j]; }),
               y = Matrix<double>::of(2, 1, [&](auto i, auto) { return b[i]; });
    for (const Factors factors : {Factors::fp64, Factors::fp32})
      expect_true(Op::none, x, y, solved(Op::none, x, y, {.factors = factors}));
  }
}

TEST(Solve, OverflowOfTheSolutionIsNoSuccess) {
  const double a[] = {0x1p-1000}, b[] = {0x1p900};
  double x[1];
  const SolveReport report = solve<double>(Op::none, 1, 1, a, 1, b, 1, x, 1);
  EXPECT_EQ(report.verdict, Verdict::above_tolerance);
  EXPECT_FALSE(report.columns[0].ok);
}

// Wilkinson's matrix: U grows to 2^(n - 1), which fp16 does not hold and fp32 does not resolve.
TEST(Solve, GrowthBeyondFp16IsNoticed) {
  const std::int64_t n = 50;
  const auto a = Matrix<double>::of(n, n, [&](auto i, auto j) { return j == n - 1 || i == j ? 1 : i > j ? -1 : 0; });
  const auto b = scattered_matrix<double>(n, 1, 0.5, 4);
  const auto s = solved(Op::none, a, b, {.factors = Factors::fp16});
  EXPECT_TRUE(s.report.fallback);
  EXPECT_EQ(s.report.reason, "growth left the range of fp16 factors");
  EXPECT_EQ(s.report.verdict, Verdict::ok) << s.report.text();
  expect_true(Op::none, a, b, s);
}

TYPED_TEST(Solve, SingularMatricesWriteNothing) {
  for (const Factors factors : all_factors)
    for (const std::int64_t n : {2, 30, 250}) {
      auto a = integer_matrix<TypeParam>(n, n, 5, 7);
      for (std::int64_t i = 0; i < n; ++i) a(i, n / 2) = 0;
      const auto s = solved(Op::none, a, scattered_matrix<TypeParam>(n, 1, 0.5, 8), {.factors = factors});
      EXPECT_EQ(s.report.verdict, Verdict::singular);
      EXPECT_EQ(s.report.info, n / 2 + 1);
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(bits_of(s.x(i, 0)), bits_of(poison<TypeParam>()));
    }
}

// Classical refinement reaches kappa u_factors of about 1, GMRES goes beyond, and the rest is the fallback's.
TEST(Solve, ConditionDecidesTheMethod) {
  const std::int64_t n = 120;
  const auto b = scattered_matrix<double>(n, 1, 0.5, 4);
  const auto run = [&](double kappa, Factors factors, Refinement refinement, bool fallback) {
    const auto a = conditioned_matrix(n, kappa, Spectrum::geometric, 5);
    const auto s = solved(Op::none, a, b, {.factors = factors, .refinement = refinement, .fallback = fallback});
    const bool nearly_singular = s.report.verdict == Verdict::ill_conditioned && s.report.condition >= 0x1p53;
    EXPECT_TRUE(s.report.verdict == Verdict::ok || nearly_singular) << s.report.text();
    expect_true(Op::none, a, b, s);
    return s.report;
  };
  const auto beyond_classical = [&](double kappa, Factors factors) {
    const SolveReport report = run(kappa, factors, Refinement::automatic, true);
    return report.gmres || report.fallback;
  };
  EXPECT_FALSE(beyond_classical(1e1, Factors::fp16));
  EXPECT_TRUE(beyond_classical(1e8, Factors::fp16));
  EXPECT_FALSE(beyond_classical(1e4, Factors::fp32));
  EXPECT_TRUE(beyond_classical(1e11, Factors::fp32));
  EXPECT_TRUE(run(1e5, Factors::fp16, Refinement::gmres, false).gmres);
  EXPECT_TRUE(run(1e8, Factors::fp32, Refinement::gmres, false).gmres);
  EXPECT_TRUE(run(1e15, Factors::fp32, Refinement::automatic, true).fallback);
}

TEST(Solve, WithoutFallbackTheFailureIsTold) {
  const auto a = conditioned_matrix(100, 1e10, Spectrum::geometric, 5);
  const auto b = scattered_matrix<double>(100, 2, 0.5, 4);
  const auto s =
      solved(Op::none, a, b, {.factors = Factors::fp16, .refinement = Refinement::classical, .fallback = false});
  EXPECT_EQ(s.report.verdict, Verdict::above_tolerance);
  EXPECT_EQ(s.report.factors, Factors::fp16);
  expect_true(Op::none, a, b, s);
}

TEST(Solve, NoIterationMeansNoRefinement) {
  const auto a = scattered_matrix<double>(100, 100, 0.5, 5), b = scattered_matrix<double>(100, 1, 0.5, 4);
  const auto s = solved(Op::none, a, b, {.factors = Factors::fp32, .max_iterations = 0, .fallback = false});
  EXPECT_EQ(s.report.verdict, Verdict::above_tolerance);
  EXPECT_EQ(s.report.columns[0].corrections, 0);
}

TEST(Solve, RequestedFiguresAreTrue) {
  const std::int64_t n = 80;
  for (const double kappa : {1e2, 1e6, 1e10}) {
    const auto a = conditioned_matrix(n, kappa, Spectrum::one_small, 9);
    const auto x = scattered_matrix<double>(n, 1, 0.5, 10);
    const auto b = ExactProduct<double>(a, x).rounded();
    const auto s = solved(Op::none, a, b, {.condition = true, .componentwise_error = true, .forward_error = true});
    EXPECT_EQ(s.report.verdict, Verdict::ok);
    EXPECT_GE(s.report.condition, kappa / 3);  // the infinity norm and the 2-norm are within n of each other
    EXPECT_LE(s.report.condition, kappa * n);
    const SolveColumn& column = s.report.columns[0];
    EXPECT_GE(column.componentwise_error, column.backward_error / 2);
    EXPECT_LE(column.componentwise_error, 1e-10);
    // b was rounded: its own solution is up to kappa u from x.
    double difference = 0, largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      difference = std::max(difference, std::abs(s.x(i, 0) - x(i, 0)));
      largest = std::max(largest, std::abs(x(i, 0)));
    }
    EXPECT_LE(difference / largest, 3 * column.forward_error + s.report.condition * 0x1p-52);
    EXPECT_LE(column.forward_error, s.report.condition * 1e-13);
  }
}

// fp32 factors solve them, but of such conditions they know nothing; of the second no factors do.
TEST(Solve, OfOneNumberHasConditionOneAndCallsItsEstimatesEstimates) {
  for (const double value : {1.0, 3.0, -0x1.fffffffffffffp0, 1e-300, 7e299}) {
    Matrix<double> a(1, 1), b(1, 1);
    a(0, 0) = value;
    b(0, 0) = 1 / 3.0;
    const auto s = solved(Op::none, a, b, {.condition = true, .forward_error = true});
    EXPECT_GE(s.report.condition, 1) << value;
    EXPECT_LE(s.report.condition, 1.001) << value;
    const std::string text = s.report.text();
    EXPECT_NE(text.find("forward, estimated"), std::string::npos) << text;
    EXPECT_NE(text.find(", estimated\n", text.find("condition")), std::string::npos) << text;
  }
}

TEST(Solve, EstimatesKnowConditionsBeyondTheReachOfCoarseFactors) {
  const std::int64_t n = 210;
  const double kappa = 1e13;
  const auto a = conditioned_matrix(n, kappa, Spectrum::one_small, 3);
  const auto ones = Matrix<double>::of(n, 1, [](auto, auto) { return 1; });
  const auto b = ExactProduct<double>(a, ones).rounded();
  SolveOptions options{.factors = Factors::fp32, .tolerance = 1e-14, .condition = true, .forward_error = true};
  const auto s = solved(Op::none, a, b, options);
  EXPECT_EQ(s.report.verdict, Verdict::ok);
  EXPECT_EQ(s.report.factors, Factors::fp32);
  EXPECT_GE(s.report.condition, kappa / 3);
  double difference = 0;
  for (std::int64_t i = 0; i < n; ++i) difference = std::max(difference, std::abs(s.x(i, 0) - 1));
  EXPECT_LE(difference, 3 * s.report.columns[0].forward_error + s.report.condition * 0x1p-52);
  EXPECT_LE(s.report.columns[0].forward_error, 0.1);
  options.fallback = false;
  EXPECT_TRUE(std::isinf(solved(Op::none, a, b, options).report.columns[0].forward_error));

  options.fallback = true;
  const auto singular = conditioned_matrix(n, 1e16, Spectrum::one_small, 3);
  const auto nearly = solved(Op::none, singular, ExactProduct<double>(singular, ones).rounded(), options);
  EXPECT_TRUE(std::isinf(nearly.report.columns[0].forward_error)) << nearly.report.text();
}

TEST(Solve, ThreadsDoNotChangeTheCorrections) {
  const auto a = scattered_matrix<double>(600, 600, 0.5, 5), b = scattered_matrix<double>(600, 1, 0.5, 4);
  SolveOptions options;
  options.factors = Factors::fp16;
  options.contract = Contract::parse("fp32+reproducible");
  std::vector<Matrix<double>> x;
  for (const int threads : {1, 2, 3}) {
    options.products.threads = threads;
    x.emplace_back(600, 1);
    EXPECT_EQ(solve<double>(Op::none, 600, 1, a.data(), 600, b.data(), 600, x.back().data(), 600, options).verdict,
              Verdict::ok);
    EXPECT_EQ(difference(x.back(), x.front()), "");
  }
}

TYPED_TEST(Solve, BadArgumentsAreNamedAndNothingIsWritten) {
  using T = TypeParam;
  T a[4] = {1, 0, 0, 1}, b[2] = {1, 1}, x[2] = {7, 7};
  const auto call = [&](std::int64_t n, std::int64_t lda, const T* pa, std::int64_t ldx, SolveOptions o = {}) {
    return message([&] { (void)solve<T>(Op::none, n, 1, pa, lda, b, 2, x, ldx, o); });
  };
  EXPECT_EQ(call(-1, 0, a, 0), "solve: n = -1: expected 0 or more");
  EXPECT_EQ(call(2, 2, nullptr, 2), "solve: A is null");
  EXPECT_EQ(call(2, 1, a, 2), "solve: lda = 1: expected at least 2");
  EXPECT_EQ(call(2, 2, a, 1), "solve: ldx = 1: expected at least 2");
  EXPECT_EQ(call(2, 2, a, 2, {.tolerance = -1}), "solve: tolerance = -1: expected 0 or more, and less than 1");
  EXPECT_EQ(call(2, 2, a, 2, {.max_iterations = -1}), "solve: max_iterations = -1: expected 0 to 100000");
  a[3] = poison<T>();
  EXPECT_EQ(call(2, 2, a, 2), "solve: A(2, 2) is a NaN: expected a finite number");
  a[3] = std::numeric_limits<T>::infinity();
  EXPECT_EQ(call(2, 2, a, 2), "solve: A(2, 2) is an infinity: expected a finite number");
  a[3] = 1;
  b[1] = poison<T>();
  EXPECT_EQ(call(2, 2, a, 2), "solve: B(2, 1) is a NaN: expected a finite number");
  EXPECT_EQ(x[0], 7);
}

TEST(Solve, EmptySystemsAreOk) {
  EXPECT_EQ(solve<double>(Op::none, 0, 2, nullptr, 1, nullptr, 1, nullptr, 1).verdict, Verdict::ok);
  EXPECT_EQ(solve<double>(Op::none, 2, 0, nullptr, 2, nullptr, 2, nullptr, 2).verdict, Verdict::ok);
}

}  // namespace
}  // namespace vernier::test::solve_test
