// Plans by estimate follow what products really took; those of contracts and named engines do not.
#include "blas/plan.hpp"
#include "fixture.hpp"
#include "slow_native.hpp"

namespace vernier::test::observed_test {
namespace {

constexpr ProductShape shape{200, 200, 200};

class Observed : public testing::Test {
 protected:
  SlowNative slow_{2, 15, 200, 2};  // by estimate residues win

  static ProductPlan whole_plan() { return plan_product<double>(shape, {.threads = 2}); }
  static void took(Method method, double seconds) {
    const ProductPlan plan = whole_plan();
    for (int i = 0; i < 2; ++i) observe(class_of<double>(plan), plan.rivals.span(), method, seconds);
  }
  static double seen(Method method) { return whole_plan().rivals.all[static_cast<std::size_t>(method)].seen; }
  static Plan plan(const Options& options) { return plan_product<double>(shape, options).printable; }
};

TEST_F(Observed, AMethodThatLosesIsLeftForTheNativeProduct) {
  EXPECT_EQ(plan({.threads = 2}).scheme, "residues");
  took(Method::residues, 1e3);
  EXPECT_EQ(plan({.threads = 2}).scheme, "native");
  EXPECT_NE(plan({.threads = 2}).reason.find("seen in this process"), std::string::npos) << plan({.threads = 2}).reason;
  took(Method::native, 2e3);
  EXPECT_EQ(plan({.threads = 2}).scheme, "residues") << "native is slower still";
}

TEST_F(Observed, NothingChangesWhereAContractOrTheCallerAsks) {
  took(Method::residues, 1e3);
  for (const char* contract : {"fp64+reproducible", "exact", "bits(60)"})
    EXPECT_EQ(plan({.contract = Contract::parse(contract), .threads = 2}).scheme, "residues") << contract;
  EXPECT_EQ(plan({.engine = default_engine(), .threads = 2}).scheme, "residues");
}

TEST_F(Observed, ProductsTellWhatTheyTook) {
  constexpr int enough = 32;  // however brief they are
  const auto a = scattered_matrix<double>(200, 200, 0.5, 1);
  for (int i = 0; i < enough && seen(Method::residues) == 0; ++i)  // then it looks at rivals
    multiply<double>({.a = a, .b = a}, {.threads = 2});
  EXPECT_GT(seen(Method::residues), 0);
  EXPECT_EQ(seen(Method::native), 0);
}

// Its time is that of the attempt and of the native product after it, so that native wins from then on.
TEST_F(Observed, AMethodWhoseCallsAllFallBackIsKnown) {
  constexpr int enough = 32;
  const auto wide = exp_rand_matrix<double>(200, 200, -400, 400, 2);
  for (int i = 0; i < enough && seen(Method::residues) == 0; ++i)
    EXPECT_TRUE(multiply<double>({.a = wide, .b = wide}, {.threads = 2}).report.fallback);
  EXPECT_GT(seen(Method::residues), 0);
  EXPECT_EQ(seen(Method::native), 0) << "it was never planned";
}

}  // namespace
}  // namespace vernier::test::observed_test
