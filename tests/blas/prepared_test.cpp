// Prepared operands: the bits of unprepared ones, whatever the matrix became since.
#include "vernier/prepared.hpp"

#include <functional>
#include <thread>

#include "fixture.hpp"

namespace vernier::test::prepared_test {
namespace {

// Which factors are prepared.
struct Which {
  bool a, b;
};
constexpr Which every_way[] = {{true, false}, {false, true}, {true, true}};

class Prepared : public PerEngine {
 protected:
  template <class T>
  static PreparedOperand<T> left(const Call<T>& call, const Options& options) {
    const Matrix<T> x = stored(call.opa, call.a, call.pad_a);
    return {Side::left, call.opa, call.a.rows(), call.a.columns(), x.data(), x.ld(), options};
  }
  template <class T>
  static PreparedOperand<T> right(const Call<T>& call, const Options& options) {
    const Matrix<T> x = stored(call.opb, call.b, call.pad_b);
    return {Side::right, call.opb, call.b.rows(), call.b.columns(), x.data(), x.ld(), options};
  }

  // The stored matrices that were prepared are gone by the time of the product.
  template <class T>
  static std::pair<Matrix<T>, PreparedReport> product(const Call<T>& call, Which which, const Options& options) {
    const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
    const Matrix<T> a = stored(call.opa, call.a, call.pad_a), b = stored(call.opb, call.b, call.pad_b);
    Matrix<T> c = call.c.rows() == m ? padded(call.c, call.pad_c) : Matrix<T>(m, n, call.pad_c);
    PreparedReport r;
    if (which.a && which.b)
      r = gemm(left(call, options), right(call, options), m, n, k, call.alpha, call.beta, c.data(), c.ld(), options);
    else if (which.a)
      r = gemm(left(call, options), call.opb, m, n, k, call.alpha, b.data(), b.ld(), call.beta, c.data(), c.ld(),
               options);
    else
      r = gemm(call.opa, right(call, options), m, n, k, call.alpha, a.data(), a.ld(), call.beta, c.data(), c.ld(),
               options);
    EXPECT_EQ(c.broken_guard(), "");
    return {c, r};
  }

