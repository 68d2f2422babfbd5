// Complex products: against sums of Gaussian integers, which are exact, and entry by entry against the promised bound.
#include <complex>
#include <utility>

#include "array.hpp"
#include "fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::complex_test {
namespace {

class ComplexGemm : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, ComplexGemm, testing::ValuesIn(engine_cases()), ReadableName());

template <class T>
Array<T> plain_product(Op opa, const Array<T>& a, Op opb, const Array<T>& b, std::int64_t m, std::int64_t n,
                       std::int64_t k) {
  Array<T> c{m, n};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t l = 0; l < k; ++l) c(i, j) += element(opa, a, i, l) * element(opb, b, l, j);
  return c;
}

template <class T>
Array<T> stored(Op op, std::int64_t rows, std::int64_t columns, const std::function<double()>& next) {
  return op == Op::none ? filled<T>(rows, columns, next) : filled<T>(columns, rows, next);
}

TEST_P(ComplexGemm, GaussianIntegersWithAllTransposesAndFactors) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    Random random(5);
    const auto next = [&] { return static_cast<double>(random.integer(-9, 9)); };
    const std::int64_t m = 37, n = 18, k = 21;
    const std::pair<T, T> factors[] = {{1, 0}, {2, -1}, {T(0, 1), 0}, {T(2, -3), T(-1, 2)}, {3, T(0, -2)}};
    for (const Op opa : all_ops)
      for (const Op opb : all_ops)
        for (const auto& [alpha, beta] : factors) {
          const Array<T> a = stored<T>(opa, m, k, next), b = stored<T>(opb, k, n, next), c0 = filled<T>(m, n, next);
          Array<T> c = c0, expected = plain_product(opa, a, opb, b, m, n, k);
          for (std::size_t p = 0; p < c.x.size(); ++p) expected.x[p] = alpha * expected.x[p] + beta * c0.x[p];
          const Report report = gemm<T>(opa, opb, m, n, k, alpha, a.x.data(), a.rows, b.x.data(), b.rows, beta,
                                        c.x.data(), m, options<R>());
          EXPECT_EQ(report.plan.engine, GetParam().engine);
          EXPECT_EQ(report.plan.k, k);
          EXPECT_EQ(c.x, expected.x) << text(opa) << text(opb) << alpha << beta;
        }
  });
}

// [Re a, -Im a; Im a, Re a] for each a and [Re b; Im b] for each b, as the definition of a complex product has it.
template <class R>
Matrix<R> real_left(const Array<std::complex<R>>& a) {
  return Matrix<R>::of(2 * a.rows, 2 * a.columns, [&](auto i, auto l) {
    const std::complex<R> z = a(i / 2, l / 2);
    return i % 2 == l % 2 ? z.real() : i % 2 == 0 ? -z.imag() : z.imag();
  });
}

template <class R>
Matrix<R> stacked(const Array<std::complex<R>>& b) {
  return Matrix<R>::of(2 * b.rows, b.columns,
                       [&](auto l, auto j) { return l % 2 == 0 ? b(l / 2, j).real() : b(l / 2, j).imag(); });
}

TEST_P(ComplexGemm, PartsKeepTheBoundOfTwiceK) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    Random random(11);
    const std::int64_t m = 23, n = 15, k = 70;
    for (const double phi : {0.0, 2.0}) {
      const auto next = [&] { return random.scattered(phi); };
      const Array<T> a = filled<T>(m, k, next), b = filled<T>(k, n, next);
      Array<T> c{m, n};
      const Options asked = options<R>();
      gemm<T>(Op::none, Op::none, m, n, k, T(1), a.x.data(), m, b.x.data(), k, T(0), c.x.data(), m, asked);
      EXPECT_EQ(broken_bound(asked.contract, real_left(a), stacked(b), stacked(c)), "");
    }
  });
}

template <class T>
Array<T> reference_operand(Op op, const Array<T>& a, std::int64_t rows, std::int64_t columns) {
  Array<T> out{rows, columns};
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) out(i, j) = element(op, a, i, j);
  return out;
}

const char* const by_parts = "three real products modulo each p";

