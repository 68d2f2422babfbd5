// Integers, whose product has one right answer: by hand first, then all corner sizes, transposes and factors.

#include "fixture.hpp"

namespace vernier::test::small_cases_test {
namespace {

class SmallCases : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, SmallCases, testing::ValuesIn(engine_cases()), ReadableName());

// The product of matrices of small integers: exact in a plain sum.
template <class T>
Matrix<T> integer_product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.rows(), b.columns());
  for (std::int64_t j = 0; j < c.columns(); ++j) {
    for (std::int64_t i = 0; i < c.rows(); ++i) c(i, j) = 0;
    for (std::int64_t l = 0; l < a.columns(); ++l)
      for (std::int64_t i = 0; i < c.rows(); ++i) c(i, j) += a(i, l) * b(l, j);
  }
  return c;
}

TEST_P(SmallCases, TwoByTwoByHand) {
  with_type([this]<class T>(T) {
    //  1 2   5 6    1 * 5 + 2 * 7   1 * 6 + 2 * 8    19 22
    //  3 4   7 8    3 * 5 + 4 * 7   3 * 6 + 4 * 8    43 50
    const T a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8};
    T c[] = {100, 200, 300, 400};
    const Report report = gemm<T>(Op::none, Op::none, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2, options<T>());
    EXPECT_EQ(report.plan.engine, GetParam().engine);
    EXPECT_EQ(std::vector<T>(c, c + 4), (std::vector<T>{19, 43, 22, 50}));
    gemm<T>(Op::none, Op::none, 2, 2, 2, 2, a, 2, b, 2, -1, c, 2, options<T>());
    EXPECT_EQ(std::vector<T>(c, c + 4), (std::vector<T>{19, 43, 22, 50}));
  });
}

TEST_P(SmallCases, TransposesByHand) {
  with_type([this]<class T>(T) {
    const T a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8};
    T c[4];
    //  1 3   5 6    26 30
    //  2 4   7 8    38 44
    gemm<T>(Op::transpose, Op::none, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2, options<T>());
    EXPECT_EQ(std::vector<T>(c, c + 4), (std::vector<T>{26, 38, 30, 44}));
    //  1 2   5 7    17 23
    //  3 4   6 8    39 53
    gemm<T>(Op::none, Op::conjugate_transpose, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2, options<T>());
    EXPECT_EQ(std::vector<T>(c, c + 4), (std::vector<T>{17, 39, 23, 53}));
    //  1 3   5 7    23 31
    //  2 4   6 8    34 46
    gemm<T>(Op::conjugate_transpose, Op::transpose, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2, options<T>());
    EXPECT_EQ(std::vector<T>(c, c + 4), (std::vector<T>{23, 34, 31, 46}));
  });
}

TEST_P(SmallCases, RowTimesColumnAndColumnTimesRowByHand) {
  with_type([this]<class T>(T) {
    const T x[] = {1, 2, 3}, y[] = {4, -5, 6};
    T dot = 7, outer[9];
    gemm<T>(Op::none, Op::none, 1, 1, 3, 1, x, 1, y, 3, 1, &dot, 1, options<T>());
    EXPECT_EQ(dot, 7 + 4 - 10 + 18);
    gemm<T>(Op::none, Op::none, 3, 3, 1, 1, x, 3, y, 1, 0, outer, 3, options<T>());
    EXPECT_EQ(std::vector<T>(outer, outer + 9), (std::vector<T>{4, 8, 12, -5, -10, -15, 6, 12, 18}));
  });
}

// k and k + 1 of them: the sum passes what int8, int16 and a float significand hold.
TEST_P(SmallCases, ALongSumOfOnesCountsThem) {
  with_type([this]<class T>(T) {
    for (const std::int64_t k : {127, 128, 255, 256, 257, 1000, 4097}) {
      const auto ones = [](auto, auto) { return T{1}; };
      const auto out = multiply<T>({.a = Matrix<T>::of(2, k, ones), .b = Matrix<T>::of(k, 3, ones)}, options<T>());
      const auto expected = Matrix<T>::of(2, 3, [&](auto, auto) { return k; });
      EXPECT_EQ(difference(out.c, expected), "") << "k = " << k;
    }
  });
}

TEST_P(SmallCases, TheIdentityChangesNothing) {
  with_type([this]<class T>(T) {
    const std::int64_t n = 70;
    const auto x = integer_matrix<T>(n, n, 4096, 1);
    const auto identity = Matrix<T>::of(n, n, [](auto i, auto j) { return i == j ? 1 : 0; });
    EXPECT_EQ(difference(multiply<T>({.a = identity, .b = x}, options<T>()).c, x), "");
    EXPECT_EQ(difference(multiply<T>({.a = x, .b = identity}, options<T>()).c, x), "");
  });
}

const std::vector<std::int64_t> corner_sizes = {0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65};

// All three sizes from corner_sizes: a third of the combinations for every pair of transposes, another one for each op
// of A, so that all occur with every op of B.
class CornerGrid : public testing::TestWithParam<std::tuple<EngineCase, Op, Op>> {};

struct GridName {
  template <class Info>
  std::string operator()(const Info& info) const {
    const auto& [engine, opa, opb] = info.param;
    return text(engine) + "_" + text(opa) + text(opb);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, CornerGrid,
                         testing::Combine(testing::ValuesIn(engine_cases()), testing::ValuesIn(all_ops),
                                          testing::ValuesIn(all_ops)),
                         GridName());

TEST_P(CornerGrid, IntegersAreExactAndNothingAroundCIsTouched) {
  const auto& [engine, opa, opb] = GetParam();
  const auto size = static_cast<std::int64_t>(corner_sizes.size());
  const auto third = static_cast<std::int64_t>(std::string("NTC").find(static_cast<char>(opa)));
  with_type(engine.type, [&]<class T>(T) {
    Options options;
    options.contract = default_contract<T>();
    options.contract.reproducible = true;
    options.engine = engine.engine;
    for (std::int64_t p = 0; p < size * size * size; ++p) {
      const std::int64_t im = p % size, in = p / size % size, ik = p / size / size;
      if ((im + in + ik + third) % 3 != 0) continue;
      const std::int64_t m = corner_sizes[static_cast<std::size_t>(im)], n = corner_sizes[static_cast<std::size_t>(in)];
      const std::int64_t k = corner_sizes[static_cast<std::size_t>(ik)];
      SCOPED_TRACE(joined("m = ", m, ", n = ", n, ", k = ", k));
      Call<T> call{.a = integer_matrix<T>(m, k, 100, 1 + static_cast<std::uint64_t>(p)),
                   .b = integer_matrix<T>(k, n, 100, 7919 + static_cast<std::uint64_t>(p)),
                   .opa = opa,
                   .opb = opb};
      call.pad_a = p % 4, call.pad_b = p % 3, call.pad_c = p % 5;
      const auto exact = integer_product(call.a, call.b);
      ASSERT_EQ(difference(multiply(call, options).c, exact), "");
      call.alpha = -2, call.beta = 3;
      call.c = integer_matrix<T>(m, n, 1000, 1 + static_cast<std::uint64_t>(p));
      ASSERT_EQ(difference(multiply(call, options).c, combined<T>(-2, exact, 3, call.c)), "");
    }
  });
}

}  // namespace
}  // namespace vernier::test::small_cases_test