  template <class T>
  static void expect_same(const Call<T>& call, const Options& options, const std::string& what, bool read = true) {
    const Matrix<T> expected = multiply(call, options).c;
    for (const Which which : every_way) {
      const auto [c, report] = product(call, which, options);
      EXPECT_EQ(difference(c, expected), "") << what;
      EXPECT_EQ(report.prepared_a, which.a && read) << what;
      EXPECT_EQ(report.prepared_b, which.b && read) << what;
      EXPECT_EQ(report.plan.engine, options.engine) << what;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, Prepared, testing::ValuesIn(engine_cases()), ReadableName());

TEST_P(Prepared, HaveTheBitsOfUnpreparedOperandsUnderEveryContractAndOp) {
  with_type([this]<class T>(T) {
    for (const Contract& contract : {Contract::fp64(), Contract::fp32(), Contract::normwise(), Contract::bits(70)}) {
      const auto [a, b] = make_operands<T>("random_phi_0_5", 70, 67, 130, 43);
      for (const Op op : all_ops)
        expect_same<T>({.a = a,
                        .b = b,
                        .opa = op,
                        .opb = op,
                        .alpha = T{1} / 3,
                        .beta = T{0.7f},
                        .c = scattered_matrix<T>(70, 67, 0.5, 42)},
                       options<T>(contract), contract.text());
    }
  });
}

// More moduli than prepared, or none of them: from the copy.
TEST_P(Prepared, WideExponentsAndNonfiniteElementsAreMadeFromTheCopy) {
  with_type([this]<class T>(T) {
    for (const std::string family : {"random_phi_4", "wide_row", "wide_row_against_wide_column", "near_overflow"}) {
      auto [a, b] = make_operands<T>(family, 131, 117, 210, 41);
      const Call<T> call{.a = a, .b = b};
      const Matrix<T> expected = multiply(call, options<T>()).c;
      for (const Which which : every_way)
        EXPECT_EQ(difference(product(call, which, options<T>()).first, expected), "") << family;
    }
    auto [a, b] = make_operands<T>("wide_row", 131, 117, 210, 41);
    const Call<T> wide{.a = a, .b = b};
    const PreparedReport r = product(wide, {true, false}, options<T>()).second;
    EXPECT_TRUE(r.prepared_a);
    EXPECT_GT(r.wide_moduli, r.plan.moduli);
    a(7, 9) = std::numeric_limits<T>::quiet_NaN(), b(11, 13) = std::numeric_limits<T>::infinity();
    const Call<T> special{.a = a, .b = b};
    const Matrix<T> expected = multiply(special, options<T>()).c;
    for (const Which which : every_way)
      EXPECT_EQ(difference_but_for_nans(product(special, which, options<T>()).first, expected), "");
  });
}

TEST_P(Prepared, KMayTakeSeveralBlocksAndCToo) {
  with_type([this]<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_0_5", 33, 12, 33000, 45);
    expect_same<T>({.a = a, .b = b, .opa = Op::transpose}, options<T>(), "long k");
    Options least = options<T>();
    least.threads = 1;
    least.workspace_limit = gemm_workspace<T>(33, 12, 33000, least, true);
    expect_same<T>({.a = a, .b = b}, least, "no room for blocks of k as prepared", false);
    const auto [x, y] = make_operands<T>("random_phi_0_5", 200, 190, 3000, 46);
    const Call<T> call{.a = x, .b = y};
    Options small = options<T>();
    small.threads = 2;
    small.workspace_limit = gemm_workspace<T>(200, 190, 3000, small, true) + (std::size_t{2} << 20);
    const Matrix<T> expected = multiply(call, options<T>()).c;
    for (const Which which : every_way) {
      const auto [c, report] = product(call, which, small);
      EXPECT_TRUE(which.a ? report.prepared_a : report.prepared_b);
      if (which.a != which.b) {
        EXPECT_LT(report.plan.n_block * report.plan.m_block, 200 * 190);
      }
      EXPECT_EQ(difference(c, expected), "");
    }
  });
}

TEST_P(Prepared, OneObjectServesManyThreadsAndDoesNotFollowItsMatrix) {
  with_type([this]<class T>(T) {
    auto [a, b] = make_operands<T>("random_phi_0_5", 90, 60, 300, 47);
    const Options mine = options<T>();
    const Matrix<T> expected = multiply<T>({.a = a, .b = b}, mine).c;
    const PreparedOperand<T> prepared(Side::left, Op::none, 90, 300, a.data(), a.ld(), mine);
    EXPECT_GT(prepared.bytes(), 90 * 300 * (sizeof(T) + static_cast<std::size_t>(prepared.moduli())));
    for (std::int64_t i = 0; i < 90; ++i) a(i, 3) = 0;
    std::vector<Matrix<T>> results(6, Matrix<T>(90, 60));
    std::vector<std::thread> threads;
    for (Matrix<T>& c : results)
      threads.emplace_back([&, copy = prepared] {
        Options own = mine;
        own.threads = 1;
        gemm(copy, Op::none, 90, 60, 300, T{1}, b.data(), b.ld(), T{0}, c.data(), c.ld(), own);
      });
    for (std::thread& t : threads) t.join();
    for (const Matrix<T>& c : results) EXPECT_EQ(difference(c, expected), "");
  });
}

// A contract that is not reproducible, and no engine: residues all the same, and the native product where they cannot.
TEST(PreparedOperands, TakeResiduesWithoutBeingToldAndFallBackOnTheirCopy) {
  auto [a, b] = make_operands<double>("random_phi_0_5", 20, 18, 30, 48);
  b(0, 5) = 0;
  const PreparedOperand<double> prepared(Side::right, Op::none, 30, 18, b.data(), b.ld());
  Matrix<double> c(20, 18), expected(20, 18);
  PreparedReport r = gemm(Op::none, prepared, 20, 18, 30, 1.0, a.data(), a.ld(), 0.0, c.data(), c.ld());
  EXPECT_EQ(r.plan.scheme, "residues");
  EXPECT_TRUE(r.prepared_b);
  EXPECT_NE(r.text().find("prepared"), std::string::npos);
  EXPECT_NE(r.json().find("\"prepared_b\":true"), std::string::npos);
  Matrix<double> wide = a;  // entry (3, 5) sees the small elements alone
  for (std::int64_t l = 0; l < 30; ++l) wide(3, l) = std::ldexp(wide(3, l), l == 0 ? 900 : -900);
  r = gemm(Op::none, prepared, 20, 18, 30, 1.0, wide.data(), wide.ld(), 0.0, c.data(), c.ld());
  EXPECT_TRUE(r.fallback);
  EXPECT_FALSE(r.prepared_b);
  gemm(Op::none, Op::none, 20, 18, 30, 1.0, wide.data(), wide.ld(), b.data(), b.ld(), 0.0, expected.data(),
       expected.ld(), {.engine = "native"});
  EXPECT_EQ(difference(c, expected), "");
}

TEST(PreparedOperands, OfNoWorkScaleC) {
  Matrix<double> c = scattered_matrix<double>(4, 3, 1, 49);
  const Matrix<double> before = c;
  const double x = std::numeric_limits<double>::quiet_NaN();
  const PreparedOperand<double> empty(Side::left, Op::none, 4, 0, &x, 4),
      one(Side::left, Op::none, 4, 1, before.data(), 4);
  gemm<double>(empty, Op::none, 4, 3, 0, 1.0, nullptr, 1, 2.0, c.data(), c.ld());
  EXPECT_EQ(c(3, 2), 2 * before(3, 2));
  gemm<double>(one, Op::none, 4, 3, 1, 0.0, nullptr, 1, 0.5, c.data(), c.ld());
  EXPECT_EQ(difference(c, before), "");
  EXPECT_EQ(gemm<double>(one, Op::none, 4, 0, 1, 1.0, nullptr, 1, 0.5, c.data(), c.ld()).plan.scheme, "none");
}

TEST(PreparedOperands, ThatDoNotFitAreRefusedWithCUntouched) {
  const double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  double c[4] = {5, 5, 5, 5};
  const auto refused = [](const std::function<void()>& call, const std::string& word) {
    try {
      call();
      ADD_FAILURE() << "no error: " << word;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  const auto make = [&](Options options, std::int64_t ldx = 2, Side side = Side::left) {
    return PreparedOperand<double>(side, Op::none, 2, 3, x, ldx, options);
  };
  refused([&] { make({}, 1); }, "ldx = 1: expected at least 2");
  refused([&] { make({.contract = Contract::exact()}); }, "exact");
  refused([&] { make({.engine = "native"}); }, "native");
  refused([&] { make({.engine = "none-such"}); }, "none-such");
  refused([&] { PreparedOperand<double>(Side::left, Op::none, 2, 3, nullptr, 2); }, "X is null");
  refused([&] { PreparedOperand<double>(Side::left, Op::none, -1, 3, x, 2); }, "rows = -1");
  const PreparedOperand<double> a = make({.engine = "portable"});
  const auto call = [&](std::int64_t m, std::int64_t k, const Options& options) {
    gemm(a, Op::none, m, 2, k, 1.0, x, 3, 0.0, c, 2, options);
  };
  refused([&] { call(2, 2, {}); }, "prepared as 2 x 3; expected 2 x 2");
  refused([&] { call(2, 3, {.contract = Contract::bits(60)}); }, "prepared for contract fp64; expected bits(60)");
  refused([&] { call(2, 3, {.engine = "model:nvidia-int8"}); }, "prepared for engine portable");
  refused([&] { call(2, 3, {.threads = -1}); }, "threads");
  refused([&] { gemm(Op::none, a, 1, 3, 2, 1.0, x, 1, 0.0, c, 1); }, "prepared as the left factor");
  refused([&] { gemm(a, Op::none, 2, 2, 3, 1.0, x, 2, 0.0, c, 2); }, "ldb = 2");
  refused([&] { gemm<double>(a, Op::none, 2, 2, 3, 1.0, nullptr, 3, 0.0, c, 2); }, "B is null");
  const PreparedOperand<double> b(Side::right, Op::none, 3, 2, x, 3, {.engine = "model:nvidia-int8"});
  refused([&] { gemm(a, b, 2, 2, 3, 1.0, 0.0, c, 2); }, "expected the same");
  for (const double entry : c) EXPECT_EQ(entry, 5);
  call(2, 3, {});
  EXPECT_EQ(c[0], 1 * 1 + 3 * 2 + 5 * 3);
}

}  // namespace
}  // namespace vernier::test::prepared_test
