// Contract exact in the four directions: every entry is alpha (AB)_ij + beta c_ij, rounded once.
#include <gmpxx.h>

#include <cmath>

#include "fixture.hpp"
#include "support/boundaries.hpp"
#include "support/exact.hpp"

namespace vernier::test::rounding_test {
namespace {

constexpr Rounding directions[] = {Rounding::nearest, Rounding::down, Rounding::up, Rounding::toward_zero};

mpz_class times(double x, const mpz_class& y) { return exact_value(x) * y; }

// alpha AB + beta C in units of 2^(2 exact_unit).
template <class T>
mpz_class exact_entry(const Call<T>& call, const ExactProduct<T>& exact, std::int64_t i, std::int64_t j) {
  mpz_class value = times(static_cast<double>(call.alpha), exact.sum(i, j));
  if (call.beta != 0) value += times(static_cast<double>(call.beta), exact_value(static_cast<double>(call.c(i, j))));
  return value;
}

class DirectedRounding : public PerEngine {
 protected:
  template <class T>
  Matrix<T> product(const Call<T>& call, Rounding rounding) {
    return multiply(call, options<T>(Contract::exact(rounding))).c;
  }

  template <class T>
  void expect_correct(const Call<T>& call, const std::string& what) {
    const ExactProduct<T> exact(call.a, call.b);
    for (const Rounding rounding : directions) {
      const Matrix<T> expected = Matrix<T>::of(call.a.rows(), call.b.columns(), [&](auto i, auto j) {
        return rounded<T>(exact_entry(call, exact, i, j), 2 * exact_unit, rounding);
      });
      EXPECT_EQ(difference(product(call, rounding), expected), "") << what << ", " << Contract::exact(rounding).text();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, DirectedRounding, testing::ValuesIn(engine_cases()), ReadableName());

TEST_P(DirectedRounding, RoundsOrdinaryAndWideDataCorrectly) {
  with_type([this]<class T>(T) {
    for (const std::string family : {"random_phi_0_5", "random_phi_4", "integers"}) {
      const auto [a, b] = make_operands<T>(family, 37, 41, 67, 31);
      for (const T alpha : {T{1}, T{-0.5}}) expect_correct<T>({.a = a, .b = b, .alpha = alpha}, family);
      expect_correct<T>(
          {.a = a, .b = b, .alpha = T{1} / 3, .beta = T{-0.7f}, .c = scattered_matrix<T>(37, 41, 0.5, 32)}, family);
    }
  });
}

TEST_P(DirectedRounding, RoundsBoundariesCorrectly) {
  with_type([this]<class T>(T) {
    for (const auto* list : {&boundary_families(), &directed_boundary_families()})
      for (const std::string& family : *list) {
        const auto [a, b] = make_boundary_operands<T>(family, 35, 33, 40, 33);
        for (const T alpha : {T{1}, T{-1}}) expect_correct<T>({.a = a, .b = b, .alpha = alpha}, family);
      }
  });
}

TEST_P(DirectedRounding, EnclosesTheProductAsCloselyAsTheTypeAllows) {
  with_type([this]<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_1", 40, 40, 50, 34);
    const ExactProduct<T> exact(a, b);
    const Matrix<T> down = product<T>({.a = a, .b = b}, Rounding::down),
                    up = product<T>({.a = a, .b = b}, Rounding::up);
    for (std::int64_t j = 0; j < 40; ++j)
      for (std::int64_t i = 0; i < 40; ++i) {
        EXPECT_LE(exact_value(static_cast<double>(down(i, j))), exact.sum(i, j));
        EXPECT_GE(exact_value(static_cast<double>(up(i, j))), exact.sum(i, j));
        EXPECT_TRUE(up(i, j) == down(i, j) || up(i, j) == std::nextafter(down(i, j), std::numeric_limits<T>::max()));
      }
  });
}

// One product x y: what the four directions make of it.
TEST_P(DirectedRounding, HasOverflowUnderflowAndZerosAsDocumented) {
  with_type([this]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    const T tiny = Limits::denorm_min(), most = Limits::max(), infinity = Limits::infinity();
    struct Case {
      T x, y, expected[4];  // nearest, down, up, toward zero
    };
    for (const Case& c : {Case{tiny, T{0.25}, {0, 0, tiny, 0}},                  // underflow
                          Case{-tiny, T{0.25}, {-T{0}, -tiny, -T{0}, -T{0}}},    //
                          Case{most, 2, {infinity, most, infinity, most}},       // overflow
                          Case{-most, 2, {-infinity, -infinity, -most, -most}},  //
                          Case{tiny, 3, {3 * tiny, 3 * tiny, 3 * tiny, 3 * tiny}}, Case{0, -3, {0, 0, 0, 0}}}) {
      Matrix<T> a(1, 1), b(1, 1);
      a(0, 0) = c.x, b(0, 0) = c.y;
      for (int d = 0; d < 4; ++d)
        EXPECT_EQ(bits_of(product<T>({.a = a, .b = b}, directions[d])(0, 0)), bits_of(c.expected[d]))
            << described(c.x) << " * " << described(c.y) << ", " << Contract::exact(directions[d]).text();
    }
  });
}

TEST_P(DirectedRounding, RoundsBetaCWhereThereIsNoProduct) {
  with_type([this]<class T>(T) {
    const Matrix<T> a = scattered_matrix<T>(9, 4, 1, 35), b = scattered_matrix<T>(4, 7, 1, 36),
                    c = scattered_matrix<T>(9, 7, 1, 37);
    for (const Rounding rounding : directions) {
      const Matrix<T> got = product<T>({.a = a, .b = b, .alpha = 0, .beta = T{1} / 3, .c = c}, rounding);
      const Matrix<T> expected = Matrix<T>::of(9, 7, [&](auto i, auto j) {
        return rounded<T>(times(static_cast<double>(T{1} / 3), exact_value(static_cast<double>(c(i, j)))),
                          2 * exact_unit, rounding);
      });
      EXPECT_EQ(difference(got, expected), "");
    }
  });
}

TEST(DirectedRounding, RoundsPartsOfComplexEntries) {
  using Complex = std::complex<double>;
  const Complex a[2] = {{0.1, 0.2}, {0.3, -0.7}}, b[2] = {{1.1, -0.4}, {0.6, 0.9}};  // 1 x 2, 2 x 1
  mpz_class real = 0, imaginary = 0;
  for (int l = 0; l < 2; ++l) {
    real += times(a[l].real(), exact_value(b[l].real())) - times(a[l].imag(), exact_value(b[l].imag()));
    imaginary += times(a[l].real(), exact_value(b[l].imag())) + times(a[l].imag(), exact_value(b[l].real()));
  }
  for (const Rounding rounding : directions) {
    Complex c;
    gemm<Complex>(Op::none, Op::none, 1, 1, 2, 1.0, a, 1, b, 2, 0.0, &c, 1, {.contract = Contract::exact(rounding)});
    EXPECT_EQ(c.real(), rounded<double>(real, 2 * exact_unit, rounding));
    EXPECT_EQ(c.imag(), rounded<double>(imaginary, 2 * exact_unit, rounding));
  }
}

TEST(DirectedRounding, IsAPartOfTheContractsText) {
  for (const char* text : {"exact+down", "exact+up", "exact+toward-zero", "exact+down+reproducible"})
    EXPECT_EQ(Contract::parse(text).text(), text);
  EXPECT_EQ(Contract::parse("exact+reproducible+up").rounding, Rounding::up);
  for (const char* text : {"fp64+down", "exact+sideways", "exact+down+up", "bits(60)+up"})
    EXPECT_THROW(Contract::parse(text), Error) << text;
  Contract contract = Contract::fp64();
  contract.rounding = Rounding::down;
  double x = 1;
  EXPECT_THROW(gemm<double>(Op::none, Op::none, 1, 1, 1, 1, &x, 1, &x, 1, 0, &x, 1, {.contract = contract}), Error);
  EXPECT_EQ(x, 1);
}

}  // namespace
}  // namespace vernier::test::rounding_test