// Three products of parts are a shorter way to the integers of one real product of doubled rows and k.
TEST_P(ComplexGemm, ThreeProductsGiveTheBitsOfTheDoubledRealProduct) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    Random random(17);
    const auto next = [&] { return random.scattered(0.5); };
    struct Size {
      std::int64_t m, n, k;
    };
    for (const auto& [m, n, k] : {Size{1, 1, 1}, {33, 31, 65}, {70, 40, 1100}, {5, 97, 64}})
      for (const Op opa : all_ops)
        for (const Op opb : all_ops) {
          const Array<T> a = stored<T>(opa, m, k, next), b = stored<T>(opb, k, n, next), c0 = filled<T>(m, n, next);
          const Matrix<R> left = real_left(reference_operand(opa, a, m, k)),
                          right = stacked(reference_operand(opb, b, k, n));
          const R alpha{3}, beta = opa == opb ? R{0} : R{-0.7};
          Array<T> c = c0;
          Options asked = options<R>();
          asked.threads = 2;
          const Report report =
              gemm<T>(opa, opb, m, n, k, alpha, a.x.data(), a.rows, b.x.data(), b.rows, beta, c.x.data(), m, asked);
          if (k > 1) {  // one element and another may lie too far apart
            EXPECT_NE(report.plan.reason.find(by_parts), std::string::npos) << report.plan.reason;
          }
          const auto expected =
              multiply<R>({.a = left, .b = right, .alpha = alpha, .beta = beta, .c = stacked(c0)}, options<R>());
          EXPECT_EQ(report.plan.moduli, expected.report.plan.moduli);
          EXPECT_EQ(report.span_a, expected.report.span_a);
          EXPECT_EQ(difference(stacked(c), expected.c), "") << m << " x " << n << " x " << k << text(opa) << text(opb);
        }
  });
}

TEST_P(ComplexGemm, BlocksDoNotShow) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    Random random(19);
    const auto next = [&] { return random.scattered(0.5); };
    const std::int64_t m = 150, n = 170, k = 90;
    const Array<T> a = filled<T>(m, k, next), b = filled<T>(k, n, next), c0 = filled<T>(m, n, next);
    Array<T> whole = c0;
    Options asked = options<R>();
    const T alpha(R{1}, R{2}), beta(R{-1}, R{0.5});
    gemm<T>(Op::none, Op::none, m, n, k, alpha, a.x.data(), m, b.x.data(), k, beta, whole.x.data(), m, asked);
    std::vector<std::byte> workspace(gemm_workspace<T>(m, n, k, asked));
    asked.workspace = workspace.data();
    int blocked = 0;
    for (std::size_t bytes = workspace.size(); bytes >= gemm_workspace<T>(m, n, k, options<R>(), true);
         bytes -= workspace.size() / 48) {
      asked.workspace_bytes = bytes;
      Array<T> c = c0;
      double last = 0;
      bool rising = true;
      asked.progress = [&](double fraction) { rising = rising && fraction >= std::exchange(last, fraction); };
      const Report report =
          gemm<T>(Op::none, Op::none, m, n, k, alpha, a.x.data(), m, b.x.data(), k, beta, c.x.data(), m, asked);
      const bool parts = report.plan.reason.find(by_parts) != std::string::npos;
      blocked += parts && (report.plan.m_block < m || report.plan.n_block < n) ? 1 : 0;
      EXPECT_EQ(c.x, whole.x) << bytes << " bytes";
      EXPECT_TRUE(rising);
      EXPECT_EQ(last, 1);
      EXPECT_LE(report.plan.workspace, bytes);
    }
    EXPECT_GT(blocked, 0);
  });
}

// Wide scales depend on the order of k, which is that of the definition.
TEST_P(ComplexGemm, WideDataHaveTheBitsOfTheDoubledRealProduct) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    Random random(23);
    const std::int64_t m = 40, n = 35, k = 60;
    bool imaginary = true;
    const auto next = [&] { return std::ldexp(random.scattered(1), (imaginary = !imaginary) ? -20 : 0); };
    for (const Op opa : all_ops)
      for (const Op opb : all_ops) {
        const Array<T> a = stored<T>(opa, m, k, next), b = stored<T>(opb, k, n, next);
        Array<T> c{m, n};
        const Report report =
            gemm<T>(opa, opb, m, n, k, T(1), a.x.data(), a.rows, b.x.data(), b.rows, T(0), c.x.data(), m, options<R>());
        EXPECT_GT(report.wide_moduli, 0);
        const auto expected = multiply<R>(
            {.a = real_left(reference_operand(opa, a, m, k)), .b = stacked(reference_operand(opb, b, k, n))},
            options<R>());
        EXPECT_EQ(difference(stacked(c), expected.c), "") << text(opa) << text(opb);
      }
  });
}

