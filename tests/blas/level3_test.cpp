// The level-3 routines against their definitions, on integers, whose results are exact; what must not be read holds
// NaNs, and what must not be written is compared bit by bit.
#include "vernier/level3.hpp"

#include <cstring>

#include "array.hpp"
#include "fixture.hpp"

namespace vernier::test::level3_test {
namespace {

// Every type by the integer scheme and by the BLAS underneath.
template <class T>
class Level3 : public testing::Test {
 protected:
  using R = Real<T>;

  Level3() : random_(17) {}

  static Options scheme() {
    Options options;
    options.contract = default_contract<T>();
    options.contract.reproducible = true;
    return options;
  }
  static Options forced() {  // the scheme for products, the BLAS underneath for blocks on the diagonal
    Options options;
    options.contract = default_contract<T>();
    options.engine = "portable";
    return options;
  }
  static Options native() {
    Options options;
    options.contract = default_contract<T>();
    options.engine = "native";
    return options;
  }
  static std::vector<Options> all_options() { return {scheme(), forced(), native()}; }

  Array<T> integers(std::int64_t rows, std::int64_t columns) {
    return filled<T>(rows, columns, [this] { return static_cast<double>(random_.integer(-3, 3)); });
  }
  T number(double re, double im) {
    if constexpr (is_complex_type<T>)
      return T(static_cast<R>(re), static_cast<R>(im));
    else
      return static_cast<T>(re);
  }

  static T nan() { return T(std::numeric_limits<R>::quiet_NaN()); }
  static bool inside(Uplo uplo, std::int64_t i, std::int64_t j) { return uplo == Uplo::lower ? i >= j : i <= j; }

  // a with NaNs where the triangle is not, and on the imaginary diagonal if Hermitian.
  Array<T> hidden(Array<T> a, Uplo uplo, bool hermitian = false) {
    for (std::int64_t j = 0; j < a.columns; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i) {
        if (!inside(uplo, i, j)) a(i, j) = nan();
        if constexpr (is_complex_type<T>)
          if (hermitian && i == j) a(i, j) = T(a(i, j).real(), std::numeric_limits<R>::quiet_NaN());
      }
    return a;
  }

  static bool same_bits(const Array<T>& x, const Array<T>& y) {
    return std::memcmp(x.x.data(), y.x.data(), x.x.size() * sizeof(T)) == 0;
  }
  // Integers and the NaNs of hidden(): equal as numbers, zeros of both signs alike, or the same bits.
  static std::string first_difference(const Array<T>& got, const Array<T>& expected) {
    for (std::int64_t j = 0; j < got.columns; ++j)
      for (std::int64_t i = 0; i < got.rows; ++i)
        if (got(i, j) != expected(i, j) && std::memcmp(&got(i, j), &expected(i, j), sizeof(T)) != 0)
          return joined("(", i, ", ", j, "): got ", got(i, j), ", expected ", expected(i, j));
    return "";
  }

  Random random_;
};

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Level3, Types);

constexpr Uplo both_uplo[] = {Uplo::lower, Uplo::upper};
constexpr Side both_sides[] = {Side::left, Side::right};
constexpr Diag both_diags[] = {Diag::non_unit, Diag::unit};

TYPED_TEST(Level3, SymmAndHemmReadOneTriangle) {
  using T = TypeParam;
  const std::int64_t m = 70, n = 9;
  for (const bool hermitian : {false, true})
    for (const Side side : both_sides)
      for (const Uplo uplo : both_uplo)
        for (const Options& options : this->all_options()) {
          const std::int64_t order = side == Side::left ? m : n;
          Array<T> full = this->integers(order, order);
          for (std::int64_t j = 0; j < order; ++j)
            for (std::int64_t i = 0; i <= j; ++i)
              full(i, j) = !hermitian ? full(j, i) : i == j ? T(std::real(full(j, i))) : conjugated(full(j, i));
          const Array<T> b = this->integers(m, n), c0 = this->integers(m, n);
          const Array<T> a = this->hidden(full, uplo, hermitian);
          const T alpha = this->number(2, 1), beta = this->number(-1, 2);
          Array<T> c = c0, expected{m, n};
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) {
              T sum = 0;
              for (std::int64_t l = 0; l < order; ++l)
                sum += side == Side::left ? full(i, l) * b(l, j) : b(i, l) * full(l, j);
              expected(i, j) = alpha * sum + beta * c0(i, j);
            }
          const Report report = (hermitian ? hemm<T> : symm<T>)(side, uplo, m, n, alpha, a.x.data(), order, b.x.data(),
                                                                m, beta, c.x.data(), m, options);
          EXPECT_EQ(report.plan.routine, hermitian ? "hemm" : "symm");
          EXPECT_EQ(this->first_difference(c, expected), "");
        }
}

