// Which scheme and engine does the work, and that the report says so and why.
#include <cblas.h>

#include <cstdlib>
#include <optional>

#include "fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::choice_test {
namespace {

// Sets VERNIER_ENGINE or takes it away, and puts it back.
class EngineVariable {
 public:
  explicit EngineVariable(const std::optional<std::string>& value) {
    if (const char* old = std::getenv("VERNIER_ENGINE")) old_ = old;
    set(value);
  }
  ~EngineVariable() { set(old_); }
  EngineVariable(const EngineVariable&) = delete;
  EngineVariable& operator=(const EngineVariable&) = delete;

 private:
  static void set(const std::optional<std::string>& value) {
    if (value)
      setenv("VERNIER_ENGINE", value->c_str(), 1);
    else
      unsetenv("VERNIER_ENGINE");
  }

  std::optional<std::string> old_;
};

class Choice : public testing::TestWithParam<Type> {
 protected:
  EngineVariable no_engine_{std::nullopt};

  template <class Body>
  void with_type(Body body) const {
    test::with_type(GetParam(), body);
  }

  template <class T>
  static Options with(const std::string& contract, const std::string& engine = "") {
    Options made;
    made.contract = Contract::parse(joined(std::is_same_v<T, float> ? "fp32" : "fp64", contract));
    made.engine = engine;
    return made;
  }

  // A and B span 800 bits against each other (float: 200), and all of it counts.
  template <class T>
  static Operands<T> too_wide() {
    return graded_inner_index<T>(20, 24, 90, sizeof(T) == 4 ? 100 : 400, 70);
  }
};
INSTANTIATE_TEST_SUITE_P(Types, Choice, testing::Values(Type::float32, Type::float64), ReadableName());

TEST_P(Choice, ASmallProductIsNativeAndTheReportSaysWhy) {
  with_type([]<class T>(T) {
    const auto a = scattered_matrix<T>(9, 12, 0.5, 71), b = scattered_matrix<T>(12, 7, 0.5, 72);
    const auto out = multiply<T>({.a = a, .b = b}, with<T>(""));
    EXPECT_EQ(out.report.plan.scheme, "native") << out.report.text();
    EXPECT_FALSE(out.report.plan.reason.empty());
    EXPECT_FALSE(out.report.plan.engine.empty());
    EXPECT_FALSE(out.report.fallback);
    EXPECT_EQ(broken_bound(default_contract<T>(), a, b, out.c), "");
  });
}

// Small too, but the native product would break the bound.
TEST_P(Choice, AContractBeyondTheNativeProductIsNotLeftToIt) {
  with_type([]<class T>(T) {
    for (const std::string contract : {"bits(60)", "bits(110)", std::is_same_v<T, float> ? "fp64" : "bits(54)"}) {
      Options options;
      options.contract = Contract::parse(contract);
      for (const std::string family : {"cancelling", "random_phi_1", "full_significands"}) {
        const auto [a, b] = make_operands<T>(family, 12, 9, 30, 84);
        const auto out = multiply<T>({.a = a, .b = b}, options);
        EXPECT_EQ(out.report.plan.scheme, "residues") << contract;
        EXPECT_EQ(broken_bound(options.contract, a, b, out.c), "") << contract << ", " << family;
      }
    }
  });
}

TEST_P(Choice, NativeByNameIsTheProductOfTheBlasUnderneath) {
  with_type([]<class T>(T) {
    const auto a = scattered_matrix<T>(30, 40, 0.5, 73), b = scattered_matrix<T>(40, 20, 0.5, 74);
    const auto c = scattered_matrix<T>(30, 20, 0.5, 75);
    const auto out =
        multiply<T>({.a = a, .b = b, .opa = Op::transpose, .alpha = 2, .beta = -1, .c = c}, with<T>("", "native"));
    EXPECT_EQ(out.report.plan.scheme, "native");
    EXPECT_NE(native_blas().find(out.report.plan.engine), std::string::npos) << out.report.plan.engine;
    const Matrix<T> stored_a = stored(Op::transpose, a, 3), stored_b = padded(b, 5);
    Matrix<T> expected = padded(c, 2);
    if constexpr (std::is_same_v<T, float>)
      cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, 30, 20, 40, 2, stored_a.data(), 43, stored_b.data(), 45, -1,
                  expected.data(), 32);
    else
      cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, 30, 20, 40, 2, stored_a.data(), 43, stored_b.data(), 45, -1,
                  expected.data(), 32);
    EXPECT_EQ(difference(out.c, expected), "");
  });
}

