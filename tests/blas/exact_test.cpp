// Contract exact: every entry is the exact real number alpha (AB)_ij + beta c_ij, rounded once.
#include <gmpxx.h>

#include "fixture.hpp"
#include "support/boundaries.hpp"
#include "support/exact.hpp"
#include "support/special.hpp"

namespace vernier::test::exact_test {
namespace {

template <class T>
mpz_class product(T x, const mpz_class& y) {
  return exact_value(static_cast<double>(x)) * y;
}

// alpha AB + beta C, rounded once by GMP; all finite.
template <class T>
Matrix<T> correctly_rounded(const Call<T>& call) {
  const ExactProduct<T> exact(call.a, call.b);
  return Matrix<T>::of(call.a.rows(), call.b.columns(), [&](auto i, auto j) {
    mpz_class value = product(call.alpha, exact.sum(i, j));
    if (call.beta != 0) value += product(call.beta, exact_value(static_cast<double>(call.c(i, j))));
    return rounded<T>(value, 2 * exact_unit);
  });
}

class Exact : public PerEngine {
 protected:
  template <class T>
  Options exact() const {
    return options<T>(Contract::exact());
  }

  template <class T>
  void expect_correct(const Call<T>& call, const std::string& what) {
    EXPECT_EQ(difference(multiply(call, exact<T>()).c, correctly_rounded(call)), "") << what;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, Exact, testing::ValuesIn(engine_cases()), ReadableName());

TEST_P(Exact, RoundsEveryFamilyCorrectly) {
  with_type([this]<class T>(T) {
    for (const std::string& family : operand_families()) {
      const auto [a, b] = make_operands<T>(family, 37, 41, 67, 11);
      expect_correct<T>({.a = a, .b = b}, family);
    }
  });
}

TEST_P(Exact, RoundsBoundariesCorrectly) {
  with_type([this]<class T>(T) {
    for (const std::string& family : boundary_families())
      for (const T alpha : {T{1}, T{-4}}) {
        const auto [a, b] = make_boundary_operands<T>(family, 40, 35, 40, 12);
        expect_correct<T>({.a = a, .b = b, .alpha = family == "overflow_ties" ? T{-1} : alpha}, family);
      }
  });
}

TEST(Boundaries, LieWhereTheRoundingTurns) {
  for (const Type type : {Type::float32, Type::float64})
    with_type(type, []<class T>(T) {
      for (const std::string& family : boundary_families()) {
        const auto [a, b] = make_boundary_operands<T>(family, 30, 20, 33, 10);
        const ExactProduct<T> exact(a, b);
        for (std::int64_t i = 0; i < 30; ++i)
          for (std::int64_t j = 0; j < 20; ++j) {
            const mpz_class &x = exact.sum(i, j), beside = abs(x) >> 58;
            EXPECT_NE(rounded<T>(x - beside), rounded<T>(x + beside)) << family << ' ' << i << ' ' << j;
          }
      }
    });
}

TEST_P(Exact, AppliesAlphaAndBetaBeforeTheRounding) {
  with_type([this]<class T>(T) {
    const T tiny = std::numeric_limits<T>::denorm_min() * 3, large = std::numeric_limits<T>::max() / 16;
    for (const std::string family : {"random_phi_0_5", "random_phi_4", "cancelling", "integers", "sparse"})
      for (const auto& [alpha, beta] : {std::pair<T, T>{T{1} / 3, 0},
                                        {1, 1},
                                        {-1, T{0.7f}},
                                        {T{1} / 7, T{1} / 3},
                                        {tiny, large},
                                        {large, tiny},
                                        {tiny, 0},
                                        {large, 0},
                                        {T{0.5}, -2}}) {
        auto [a, b] = make_operands<T>(family, 34, 33, 50, 13);
        const auto c = scattered_matrix<T>(34, 33, 3, 14);
        expect_correct<T>({.a = a, .b = b, .alpha = alpha, .beta = beta, .c = c},
                          joined(family, ", alpha ", alpha, ", beta ", beta));
      }
  });
}

// C on entry is minus the rounded product: what is left is the rounding error of a rounded product, all of it.
TEST_P(Exact, KeepsWhatARoundedProductHasLost) {
  with_type([this]<class T>(T) {
    for (const std::string family : {"random_phi_0_5", "random_phi_4", "integers"}) {
      const auto [a, b] = make_operands<T>(family, 33, 34, 60, 15);
      Matrix<T> c = ExactProduct<T>(a, b).rounded();
      expect_correct<T>({.a = a, .b = b, .alpha = -1, .beta = 1, .c = c}, family);
    }
  });
}

TEST_P(Exact, RoundsWideExponentsCorrectly) {
  with_type([this]<class T>(T) {
    for (const double phi : {1.0, 4.0, 8.0}) {
      const auto a = scattered_matrix<T>(33, 70, std::min(phi, sizeof(T) == 4 ? 4.0 : 8.0), 16);
      const auto b = scattered_matrix<T>(70, 35, std::min(phi, sizeof(T) == 4 ? 4.0 : 8.0), 17);
      expect_correct<T>({.a = a, .b = b}, joined("phi ", phi));
    }
    const int reach = std::numeric_limits<T>::max_exponent;  // the whole range of the type
    const auto a = exp_rand_matrix<T>(20, 40, -reach + 3, reach - 2, 18);
    const auto b = exp_rand_matrix<T>(40, 20, -reach + 3, reach - 2, 19);
    expect_correct<T>({.a = a, .b = b}, "all exponents");
  });
}

TEST_P(Exact, DoesNotDependOnHowTheOperandsLie) {
  with_type([this]<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_2", 70, 45, 130, 20);
    const Matrix<T> expected = correctly_rounded<T>({.a = a, .b = b});
    for (const Op opa : all_ops)
      for (const Op opb : all_ops)
        EXPECT_EQ(difference(multiply<T>({.a = a, .b = b, .opa = opa, .opb = opb}, exact<T>()).c, expected), "")
            << text(opa) << text(opb);
  });
}

TEST_P(Exact, DoesNotDependOnThreadsAndBlocks) {
  with_type([this]<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_4", 131, 117, 90, 21);
    const auto [ties_a, ties_b] = make_boundary_operands<T>("ties", 131, 117, 90, 22);
    for (const Call<T>& call : {Call<T>{.a = a, .b = b}, Call<T>{.a = ties_a, .b = ties_b}}) {
      const Matrix<T> expected = correctly_rounded(call);
      for (const int threads : {1, 2, 3}) {
        Options options = exact<T>();
        options.threads = threads;
        EXPECT_EQ(difference(multiply(call, options).c, expected), "") << threads << " threads";
        options.workspace_limit = gemm_workspace<T>(131, 117, 90, options, true);
        EXPECT_EQ(difference(multiply(call, options).c, expected), "") << threads << " threads, least workspace";
      }
    }
  });
}

TEST_P(Exact, LeavesNothingOpenWhereAllElementsBecomeIntegers) {
  with_type([this]<class T>(T) {
    const auto [a, b] = make_operands<T>("integers", 200, 200, 400, 23);  // large enough for own scales to pay
    const auto out = multiply<T>({.a = a, .b = b}, exact<T>());
    EXPECT_EQ(out.report.undecided, 0);
    EXPECT_LE(out.report.plan.moduli, 5);
    EXPECT_EQ(difference(out.c, ExactProduct<T>(a, b).rounded()), "");
  });
}

// Rows of A and columns of B that share no element, as those of triangles and of complex numbers with real parts alone.
TEST_P(Exact, TakesNoLongSumsForZeros) {
  with_type([this]<class T>(T) {
    auto [a, b] = make_operands<T>("random_phi_4", 70, 60, 80, 25);
    for (std::int64_t l = 0; l < 80; ++l) {
      for (std::int64_t i = l < 40 ? 35 : 0; i < (l < 40 ? 70 : 35); ++i) a(i, l) = 0;
      for (std::int64_t j = l < 40 ? 30 : 0; j < (l < 40 ? 60 : 30); ++j) b(l, j) = 0;
    }
    const auto out = multiply<T>({.a = a, .b = b}, exact<T>());
    EXPECT_EQ(out.report.accumulated, 0);
    EXPECT_EQ(difference(out.c, ExactProduct<T>(a, b).rounded()), "");
  });
}

TEST_P(Exact, CountsTheEntriesThatTakeASecondAndAThirdLook) {
  with_type([this]<class T>(T) {
    const auto [a, b] = make_boundary_operands<T>("near_ties", 40, 35, 40, 24);
    const auto out = multiply<T>({.a = a, .b = b}, exact<T>());
    EXPECT_EQ(difference(out.c, ExactProduct<T>(a, b).rounded()), "");
    EXPECT_GE(out.report.undecided, out.report.accumulated);
    EXPECT_GT(out.report.accumulated, 0);
    EXPECT_EQ(out.report.plan.log2_bound, -std::numeric_limits<T>::digits);
  });
}

TEST_P(Exact, HasSignedZerosAsDocumented) {
  with_type([this]<class T>(T) {
    Matrix<T> a(2, 2), b(2, 1), c(2, 1);
    a(0, 0) = 3, a(0, 1) = -3;                                     // cancels
    a(1, 0) = -std::numeric_limits<T>::denorm_min(), a(1, 1) = 0;  // underflows
    b(0, 0) = T{0.25}, b(1, 0) = T{0.25};
    c(0, 0) = c(1, 0) = -T{0};
    for (const T alpha : {T{1}, T{-1}}) {
      const Matrix<T> plain = multiply<T>({.a = a, .b = b, .alpha = alpha}, exact<T>()).c;
      const Matrix<T> added = multiply<T>({.a = a, .b = b, .alpha = alpha, .beta = 1, .c = c}, exact<T>()).c;
      for (const Matrix<T>& x : {plain, added}) {
        EXPECT_EQ(bits_of(x(0, 0)), bits_of(T{0}));
        EXPECT_EQ(bits_of(x(1, 0)), bits_of(alpha > 0 ? -T{0} : T{0}));
      }
    }
  });
}

TEST_P(Exact, PassesNanAndInfinityAsIeee754HasThem) {
  with_type([this]<class T>(T) {
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    auto [a, b] = make_operands<T>("random_phi_0_5", 40, 37, 50, 25);
    a(3, 4) = nan, a(5, 6) = infinity, b(6, 7) = 0, b(9, 8) = -infinity, a(7, 9) = 0, b(6, 9) = -infinity;
    auto c = scattered_matrix<T>(40, 37, 0.5, 26);
    c(1, 1) = nan, c(2, 2) = infinity, c(5, 3) = -infinity, c(3, 3) = infinity;
    for (const auto& [alpha, beta] :
         {std::pair<T, T>{1, 0}, {-2, 0}, {1, 1}, {T{1} / 3, -1}, {infinity, 0}, {nan, 1}, {2, infinity}, {1, nan}}) {
      const Call<T> call{.a = a, .b = b, .alpha = alpha, .beta = beta, .c = c};
      const auto got = multiply(call, exact<T>()).c;
      const Matrix<T> expected = Matrix<T>::of(40, 37, [&](auto i, auto j) -> T {
        const auto special = special_value(a, b, i, j);
        const auto added = beta == 0 || (std::isfinite(beta) && std::isfinite(c(i, j))) ? T{0} : beta * c(i, j);
        if (special) return alpha * *special + added;
        mpz_class sum = 0;
        for (std::int64_t l = 0; l < 50; ++l) sum += product(a(i, l), exact_value(static_cast<double>(b(l, j))));
        if (!std::isfinite(alpha)) return alpha * static_cast<T>(sgn(sum)) + added;
        if (beta != 0 && (std::isnan(added) || std::isinf(added))) return added;
        sum *= exact_value(static_cast<double>(alpha));
        if (beta != 0)
          sum += product(beta, exact_value(static_cast<double>(c(i, j)))) << static_cast<unsigned long>(-exact_unit);
        return rounded<T>(sum, 3 * exact_unit);
      });
      EXPECT_EQ(difference_but_for_nans(got, expected), "") << "alpha " << alpha << ", beta " << beta;
    }
  });
}

TEST_P(Exact, RoundsLongSumsCorrectly) {
  with_type([this]<class T>(T) {
    const std::int64_t k = 33000;  // two pieces of k
    const auto [a, b] = make_operands<T>("random_phi_1", 5, 6, k, 27);
    for (const Op op : {Op::none, Op::transpose})
      EXPECT_EQ(difference(multiply<T>({.a = a, .b = b, .opa = op, .opb = op}, exact<T>()).c,
                           ExactProduct<T>(a, b).rounded()),
                "");
  });
}

}  // namespace
}  // namespace vernier::test::exact_test