TYPED_TEST(Level3, RankKUpdatesTouchOneTriangle) {
  using T = TypeParam;
  for (const bool hermitian : {false, true})
    for (const std::int64_t n : {1, 40, 300})
      for (const Uplo uplo : both_uplo)
        for (const Op op : {Op::none, hermitian ? Op::conjugate_transpose : Op::transpose})
          for (const Options& options : this->all_options()) {
            const std::int64_t k = 11;
            const Array<T> a = op == Op::none ? this->integers(n, k) : this->integers(k, n);
            const Array<T> c0 = this->hidden(this->integers(n, n), uplo, hermitian);
            const T alpha = hermitian ? T(2) : this->number(2, -1), beta = hermitian ? T(-3) : this->number(1, 1);
            Array<T> c = c0, expected = c0;
            for (std::int64_t j = 0; j < n; ++j)
              for (std::int64_t i = 0; i < n; ++i) {
                if (!this->inside(uplo, i, j)) continue;
                T sum = 0;
                for (std::int64_t l = 0; l < k; ++l) {
                  const T x = element(op, a, i, l), y = element(op, a, j, l);
                  sum += x * (hermitian ? conjugated(y) : y);
                }
                const T old = hermitian && i == j ? T(std::real(c0(i, j))) : c0(i, j);
                expected(i, j) = alpha * sum + beta * old;
              }
            if (hermitian)
              herk<T>(uplo, op, n, k, std::real(alpha), a.x.data(), a.rows, std::real(beta), c.x.data(), n, options);
            else
              syrk<T>(uplo, op, n, k, alpha, a.x.data(), a.rows, beta, c.x.data(), n, options);
            EXPECT_EQ(this->first_difference(c, expected), "") << n << options.engine;
          }
}

// They multiply beside their output, in several products each.
TYPED_TEST(Level3, TellNoProgress) {
  using T = TypeParam;
  const std::int64_t n = 40;
  const Array<T> a = this->integers(n, n), b = this->integers(n, n);
  for (Options options : this->all_options()) {
    Array<T> c = this->integers(n, n);
    int told = 0;
    options.progress = [&](double) { ++told; };
    const T *A = a.x.data(), *B = b.x.data();
    T* C = c.x.data();
    gemm<T>(Op::none, Op::none, n, n, n, T(1), A, n, B, n, T(0), C, n, options);
    EXPECT_GT(told, 0) << options.engine;
    told = 0;
    for (const auto& symmetric : {symm<T>, hemm<T>})
      symmetric(Side::left, Uplo::upper, n, n, T(1), A, n, B, n, T(1), C, n, options);
    syrk<T>(Uplo::upper, Op::none, n, n, T(1), A, n, T(1), C, n, options);
    syr2k<T>(Uplo::upper, Op::none, n, n, T(1), A, n, B, n, T(1), C, n, options);
    herk<T>(Uplo::upper, Op::none, n, n, Real<T>(1), A, n, Real<T>(1), C, n, options);
    her2k<T>(Uplo::upper, Op::none, n, n, T(1), A, n, B, n, Real<T>(1), C, n, options);
    gemmt<T>(Uplo::upper, Op::none, Op::none, n, n, T(1), A, n, B, n, T(1), C, n, options);
    trmm<T>(Side::left, Uplo::upper, Op::none, Diag::unit, n, n, T(1), A, n, C, n, options);
    trsm<T>(Side::left, Uplo::upper, Op::none, Diag::unit, n, n, T(1), A, n, C, n, options);
    EXPECT_EQ(told, 0) << options.engine;
  }
}