// They go to the real product, which knows wide entries.
TEST_P(ComplexGemm, WideDataKeepTheBoundByTheRealProduct) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    Random random(23);
    const std::int64_t m = 40, n = 35, k = 60;
    const auto next = [&] { return random.scattered(1); };
    Array<T> a = filled<T>(m, k, next);
    const Array<T> b = filled<T>(k, n, next);
    for (std::int64_t l = 0; l < k; ++l)
      if (l % 2 == 0) a(7, l) *= R{1e-9f};
    a(7, 3) *= R{1e9f};
    Array<T> c{m, n};
    const Options asked = options<R>();
    const Report report =
        gemm<T>(Op::none, Op::none, m, n, k, T(1), a.x.data(), m, b.x.data(), k, T(0), c.x.data(), m, asked);
    EXPECT_EQ(report.plan.reason.find(by_parts), std::string::npos);
    EXPECT_GT(report.wide_moduli, 0);
    EXPECT_EQ(broken_bound(asked.contract, real_left(a), stacked(b), stacked(c)), "");
  });
}

TEST_P(ComplexGemm, SameBitsOnThePortableEngineAndInTheCallersWorkspace) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    Random random(3);
    const auto next = [&] { return random.scattered(1); };
    const std::int64_t m = 41, n = 33, k = 50;
    const Array<T> a = filled<T>(k, m, next), b = filled<T>(n, k, next), c0 = filled<T>(m, n, next);
    const T alpha(R{0.5}, R{-1.25}), beta(R{0.75}, R{2});
    Array<T> got = c0, expected = c0;
    Options asked = options<R>();
    asked.threads = 2;
    std::vector<std::byte> workspace(gemm_workspace<T>(m, n, k, asked, true));
    asked.workspace = workspace.data();
    asked.workspace_bytes = workspace.size();
    gemm<T>(Op::conjugate_transpose, Op::transpose, m, n, k, alpha, a.x.data(), k, b.x.data(), n, beta, got.x.data(), m,
            asked);
    Options portable = options<R>();
    portable.engine = "portable";
    gemm<T>(Op::conjugate_transpose, Op::transpose, m, n, k, alpha, a.x.data(), k, b.x.data(), n, beta,
            expected.x.data(), m, portable);
    EXPECT_EQ(got.x, expected.x);
    asked.workspace_bytes = 100;
    EXPECT_THROW(gemm<T>(Op::conjugate_transpose, Op::transpose, m, n, k, alpha, a.x.data(), k, b.x.data(), n, beta,
                         got.x.data(), m, asked),
                 Error);
    EXPECT_EQ(got.x, expected.x);
  });
}

TEST_P(ComplexGemm, ANanStaysInItsRowAndNothingIsReadForNothing) {
  with_type([this]<class R>(R) {
    using T = std::complex<R>;
    const R nan = std::numeric_limits<R>::quiet_NaN();
    Array<T> a{5, 4}, b{4, 6}, c{5, 6};
    for (T& z : a.x) z = T(1, 2);
    for (T& z : b.x) z = T(3, -1);
    for (T& z : c.x) z = T(nan, nan);
    a(2, 1) = T(R{0}, nan);
    gemm<T>(Op::none, Op::none, 5, 6, 4, T(1), a.x.data(), 5, b.x.data(), 4, T(0), c.x.data(), 5, options<R>());
    for (std::int64_t j = 0; j < 6; ++j)
      for (std::int64_t i = 0; i < 5; ++i) {
        if (i == 2) {
          EXPECT_TRUE(std::isnan(c(i, j).real()) && std::isnan(c(i, j).imag()));
        } else {
          EXPECT_EQ(c(i, j), T(20, 20));
        }
      }
    for (T& z : c.x) z = T(1, 1);
    gemm<T>(Op::none, Op::none, 5, 6, 4, T(0), nullptr, 5, nullptr, 4, T(0, 1), c.x.data(), 5, options<R>());
    for (const T& z : c.x) EXPECT_EQ(z, T(-1, 1));
  });
}

TEST(ComplexGemmNative, TheBlasUnderneathTakesProductsThatItDoesFaster) {
  using T = std::complex<double>;
  Random random(8);
  const auto next = [&] { return static_cast<double>(random.integer(-9, 9)); };
  const Array<T> a = filled<T>(12, 9, next), b = filled<T>(9, 7, next);
  Array<T> c{12, 7};
  const Report report = gemm<T>(Op::none, Op::none, 12, 7, 9, T(1), a.x.data(), 12, b.x.data(), 9, T(0), c.x.data(), 12,
                                Options{.engine = "native"});
  EXPECT_EQ(report.plan.scheme, "native");
  EXPECT_EQ(report.plan.type, "complex double");
  EXPECT_EQ(c.x, plain_product(Op::none, a, Op::none, b, 12, 7, 9).x);
}

}  // namespace
}  // namespace vernier::test::complex_test