TEST_P(Choice, AReproducibleContractRefusesTheNativeEngine) {
  with_type([]<class T>(T) {
    const auto a = scattered_matrix<T>(8, 8, 0.5, 76);
    EXPECT_THROW(multiply<T>({.a = a, .b = a}, with<T>("+reproducible", "native")), Error);
    const EngineVariable variable("native");
    EXPECT_THROW(multiply<T>({.a = a, .b = a}, with<T>("+reproducible")), Error);
  });
}

TEST_P(Choice, DataTooWideForTheSchemeAreMultipliedNativelyAndReported) {
  with_type([]<class T>(T) {
    const auto [a, b] = too_wide<T>();
    // An engine by name: the integer scheme is the plan, and only the data say no.
    const auto out = multiply<T>({.a = a, .b = b}, with<T>("", "portable"));
    EXPECT_TRUE(out.report.fallback) << out.report.text();
    EXPECT_EQ(broken_bound(default_contract<T>(), a, b, out.c), "");
    const auto native = multiply<T>({.a = a, .b = b}, with<T>("", "native"));
    EXPECT_EQ(difference(out.c, native.c), "");
    EXPECT_GE(out.report.span_a, sizeof(T) == 4 ? 190 : 780);
    EXPECT_GE(out.report.span_b, sizeof(T) == 4 ? 190 : 780);
  });
}

TEST_P(Choice, DataTooWideForTheSchemeAreRefusedWhereTheNativeProductIsNotAllowed) {
  with_type([]<class T>(T) {
    const auto [a, b] = too_wide<T>();
    const auto c = scattered_matrix<T>(20, 24, 0.5, 77);
    for (const std::string ending : {"+no-fallback", "+reproducible", "+reproducible+no-fallback"}) {
      const Options options = with<T>(ending, "portable");
      Matrix<T> out = c;
      try {
        gemm<T>(Op::none, Op::none, 20, 24, 90, 1, a.data(), 20, b.data(), 90, 1, out.data(), 20, options);
        ADD_FAILURE() << "not refused under " << ending;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::bound_not_met) << error.what();
      }
      EXPECT_EQ(difference(out, c), "");
    }
  });
}

// The normwise bound asks nothing of small entries, however wide the rows.
TEST_P(Choice, NormwiseHoldsDataOfAnyWidth) {
  with_type([]<class T>(T) {
    const auto [a, b] = too_wide<T>();
    Options options;
    options.contract = Contract::parse("fp64-normwise+reproducible");
    options.engine = "portable";
    const auto out = multiply<T>({.a = a, .b = b}, options);
    EXPECT_EQ(broken_bound(options.contract, a, b, out.c), "");
  });
}

// All exponents of the type, as far as products neither overflow nor vanish: whatever the scheme taken, the bound
// holds.
TEST_P(Choice, ExponentsOverTheWholeRangeKeepTheBound) {
  with_type([]<class T>(T) {
    const int reach = sizeof(T) == 4 ? 45 : 480;
    for (const std::int64_t size : {5, 40, 100}) {
      const auto a = exp_rand_matrix<T>(size, size, -reach, reach, 78),
                 b = exp_rand_matrix<T>(size, size, -reach, reach, 79);
      for (const std::string engine : {"", "portable"}) {
        const auto out = multiply<T>({.a = a, .b = b}, with<T>("", engine));
        EXPECT_EQ(broken_bound(default_contract<T>(), a, b, out.c), "") << out.report.text();
      }
    }
  });
}