TYPED_TEST(Level3, Rank2kUpdatesTouchOneTriangle) {
  using T = TypeParam;
  const std::int64_t n = 45, k = 8;
  for (const bool hermitian : {false, true})
    for (const Uplo uplo : both_uplo)
      for (const Op op : {Op::none, hermitian ? Op::conjugate_transpose : Op::transpose})
        for (const Options& options : this->all_options()) {
          const Array<T> a = op == Op::none ? this->integers(n, k) : this->integers(k, n);
          const Array<T> b = op == Op::none ? this->integers(n, k) : this->integers(k, n);
          const Array<T> c0 = this->hidden(this->integers(n, n), uplo, hermitian);
          const T alpha = this->number(2, -1), beta = hermitian ? T(-3) : this->number(1, 1);
          const T alpha2 = hermitian ? conjugated(alpha) : alpha;
          Array<T> c = c0, expected = c0;
          const auto second = [&](T z) { return hermitian ? conjugated(z) : z; };
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) {
              if (!this->inside(uplo, i, j)) continue;
              T ab = 0, ba = 0;
              for (std::int64_t l = 0; l < k; ++l) {
                ab += element(op, a, i, l) * second(element(op, b, j, l));
                ba += element(op, b, i, l) * second(element(op, a, j, l));
              }
              const T old = hermitian && i == j ? T(std::real(c0(i, j))) : c0(i, j);
              expected(i, j) = alpha * ab + alpha2 * ba + beta * old;
            }
          if (hermitian)
            her2k<T>(uplo, op, n, k, alpha, a.x.data(), a.rows, b.x.data(), b.rows, std::real(beta), c.x.data(), n,
                     options);
          else
            syr2k<T>(uplo, op, n, k, alpha, a.x.data(), a.rows, b.x.data(), b.rows, beta, c.x.data(), n, options);
          EXPECT_EQ(this->first_difference(c, expected), "") << options.engine;
        }
}

TYPED_TEST(Level3, GemmtIsOneTriangleOfGemm) {
  using T = TypeParam;
  const std::int64_t n = 270, k = 6;
  for (const Uplo uplo : both_uplo)
    for (const Op opa : all_ops)
      for (const Options& options : this->all_options()) {
        const Op opb = opa == Op::none ? Op::conjugate_transpose : Op::none;
        const Array<T> a = opa == Op::none ? this->integers(n, k) : this->integers(k, n);
        const Array<T> b = opb == Op::none ? this->integers(k, n) : this->integers(n, k);
        const Array<T> c0 = this->hidden(this->integers(n, n), uplo);
        Array<T> c = c0, expected = c0;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) {
            if (!this->inside(uplo, i, j)) continue;
            T sum = 0;
            for (std::int64_t l = 0; l < k; ++l) sum += element(opa, a, i, l) * element(opb, b, l, j);
            expected(i, j) = T(2) * sum - c0(i, j);
          }
        gemmt<T>(uplo, opa, opb, n, k, T(2), a.x.data(), a.rows, b.x.data(), b.rows, T(-1), c.x.data(), n, options);
        EXPECT_EQ(this->first_difference(c, expected), "") << options.engine;
      }
}

// Sparse, so that substitution stays among small integers; with units and powers of two on the diagonal.
template <class T>
Array<T> triangle(Random& random, std::int64_t n) {
  Array<T> a{n, n};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (random.integer(0, n / 4) == 0) a(i, j) = drawn<T>([&] { return static_cast<double>(random.integer(-1, 1)); });
      if (i == j) a(i, j) = T(static_cast<Real<T>>(std::ldexp(random.sign(), static_cast<int>(random.integer(0, 1)))));
    }
  if constexpr (is_complex_type<T>) a(0, 0) = T(0, 1);
  return a;
}

