// Quadruple products against exact integers.
#include "vernier/quad.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "fixture.hpp"
#include "support/quad_values.hpp"

namespace vernier::test::quad_test {
namespace {

constexpr Rounding directions[] = {Rounding::nearest, Rounding::down, Rounding::up, Rounding::toward_zero};

template <class T>
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<T> entries;
  Dense(std::int64_t r, std::int64_t c) : rows(r), columns(c), entries(static_cast<std::size_t>(r * c)) {}
  T& operator()(std::int64_t i, std::int64_t j) { return entries[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return entries[static_cast<std::size_t>(i + j * rows)]; }
};

template <class T>
Dense<T> random_dense(std::int64_t rows, std::int64_t columns, double phi, std::uint64_t seed) {
  Random r(seed);
  Dense<T> x(rows, columns);
  for (T& e : x.entries) e = random_quad(r, phi, static_cast<const T*>(nullptr));
  return x;
}

template <class TA, class TB>
mpz_class exact_entry(const Dense<TA>& a, const Dense<TB>& b, std::int64_t i, std::int64_t j, bool magnitude = false) {
  mpz_class sum = 0;
  for (std::int64_t l = 0; l < a.columns; ++l) {
    const mpz_class term = exact_value_of(a(i, l)) * exact_value_of(b(l, j));
    sum += magnitude ? mpz_class(abs(term)) : term;
  }
  return sum;
}

template <class TC, class TA, class TB>
Dense<TC> product(const Dense<TA>& a, const Dense<TB>& b, const QuadOptions& options, QuadReport* report = nullptr,
                  double alpha = 1, double beta = 0, const Dense<TC>* c = nullptr) {
  Dense<TC> out = c != nullptr ? *c : Dense<TC>(a.rows, b.columns);
  const QuadReport r = quad_gemm(Op::none, Op::none, a.rows, b.columns, a.columns, alpha, a.entries.data(), a.rows,
                                 b.entries.data(), b.rows, beta, out.entries.data(), a.rows, options);
  if (report != nullptr) *report = r;
  return out;
}

template <class T>
T negated(const T& x) {
  if constexpr (std::is_same_v<T, dd>)
    return dd(-x.hi, -x.lo);
  else
    return -x;
}

template <class T>
bool same_bytes(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

// |T - AB| <= (k 2^-bits + 2^-unit) |A||B|, bits = unit: (k + 1) 2^-bits.
template <class TC, class TA, class TB>
void expect_within(const Dense<TA>& a, const Dense<TB>& b, const Dense<TC>& t, int bits, int unit,
                   const std::string& what) {
  for (std::int64_t j = 0; j < t.columns; ++j)
    for (std::int64_t i = 0; i < t.rows; ++i) {
      const mpz_class error =
          abs((exact_value_of(t(i, j)) << static_cast<unsigned long>(-exact_unit)) - exact_entry(a, b, i, j));
      const mpz_class magnitude = exact_entry(a, b, i, j, true);
      const int most = std::max(bits, unit);
      const mpz_class share = (mpz_class(a.columns) << static_cast<unsigned long>(most - bits)) +
                              (mpz_class(1) << static_cast<unsigned long>(most - unit));
      ASSERT_LE(error << static_cast<unsigned long>(most), share * magnitude) << what << ' ' << i << ' ' << j;
    }
}

template <class TC, class TA, class TB>
void expect_rounded_once(const Dense<TA>& a, const Dense<TB>& b, const Dense<TC>& t, Rounding rounding,
                         const std::string& what) {
  for (std::int64_t j = 0; j < t.columns; ++j)
    for (std::int64_t i = 0; i < t.rows; ++i) {
      const TC expected =
          rounded_to(exact_entry(a, b, i, j), 2 * exact_unit, rounding, static_cast<const TC*>(nullptr));
      ASSERT_TRUE(same_bytes(t(i, j), expected)) << what << ' ' << i << ' ' << j;
    }
}

QuadOptions options_of(const char* contract, const std::string& engine = "") {
  QuadOptions options;
  options.contract = QuadContract::parse(contract);
  options.engine = engine;
  return options;
}

template <class TA, class TB, class TC>
struct Types {
  using A = TA;
  using B = TB;
  using C = TC;
};

template <class T>
class Quad : public testing::Test {};
#if defined(__SIZEOF_FLOAT128__)
using Forms = testing::Types<Types<double, double, dd>, Types<dd, double, dd>, Types<double, dd, dd>, Types<dd, dd, dd>,
                             Types<double, double, binary128>, Types<binary128, double, binary128>,
                             Types<binary128, binary128, binary128>>;
#else
using Forms =
    testing::Types<Types<double, double, dd>, Types<dd, double, dd>, Types<double, dd, dd>, Types<dd, dd, dd>>;
#endif
TYPED_TEST_SUITE(Quad, Forms);

TYPED_TEST(Quad, KeepsItsContract) {
  using A = typename TypeParam::A;
  using B = typename TypeParam::B;
  using C = typename TypeParam::C;
  const int unit = std::is_same_v<C, dd> ? 106 : 113;
  for (const double phi : {0.5, 2.0, 16.0})  // the last: exponents hundreds apart
    for (const auto& [contract, bits] : {std::pair<const char*, int>{"", unit}, {"bits(70)", 70}, {"bits(226)", 226}}) {
      const Dense<A> a = random_dense<A>(19, 45, phi, 1);
      const Dense<B> b = random_dense<B>(45, 23, phi, 2);
      expect_within(a, b, product<C>(a, b, options_of(contract)), bits, unit, contract);
    }
}

TYPED_TEST(Quad, RoundsOnceInEveryDirection) {
  using A = typename TypeParam::A;
  using B = typename TypeParam::B;
  using C = typename TypeParam::C;
  for (const double phi : {0.5, 16.0}) {
    Dense<A> a = random_dense<A>(17, 40, phi, 3);
    Dense<B> b = random_dense<B>(40, 18, phi, 4);
    for (std::int64_t l = 0; l < 38; l += 2) {  // most rows cancel but for the last two products
      for (std::int64_t i = 0; i < 9; ++i) a(i, l + 1) = a(i, l);
      for (std::int64_t j = 0; j < 18; ++j) b(l + 1, j) = negated(b(l, j));
    }
    for (const Rounding rounding : directions) {
      QuadOptions options;
      options.contract = {.kind = QuadContract::Kind::exact, .rounding = rounding};
      expect_rounded_once(a, b, product<C>(a, b, options), rounding, options.contract.text());
    }
  }
}

TYPED_TEST(Quad, HasOneResultOnEveryEngineAndInBlocks) {
  using A = typename TypeParam::A;
  using B = typename TypeParam::B;
  using C = typename TypeParam::C;
  const Dense<A> a = random_dense<A>(40, 1030, 3, 5);
  const Dense<B> b = random_dense<B>(1030, 33, 3, 6);
  const Dense<C> expected = product<C>(a, b, options_of(""));
  for (const std::string& engine : supported_engines())
    for (const int threads : {1, 3}) {
      QuadOptions options = options_of("", engine);
      options.threads = threads;
      options.workspace_limit = threads == 1 ? 1 : 0;  // the smallest blocks
      QuadReport report;
      const Dense<C> got = product<C>(a, b, options, &report);
      EXPECT_EQ(report.engine, engine);
      for (std::size_t e = 0; e < expected.entries.size(); ++e)
        ASSERT_TRUE(same_bytes(got.entries[e], expected.entries[e])) << engine << ' ' << e;
    }
}

TEST(QuadProducts, OfDoublesAreExactUntilTheirRounding) {
  const Dense<double> a = random_dense<double>(40, 60, 0.5, 7), b = random_dense<double>(60, 41, 0.5, 8);
  QuadReport report;
  const Dense<dd> c = product<dd>(a, b, {}, &report);
  EXPECT_TRUE(report.integers);
  EXPECT_LE(report.moduli, 20);
  EXPECT_EQ(report.looked_at + report.summed, 0);
  expect_rounded_once(a, b, c, Rounding::nearest, "double x double");
}

TEST(QuadProducts, HoldEntriesAgainstTheMagnitudesOfTheirTerms) {
  Dense<dd> a = random_dense<dd>(20, 64, 4, 9), b = random_dense<dd>(64, 20, 4, 10);  // no vector proves |A||B|
  for (std::int64_t l = 0; l < 62; l += 2) {                                          // |AB| is 2^-60 of |A||B|
    for (std::int64_t i = 0; i < 20; ++i) a(i, l + 1) = a(i, l);
    for (std::int64_t j = 0; j < 20; ++j) b(l + 1, j) = negated(b(l, j));
  }
  for (std::int64_t i = 0; i < 20; ++i)
    for (const std::int64_t l : {62, 63}) a(i, l) = dd(std::ldexp(a(i, l).hi, -60), std::ldexp(a(i, l).lo, -60));
  QuadReport report;
  const Dense<dd> c = product<dd>(a, b, {}, &report);
  EXPECT_EQ(report.looked_at, report.integers ? 0 : 400);
  expect_within(a, b, c, 106, 106, "cancelling");
}

// Flat vectors prove |A||B|, so that no bit more is taken than the bound of the contract asks for.
TEST(QuadProducts, TakeNoMoreModuliThanTheContractAsksFor) {
  QuadReport report;
  for (const std::int64_t k : {40, 300, 1500}) {
    const Dense<dd> a = random_dense<dd>(30, k, 0.3, 21), b = random_dense<dd>(k, 10, 0.3, 22);
    const Dense<dd> c = product<dd>(a, b, {}, &report);
    EXPECT_EQ(report.looked_at, 0) << k;
    EXPECT_LE(report.moduli, 29) << k;
    EXPECT_FALSE(report.integers);
    expect_within(a, b, c, 106, 106, "flat");
  }
}

// Rows in blocks with all columns at once, columns with all rows, and both in blocks.
TEST(QuadProducts, HaveOneResultInBlocksOfEitherSide) {
  for (const auto& [m, n] : {std::pair{100, 70}, std::pair{70, 100}}) {
    const Dense<dd> a = random_dense<dd>(m, 90, 0.3, 23), b = random_dense<dd>(90, n, 0.3, 24);
    const Dense<dd> expected = product<dd>(a, b, {});
    for (const std::size_t limit : {800'000, 500'000, 200'000}) {
      QuadOptions options;
      options.threads = 2, options.workspace_limit = limit;
      const Dense<dd> got = product<dd>(a, b, options);
      for (std::size_t e = 0; e < expected.entries.size(); ++e)
        ASSERT_TRUE(same_bytes(got.entries[e], expected.entries[e])) << m << " by " << n << ", " << limit << ": " << e;
    }
  }
}

template <class C>
void expect_updates() {
  constexpr int unit = std::is_same_v<C, dd> ? 106 : 113;
  const Dense<C> a = random_dense<C>(12, 30, 1, 11), b = random_dense<C>(30, 9, 1, 12),
                 c = random_dense<C>(12, 9, 1, 13);
  for (const auto& [alpha, beta] : {std::pair{1.0, 1.0}, {-1.0, 1.0}, {0.3, -0.7}, {2.0, 0.0}, {0.0, 0.3}})
    for (const Rounding rounding : directions) {
      QuadOptions exact;
      exact.contract = {.kind = QuadContract::Kind::exact, .rounding = rounding};
      const Dense<C> once = product<C>(a, b, exact, nullptr, alpha, beta, &c),
                     usual = product<C>(a, b, {}, nullptr, alpha, beta, &c);
      for (std::int64_t j = 0; j < 9; ++j)
        for (std::int64_t i = 0; i < 12; ++i) {
          mpz_class value = exact_value(alpha) * exact_entry(a, b, i, j);
          mpz_class size = abs(exact_value(alpha)) * exact_entry(a, b, i, j, true);
          const mpz_class added = exact_value(beta) * exact_value_of(c(i, j))
                                  << static_cast<unsigned long>(-exact_unit);
          value += added, size += abs(added);
          const C expected = rounded_to(value, 3 * exact_unit, rounding, static_cast<const C*>(nullptr));
          EXPECT_TRUE(same_bytes(once(i, j), expected)) << alpha << ' ' << beta << ' ' << i << ' ' << j;
          const mpz_class error =
              abs((exact_value_of(usual(i, j)) << static_cast<unsigned long>(-2 * exact_unit)) - value);
          EXPECT_LE(error << unit, (30 + 5) * size);
        }
    }
}

TEST(QuadProducts, UpdateC) {
  expect_updates<dd>();
#if defined(__SIZEOF_FLOAT128__)
  expect_updates<binary128>();
#endif
}

// Parts of A and B of R, of C of Z: within 29 2^-bits of the sums of magnitudes.
template <class R, class TA, class TC>
void expect_complex_products(Op op, unsigned long bits) {
  const Dense<R> re = random_dense<R>(14, 14, 1, 14), im = random_dense<R>(14, 14, 1, 15);
  std::vector<TA> a(196);
  std::vector<TC> c(196);
  for (std::size_t e = 0; e < 196; ++e) a[e] = {re.entries[e], im.entries[e]};
  quad_gemm(op, op, 14, 14, 14, 1, a.data(), 14, a.data(), 14, 0, c.data(), 14, {});
  const int sign = op == Op::conjugate_transpose ? -1 : 1;
  const auto at = [&](std::int64_t i, std::int64_t j) { return op == Op::none ? std::pair{i, j} : std::pair{j, i}; };
  for (std::int64_t j = 0; j < 14; ++j)
    for (std::int64_t i = 0; i < 14; ++i) {
      mpz_class real = 0, imaginary = 0, size = 0;
      for (std::int64_t l = 0; l < 14; ++l) {
        const auto [i1, l1] = at(i, l);
        const auto [l2, j2] = at(l, j);
        const mpz_class x = exact_value_of(re(i1, l1)), y = sign * exact_value_of(im(i1, l1)),
                        u = exact_value_of(re(l2, j2)), v = sign * exact_value_of(im(l2, j2));
        real += x * u - y * v, imaginary += x * v + y * u;
        size += abs(x * u) + abs(y * v) + abs(x * v) + abs(y * u);
      }
      const TC& z = c[static_cast<std::size_t>(i + 14 * j)];
      const auto shift = static_cast<unsigned long>(-exact_unit);
      EXPECT_LE(abs((exact_value_of(z.real) << shift) - real) << bits, 29 * size);
      EXPECT_LE(abs((exact_value_of(z.imag) << shift) - imaginary) << bits, 29 * size);
    }
}

TEST(QuadProducts, OfComplexMatricesKeepTheContractPartByPart) {
  for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose}) {
    expect_complex_products<dd, complex_dd, complex_dd>(op, 106);
    expect_complex_products<double, std::complex<double>, complex_dd>(op, 106);
#if defined(__SIZEOF_FLOAT128__)
    expect_complex_products<binary128, complex_binary128, complex_binary128>(op, 113);
    expect_complex_products<double, std::complex<double>, complex_binary128>(op, 113);
#endif
  }
}

// Of one element: alpha a b + beta c, rounded once part by part.
template <class R, class Z>
void expect_complex_update() {
  const Dense<R> x = random_dense<R>(2, 1, 1, 18), y = random_dense<R>(2, 1, 1, 19), old = random_dense<R>(2, 1, 1, 20);
  const Z a = {x.entries[0], x.entries[1]}, b = {y.entries[0], y.entries[1]};
  const mpz_class p = exact_value_of(a.real), q = exact_value_of(a.imag), r = exact_value_of(b.real),
                  s = exact_value_of(b.imag);
  const mpz_class sums[2] = {p * r - q * s, p * s + q * r};
  for (const Rounding rounding : directions) {
    QuadOptions exact;
    exact.contract = {.kind = QuadContract::Kind::exact, .rounding = rounding};
    Z c = {old.entries[0], old.entries[1]};
    quad_gemm(Op::none, Op::none, 1, 1, 1, 0.3, &a, 1, &b, 1, -0.7, &c, 1, exact);
    const R found[2] = {c.real, c.imag};
    for (std::size_t part = 0; part < 2; ++part) {
      const mpz_class value = exact_value(0.3) * sums[part] + (exact_value(-0.7) * exact_value_of(old.entries[part])
                                                               << static_cast<unsigned long>(-exact_unit));
      const R expected = rounded_to(value, 3 * exact_unit, rounding, static_cast<const R*>(nullptr));
      EXPECT_TRUE(same_bytes(found[part], expected)) << exact.contract.text() << ' ' << part;
    }
  }
}

TEST(QuadProducts, UpdateComplexCExactly) {
  expect_complex_update<dd, complex_dd>();
#if defined(__SIZEOF_FLOAT128__)
  expect_complex_update<binary128, complex_binary128>();
#endif
}

TEST(QuadProducts, PassNanAndInfinity) {
  Dense<dd> a = random_dense<dd>(5, 6, 1, 16), b = random_dense<dd>(6, 4, 1, 17);
  a(1, 2) = dd(INFINITY), a(3, 0) = dd(NAN), b(2, 1) = dd(0.0), b(2, 0) = dd(-3.0);
  for (const char* contract : {"dd", "exact"}) {
    const Dense<dd> c = product<dd>(a, b, options_of(contract));
    EXPECT_EQ(c(1, 0).hi, -INFINITY);
    EXPECT_TRUE(std::isnan(c(1, 1).hi));
    for (std::int64_t j = 0; j < 4; ++j) {
      EXPECT_TRUE(std::isnan(c(3, j).hi));
      for (const std::int64_t i : {0, 2, 4}) EXPECT_TRUE(std::isfinite(c(i, j).hi + c(i, j).lo));
    }
  }
}

TEST(QuadProducts, ReachTheEndsOfTheRange) {
  const Dense<double> big(1, 1), two(1, 1);
  Dense<double> a = big, b = two;
  a(0, 0) = std::numeric_limits<double>::max(), b(0, 0) = 2;
  EXPECT_EQ(product<dd>(a, b, options_of("exact"))(0, 0).hi, INFINITY);
  EXPECT_EQ(product<dd>(a, b, options_of("exact+down"))(0, 0).hi, std::numeric_limits<double>::max());
  a(0, 0) = 0x1p-1074, b(0, 0) = 0.25;
  EXPECT_EQ(product<dd>(a, b, options_of("exact"))(0, 0), dd(0.0));
  EXPECT_EQ(product<dd>(a, b, options_of("exact+up"))(0, 0).hi, 0x1p-1074);
  a(0, 0) = 0x1.8p-500, b(0, 0) = 0x1.8p-530;
  EXPECT_EQ(product<dd>(a, b, options_of("dd"))(0, 0), dd(0x1.2p-1029));
}

TEST(QuadProducts, RefuseWhatTheyCannotKeep) {
  std::vector<dd> x(4);
  const auto call = [&](const QuadOptions& options, std::int64_t ld) {
    quad_gemm(Op::none, Op::none, 2, 2, 2, 1, x.data(), ld, x.data(), 2, 0, x.data(), 2, options);
  };
  EXPECT_THROW(call(options_of("fp128"), 2), Error);
  EXPECT_THROW(call({}, 1), Error);
  EXPECT_THROW(call(options_of("dd", "no_such_engine"), 2), Error);
  for (const char* text : {"fp64", "bits(3)", "bits(227)", "dd+up", "exact+reproducible"})
    EXPECT_THROW(QuadContract::parse(text), Error) << text;
  for (const char* text : {"", "dd", "fp128", "bits(113)", "exact", "exact+up"})
    EXPECT_EQ(QuadContract::parse(text).text(), text);
}

}  // namespace
}  // namespace vernier::test::quad_test
