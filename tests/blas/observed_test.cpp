// Plans by estimate follow what products really took; those of contracts and named engines do not.
#include "base/cpu_features.hpp"
#include "blas/plan.hpp"
#include "fixture.hpp"
#include "product/native/native.hpp"
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

// Products of data of a special kind: classes of their own.
double seen_of(ProductClass product, int data, Method method) {
  product.contract = data;
  Rivals rivals;
  rivals.add(Method::native, 1), rivals.add(method, 1);
  choose_method(product, rivals.span());
  return rivals.all[1].seen;
}

void took_of(ProductClass product, int data, Method method, double share) {
  product.contract = data;
  Rivals rivals;
  rivals.add(Method::native, 1), rivals.add(method, 1);
  for (int i = 0; i < 2; ++i) observe(product, rivals.span(), method, share);
}

TEST_F(Observed, SymmetricProductsAreLookedBackAt) {
  const auto a = scattered_matrix<double>(200, 200, 0.5, 1), b = transposed(a);
  const auto report = [&] { return multiply<double>({.a = a, .b = b, .opb = Op::transpose}, {.threads = 2}).report; };
  const ProductClass product = class_of<double>(whole_plan());
  constexpr int enough = 32;
  for (int i = 0; i < enough && seen_of(product, symmetric_data, Method::residues) == 0; ++i)
    EXPECT_NE(report().plan.reason.find("half of the products"), std::string::npos);
  EXPECT_GT(seen_of(product, symmetric_data, Method::residues), 0);
  EXPECT_EQ(seen(Method::residues), 0) << "others take longer";

  forget_observations();
  took_of(product, symmetric_data, Method::residues, 1e3);
  const Report natively = report();
  EXPECT_EQ(natively.plan.scheme, "native") << natively.text();
  EXPECT_EQ(natively.plan.engine, native_name());
  EXPECT_FALSE(natively.fallback);
  EXPECT_EQ(natively.plan.workspace, 0U);
  EXPECT_EQ(plan({.threads = 2}).scheme, "residues") << "of other data";
  EXPECT_EQ(multiply<double>({.a = a, .b = b, .opb = Op::transpose}, {.engine = default_engine(), .threads = 2})
                .report.plan.scheme,
            "residues")
      << "asked for";
}

TEST_F(Observed, ProductsByNonzerosAreLookedBackAt) {
  if (!missing_features(InstructionSet::avx512_vnni).empty()) GTEST_SKIP() << "no AVX-512";
  constexpr std::int64_t n = 1024;
  for (const double native : {0.8, 1.6}) {  // the plan's own method: native, residues
    const SlowNative rates{native, 15, n, 2};
    const auto a = sparse_matrix<double>(n, n, 0.02, 3), b = scattered_matrix<double>(n, n, 1, 4);
    const auto report = [&] { return multiply<double>({.a = a, .b = b}, {.threads = 2}).report; };
    const ProductPlan plan = plan_product<double>({n, n, n}, {.threads = 2});
    const ProductClass product = class_of<double>(plan);
    constexpr int enough = 32;
    for (int i = 0; i < enough && seen_of(product, sparse_data, Method::nonzeros) == 0; ++i)
      EXPECT_EQ(report().plan.engine, "nonzeros") << i;
    EXPECT_GT(seen_of(product, sparse_data, Method::nonzeros), 0);

    forget_observations();
    took_of(product, sparse_data, Method::nonzeros, 1e3);
    EXPECT_NE(report().plan.engine, "nonzeros") << "it lost";  // residues may fall back
    forget_observations();
    EXPECT_EQ(report().plan.engine, "nonzeros");
  }
}

}  // namespace
}  // namespace vernier::test::observed_test