TYPED_TEST(Level3, TrmmMultipliesByATriangleAndTrsmTakesItBack) {
  using T = TypeParam;
  for (const std::int64_t order : {1, 33, 150, 330})
    for (const Side side : both_sides)
      for (const Uplo uplo : both_uplo)
        for (const Op op : all_ops)
          for (const Diag diag : both_diags)
            for (const Options& options : this->all_options()) {
              const std::int64_t m = side == Side::left ? order : 5, n = side == Side::left ? 5 : order;
              Array<T> full = triangle<T>(this->random_, order), a = this->hidden(full, uplo);
              for (std::int64_t i = 0; i < order && diag == Diag::unit; ++i) {
                full(i, i) = 1;
                a(i, i) = this->nan();
              }
              const Array<T> b = this->integers(m, n);
              Array<T> product{m, n};
              for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t i = 0; i < m; ++i) {
                  T sum = 0;
                  for (std::int64_t l = 0; l < order; ++l) {
                    const std::int64_t r = side == Side::left ? i : l, s = side == Side::left ? l : j;
                    if (!this->inside(uplo, op == Op::none ? r : s, op == Op::none ? s : r)) continue;
                    sum += element(op, full, r, s) * (side == Side::left ? b(l, j) : b(i, l));
                  }
                  product(i, j) = T(2) * sum;
                }
              Array<T> x = b;
              trmm<T>(side, uplo, op, diag, m, n, T(2), a.x.data(), order, x.x.data(), m, options);
              ASSERT_EQ(this->first_difference(x, product), "") << order << options.engine;
              trsm<T>(side, uplo, op, diag, m, n, T(Real<T>(0.5)), a.x.data(), order, x.x.data(), m, options);
              ASSERT_EQ(this->first_difference(x, b), "") << order << options.engine;
            }
}

TYPED_TEST(Level3, SolutionsOfDenseSystemsHaveSmallResiduals) {
  using T = TypeParam;
  using R = Real<T>;
  const std::int64_t n = 200, columns = 4;
  const auto next = [this] { return this->random_.uniform() - 0.5; };
  Array<T> a = filled<T>(n, n, next);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = T(static_cast<R>(4));
  const Array<T> b = filled<T>(n, columns, next);
  for (const Options& options : this->all_options()) {
    Array<T> x = b;
    trsm<T>(Side::left, Uplo::lower, Op::none, Diag::non_unit, n, columns, T(1), a.x.data(), n, x.x.data(), n, options);
    const double u = std::numeric_limits<R>::epsilon() / 2, factor = (n + 2 * 8 + 2) * u * (is_complex_type<T> ? 4 : 1);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        std::complex<double> residual = std::complex<double>(b(i, j));
        double size = 0;
        for (std::int64_t l = 0; l <= i; ++l) {
          const std::complex<double> term = std::complex<double>(a(i, l)) * std::complex<double>(x(l, j));
          residual -= term;
          size += std::abs(term);
        }
        const double own_rounding = sizeof(R) == 8 ? n * u * size : 0;
        ASSERT_LE(std::abs(residual), factor * size + own_rounding) << i << ' ' << j;
      }
  }
}

TYPED_TEST(Level3, ReproducibleResultsHaveTheSameBitsOnEveryEngine) {
  using T = TypeParam;
  const auto next = [this] { return this->random_.scattered(0.5); };
  const std::int64_t m = 130, n = 20;
  Array<T> a = filled<T>(m, m, next);
  for (std::int64_t i = 0; i < m; ++i) a(i, i) = T(5);
  const Array<T> b = filled<T>(m, n, next);
  std::vector<Array<T>> solved, updated;
  for (const std::string& engine : supported_engines())
    for (const int threads : {1, 3}) {
      Options options = this->scheme();
      options.engine = engine;
      options.threads = threads;
      Array<T> x = b, c = a;
      trsm<T>(Side::left, Uplo::upper, Op::transpose, Diag::non_unit, m, n, T(1), a.x.data(), m, x.x.data(), m,
              options);
      syrk<T>(Uplo::lower, Op::none, m, n, T(1), b.x.data(), m, T(1), c.x.data(), m, options);
      solved.push_back(x);
      updated.push_back(c);
    }
  for (std::size_t i = 1; i < solved.size(); ++i) {
    EXPECT_TRUE(this->same_bits(solved[i], solved[0]));
    EXPECT_TRUE(this->same_bits(updated[i], updated[0]));
  }
}