TEST_P(Choice, ThePlanIsWhatExplainHasSaid) {
  with_type([]<class T>(T) {
    const auto a = scattered_matrix<T>(64, 80, 0.5, 80), b = scattered_matrix<T>(80, 48, 0.5, 81);
    for (const std::string ending : {"", "+reproducible"}) {
      const Options options = with<T>(ending);
      const Plan plan = explain<T>(Op::none, Op::none, 64, 48, 80, options);
      const Plan followed = multiply<T>({.a = a, .b = b}, options).report.plan;
      EXPECT_EQ(plan.text(), followed.text());
      EXPECT_EQ(plan.json(), followed.json());
      EXPECT_EQ(plan.m, 64);
      EXPECT_EQ(plan.n, 48);
      EXPECT_EQ(plan.k, 80);
      EXPECT_EQ(plan.type, sizeof(T) == 4 ? "float" : "double");
      EXPECT_EQ(plan.contract, options.contract);
      EXPECT_NE(plan.text().find(plan.engine), std::string::npos);
    }
    EXPECT_THROW(explain<T>(Op::none, Op::none, -1, 48, 80, with<T>("")), Error);
  });
}

// The integer product needs log2 k + 2 * bits below log2(P / 2); the moduli are at most 256 each.
TEST_P(Choice, ModuliGrowWithTheBitsAskedAndFitTheirProduct) {
  with_type([]<class T>(T) {
    int last = 0;
    for (const int bits : {4, 20, 40, 60, 80, 110}) {
      Options options;
      options.contract = Contract::bits(bits);
      options.contract.reproducible = true;
      const Plan plan = explain<T>(Op::none, Op::none, 100, 100, 1000, options);
      EXPECT_GT(plan.moduli, last) << bits << " bits";
      EXPECT_LE(plan.log2_modulus_product, 8.0 * plan.moduli);
      EXPECT_GT(plan.log2_modulus_product, 7.0 * plan.moduli - 8);
      last = plan.moduli;
    }
  });
}

TEST(EngineVariableTest, OfAnUnknownNameIsAnErrorThatQuotesIt) {
  const EngineVariable variable("abacus");
  const auto a = scattered_matrix<double>(8, 8, 0.5, 82);
  EXPECT_THROW(default_engine(), Error);
  for (const bool reproducible : {false, true}) {
    Options options;
    options.contract.reproducible = reproducible;
    try {
      multiply<double>({.a = a, .b = a}, options);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("abacus"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("VERNIER_ENGINE"), std::string::npos)
          << "tells where the name is from: " << error.what();
    }
  }
}

TEST(EngineVariableTest, ChoosesWhereTheOptionsNameNoEngine) {
  const auto a = scattered_matrix<double>(40, 40, 0.5, 83);
  Options options;
  options.contract.reproducible = true;
  for (const std::string& engine : supported_engines()) {
    const EngineVariable variable(engine);
    EXPECT_EQ(default_engine(), engine);
    options.engine = "";
    EXPECT_EQ(gemm<double>(Op::none, Op::none, 40, 40, 40, 1, a.data(), 40, a.data(), 40, 0,
                           Matrix<double>(40, 40).data(), 40, options)
                  .plan.engine,
              engine);
    options.engine = "portable";
    EXPECT_EQ(multiply<double>({.a = a, .b = a}, options).report.plan.engine, "portable");
  }
}

TEST(EngineVariableTest, UnsetOrEmptyTakesTheFirstEngineThatRunsHere) {
  ASSERT_FALSE(supported_engines().empty());
  for (const std::optional<std::string>& value : {std::optional<std::string>(), std::optional<std::string>("")}) {
    const EngineVariable variable(value);
    EXPECT_EQ(default_engine(), supported_engines().front());
  }
}

TEST(Engines, PortableIsThereAndRunsEverywhere) {
  std::vector<std::string> names;
  for (const EngineInfo& engine : engines()) names.push_back(engine.name);
  EXPECT_NE(std::find(names.begin(), names.end(), "portable"), names.end());
  const auto supported = supported_engines();
  EXPECT_NE(std::find(supported.begin(), supported.end(), "portable"), supported.end());
  for (const EngineInfo& engine : engines()) EXPECT_FALSE(engine.description.empty()) << engine.name;
}

}  // namespace
}  // namespace vernier::test::choice_test
