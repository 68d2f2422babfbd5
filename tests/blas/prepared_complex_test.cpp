// Prepared complex operands: the bits of unprepared ones, by an engine that is named.
#include <gtest/gtest.h>

#include "array.hpp"
#include "support/error_message.hpp"
#include "support/random.hpp"
#include "vernier/prepared.hpp"

namespace vernier::test::prepared_complex_test {
namespace {

template <class T>
class PreparedComplex : public testing::Test {
 protected:
  static Options options() {
    Options o{.contract = default_contract<T>()};
    o.engine = default_engine();
    o.threads = 2;
    return o;
  }
  static Array<T> random(std::int64_t rows, std::int64_t columns, double phi, std::uint64_t seed) {
    Random numbers(seed);
    return filled<T>(rows, columns, [&] { return numbers.scattered(phi); });
  }
};
using Types = testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PreparedComplex, Types);

// (1 + i) (2 - i) = 3 + i.
TYPED_TEST(PreparedComplex, OneByOne) {
  using T = TypeParam;
  const T a(1, 1), b(2, -1);
  T c = 7;
  const PreparedOperand<T> left(Side::left, Op::none, 1, 1, &a, 1),
      right(Side::right, Op::conjugate_transpose, 1, 1, &b, 1);
  gemm(left, Op::none, 1, 1, 1, 1.0, &b, 1, 0.0, &c, 1);
  EXPECT_EQ(c, T(3, 1));
  gemm(Op::none, right, 1, 1, 1, 1.0, &a, 1, 0.0, &c, 1);
  EXPECT_EQ(c, a * std::conj(b));
  gemm(left, right, 1, 1, 1, T(0, 1), T(2), &c, 1);
  EXPECT_EQ(c, T(0, 1) * a * std::conj(b) + T(2) * a * std::conj(b));
}

// Wide exponents, too, where the contract promises bits; under others the scales of such data are those of all entries.
TYPED_TEST(PreparedComplex, HaveTheBitsOfUnpreparedOperands) {
  using T = TypeParam;
  const std::int64_t m = 35, n = 33, k = 70;
  const std::pair<T, T> factors[] = {{1, 0}, {T(0.3f), T(-2)}, {T(1, 2), T(0.5f, -1)}};
  for (const double phi : {0.5, 4.0})
    for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose}) {
      const bool plain = op == Op::none;
      Options o = this->options();
      o.contract.reproducible = phi > 1;
      const Array<T> a = this->random(plain ? m : k, plain ? k : m, phi, 1),
                     b = this->random(plain ? k : n, plain ? n : k, phi, 2);
      const Array<T> c0 = this->random(m, n, 0.5, 3);
      const PreparedOperand<T> left(Side::left, op, m, k, a.x.data(), a.rows, o),
          right(Side::right, op, k, n, b.x.data(), b.rows, o);
      for (const auto& [alpha, beta] : factors) {
        Array<T> expected = c0, with_a = c0, with_b = c0, with_both = c0;
        gemm<T>(op, op, m, n, k, alpha, a.x.data(), a.rows, b.x.data(), b.rows, beta, expected.x.data(), m, o);
        const PreparedReport report = gemm(left, op, m, n, k, alpha, b.x.data(), b.rows, beta, with_a.x.data(), m, o);
        gemm(op, right, m, n, k, alpha, a.x.data(), a.rows, beta, with_b.x.data(), m, o);
        gemm(left, right, m, n, k, alpha, beta, with_both.x.data(), m, o);
        EXPECT_EQ(with_a.x, expected.x) << phi << static_cast<char>(op) << alpha;
        EXPECT_EQ(with_b.x, expected.x) << phi << static_cast<char>(op) << alpha;
        EXPECT_EQ(with_both.x, expected.x) << phi << static_cast<char>(op) << alpha;
        EXPECT_EQ(report.plan.type, sizeof(T) == sizeof(std::complex<float>) ? "complex float" : "complex double");
        EXPECT_EQ(report.plan.k, k);
        if (phi < 1) {
          EXPECT_TRUE(report.prepared_a);
        }
      }
    }
}

TYPED_TEST(PreparedComplex, OtherSizesAndSidesAreNamed) {
  using T = TypeParam;
  const std::array<T, 4> a = {1, 2, 3, 4};
  std::array<T, 4> c = {7, 7, 7, 7};
  const PreparedOperand<T> left(Side::left, Op::none, 2, 2, a.data(), 2);
  EXPECT_EQ(left.rows(), 2);
  EXPECT_EQ(left.columns(), 2);
  EXPECT_GT(left.bytes(), 0U);
  EXPECT_EQ(message([&] { gemm(left, Op::none, 2, 2, 3, 1.0, a.data(), 3, 0.0, c.data(), 2); }),
            "gemm: A was prepared as 2 x 2; expected 2 x 3");
  EXPECT_EQ(message([&] { gemm(Op::none, left, 2, 2, 2, 1.0, a.data(), 2, 0.0, c.data(), 2); }),
            "gemm: B was prepared as the left factor; expected the right one");
  EXPECT_EQ(message([&] { gemm(left, Op::none, 2, 2, 2, 1.0, static_cast<const T*>(nullptr), 2, 0.0, c.data(), 2); }),
            "gemm: B is null");
  EXPECT_EQ(c[0], T(7));
  gemm(left, Op::none, 2, 2, 2, 0.0, a.data(), 2, T(0, 1), c.data(), 2);
  EXPECT_EQ(c[0], T(0, 7));
}

}  // namespace
}  // namespace vernier::test::prepared_complex_test