TYPED_TEST(Level3, WrongArgumentsAreRefusedAndNothingIsWritten) {
  using T = TypeParam;
  const Array<T> a = this->integers(4, 4);
  Array<T> c = this->integers(4, 4);
  const Array<T> c0 = c;
  const Options o = this->scheme();
  const T* x = a.x.data();
  T* y = c.x.data();
  EXPECT_THROW(symm<T>(static_cast<Side>('Q'), Uplo::lower, 4, 4, T(1), x, 4, x, 4, T(1), y, 4, o), Error);
  EXPECT_THROW(symm<T>(Side::left, Uplo::lower, 4, 4, T(1), x, 3, x, 4, T(1), y, 4, o), Error);
  EXPECT_THROW(syrk<T>(Uplo::lower, Op::none, 4, -1, T(1), x, 4, T(1), y, 4, o), Error);
  EXPECT_THROW(syr2k<T>(Uplo::lower, Op::none, 4, 4, T(1), x, 4, x, 3, T(1), y, 4, o), Error);
  EXPECT_THROW(gemmt<T>(Uplo::upper, Op::none, Op::none, 4, 4, T(1), x, 4, x, 4, T(1), y, 3, o), Error);
  EXPECT_THROW(trsm<T>(Side::left, static_cast<Uplo>('x'), Op::none, Diag::unit, 4, 4, T(1), x, 4, y, 4, o), Error);
  EXPECT_THROW(trmm<T>(Side::right, Uplo::lower, Op::none, Diag::unit, 4, 4, T(1), nullptr, 4, y, 4, o), Error);
  Options beyond = o;
  beyond.contract = Contract::bits(90);
  EXPECT_THROW(trmm<T>(Side::right, Uplo::lower, Op::none, Diag::unit, 4, 4, T(1), x, 4, y, 4, beyond), Error);
  Options exact = o;  // which a routine that rounds between its products cannot keep
  exact.contract = Contract::exact();
  EXPECT_THROW(symm<T>(Side::left, Uplo::lower, 4, 4, T(1), x, 4, x, 4, T(1), y, 4, exact), Error);
  EXPECT_THROW(syrk<T>(Uplo::lower, Op::none, 4, 4, T(1), x, 4, T(1), y, 4, exact), Error);
  EXPECT_THROW(trsm<T>(Side::left, Uplo::lower, Op::none, Diag::unit, 4, 4, T(1), x, 4, y, 4, exact), Error);
  if (is_complex_type<T>) {
    const auto imaginary = [] {
      if constexpr (is_complex_type<T>) return T(0, 1);
      return T(1);
    }();
    EXPECT_THROW(gemm<T>(Op::none, Op::none, 4, 4, 4, imaginary, x, 4, x, 4, T(0), y, 4, exact), Error);
    EXPECT_THROW(syrk<T>(Uplo::lower, Op::conjugate_transpose, 4, 4, T(1), x, 4, T(1), y, 4, o), Error);
    EXPECT_THROW(herk<T>(Uplo::lower, Op::transpose, 4, 4, 1, x, 4, 1, y, 4, o), Error);
  }
  EXPECT_TRUE(this->same_bits(c, c0));
}

// Only exponents of double can be too wide for the scheme.
template <class T>
class WideData : public testing::Test {};
using DoubleTypes = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(WideData, DoubleTypes);

TYPED_TEST(WideData, LeaveTheOutputUntouched) {
  using T = TypeParam;
  const std::int64_t n = 300;  // two blocks and a rectangle
  Array<T> a{n, n}, c{n, n};
  std::fill(a.x.begin(), a.x.end(), T(1));
  std::fill(c.x.begin(), c.x.end(), T(7));
  for (std::int64_t i = 0; i < n; ++i) a(n - 1, i) = T(i % 2 == 0 ? 1e-300 : 1e300);
  const Array<T> c0 = c;
  Options o;
  o.contract = Contract::parse("fp64+reproducible");
  const auto refused = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status() == Status::bound_not_met;
    }
    return false;
  };
  const T* x = a.x.data();
  EXPECT_TRUE(refused([&] { syrk<T>(Uplo::lower, Op::none, n, n, T(1), x, n, T(1), c.x.data(), n, o); }));
  EXPECT_TRUE(refused([&] { syr2k<T>(Uplo::upper, Op::none, n, n, T(1), x, n, x, n, T(1), c.x.data(), n, o); }));
  EXPECT_TRUE(
      refused([&] { trmm<T>(Side::left, Uplo::lower, Op::none, Diag::unit, n, n, T(1), x, n, c.x.data(), n, o); }));
  EXPECT_EQ(c.x, c0.x);
}

}  // namespace
}  // namespace vernier::test::level3_test
