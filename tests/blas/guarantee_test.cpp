// The bound of every contract, for every entry, against the exact product: ordinary data and adversarial data alike.
#include <cmath>

#include "fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::guarantee_test {
namespace {

std::vector<Contract> contracts() {
  return {Contract::fp64(),
          Contract::fp32(),
          Contract::normwise(),
          Contract::bits(4),
          Contract::bits(12),
          Contract::bits(30),
          Contract::bits(53),
          Contract::bits(70),
          Contract::bits(100),
          Contract::bits(110),
          Contract::parse("normwise(9)"),
          Contract::parse("normwise(80)"),
          Contract::parse("normwise(110)")};
}

struct NamedShape {
  std::int64_t m, n, k;
};
constexpr NamedShape shapes[] = {{1, 1, 1}, {4, 3, 700}, {37, 35, 72}, {66, 5, 33}};

class Guarantee : public testing::TestWithParam<std::tuple<EngineCase, std::string>> {};

struct FamilyName {
  template <class Info>
  std::string operator()(const Info& info) const {
    return text(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, Guarantee,
                         testing::Combine(testing::ValuesIn(engine_cases()), testing::ValuesIn(operand_families())),
                         FamilyName());

TEST_P(Guarantee, HoldsForEveryEntryUnderEveryContract) {
  const auto& [engine, family] = GetParam();
  with_type(engine.type, [&]<class T>(T) {
    Options options;
    options.engine = engine.engine;
    std::uint64_t seed = 20;
    for (const auto& [m, n, k] : shapes) {
      const auto [a, b] = make_operands<T>(family, m, n, k, ++seed);
      const ExactProduct<T> exact(a, b);
      for (Contract contract : contracts()) {
        contract.reproducible = true;
        options.contract = contract;
        SCOPED_TRACE(joined(contract.text(), ", seed ", seed, ", m = ", m, ", n = ", n, ", k = ", k));
        const auto out = multiply<T>({.a = a, .b = b}, options);
        EXPECT_EQ(broken_bound(contract, a, b, exact, out.c), "") << out.report.text();
      }
    }
  });
}

class Bounds : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, Bounds, testing::ValuesIn(engine_cases()), ReadableName());

// Over many seeds: a bound that holds by luck alone fails in one of them.
TEST_P(Bounds, HoldForManySmallRandomProducts) {
  with_type([this]<class T>(T) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      Random random(seed);
      const std::int64_t m = random.integer(1, 9), n = random.integer(1, 9), k = random.integer(1, 40);
      const auto& family =
          operand_families()[static_cast<std::size_t>(random.integer(0, 33)) % operand_families().size()];
      const auto [a, b] = make_operands<T>(family, m, n, k, seed);
      Contract contract = contracts()[static_cast<std::size_t>(random.integer(0, 9))];
      contract.reproducible = random.integer(0, 1) == 1;
      const auto out = multiply<T>({.a = a, .b = b}, options<T>(contract));
      EXPECT_EQ(broken_bound(contract, a, b, out.c), "") << family << ", " << contract.text() << ", seed " << seed;
    }
  });
}

TEST_P(Bounds, HoldForAProductOfManyTiles) {
  with_type([this]<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_2", 150, 170, 333, 77);
    const ExactProduct<T> exact(a, b);
    for (const Contract& contract : {Contract::fp64(), Contract::fp32(), Contract::normwise()}) {
      const auto out = multiply<T>({.a = a, .b = b, .opa = Op::transpose}, options<T>(contract));
      EXPECT_EQ(broken_bound(contract, a, b, exact, out.c), "") << contract.text();
    }
  });
}

// Significands of ones round up to the next power of two wherever a scale cuts them.
TEST_P(Bounds, HoldWhereElementsRoundUpToAPowerOfTwo) {
  with_type([this]<class T>(T) {
    Random random(36);
    for (const std::int64_t k : {1, 2, 3, 20}) {
      const auto a =
          Matrix<T>::of(5, k, [](auto i, auto l) { return (i + l) % 2 == 0 ? std::nextafter(T{2}, T{0}) : T{-1}; });
      const auto b = Matrix<T>::of(k, 6, [&](auto, auto) { return random.scattered(0.5); });
      for (const Contract& contract : contracts()) {
        const auto out = multiply<T>({.a = a, .b = b}, options<T>(contract));
        EXPECT_EQ(broken_bound(contract, a, b, out.c), "") << contract.text() << ", k = " << k;
        const auto turned = multiply<T>({.a = transposed(b), .b = transposed(a)}, options<T>(contract));
        EXPECT_EQ(broken_bound(contract, transposed(b), transposed(a), turned.c), "")
            << contract.text() << ", k = " << k;
      }
    }
  });
}

// With bits to spare the one error left is the rounding to the type.
TEST_P(Bounds, ManyBitsRoundOnce) {
  with_type([this]<class T>(T) {
    const auto a = scattered_matrix<T>(30, 60, 0.5, 31), b = scattered_matrix<T>(60, 30, 0.5, 32);
    const ExactProduct<T> exact(a, b);
    const auto out = multiply<T>({.a = a, .b = b}, options<T>(Contract::bits(110))).c;
    EXPECT_EQ(difference(out, exact.rounded()), "");
  });
}

TEST_P(Bounds, ThePlanProvesWhatTheContractAsks) {
  with_type([this]<class T>(T) {
    const std::int64_t k = 500;
    const auto a = scattered_matrix<T>(40, k, 0.5, 33), b = scattered_matrix<T>(k, 40, 0.5, 34);
    const auto log2_bound = [&](const Contract& contract) {
      return multiply<T>({.a = a, .b = b}, options<T>(contract)).report.plan.log2_bound;
    };
    const double u = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53, slack = 1e-9;
    EXPECT_LE(log2_bound(Contract::fp64()), std::log2((k + 1) * 0x1p-53 + (sizeof(T) == 4 ? u : 0)) + slack);
    EXPECT_LE(log2_bound(Contract::fp32()), std::log2((k + 1) * 0x1p-24 + (sizeof(T) == 4 ? u : 0)) + slack);
    EXPECT_LE(log2_bound(Contract::bits(80)), std::log2(k * 0x1p-80 + u) + slack);
    EXPECT_LE(log2_bound(Contract::normwise()), std::log2((k + 1) * 0x1p-53 + (sizeof(T) == 4 ? u : 0)) + slack);
  });
}

// A row of its own width costs its own bits: the report says so, and the rest of the matrix keeps its moduli.
TEST_P(Bounds, WideRowsAndColumnsAreReported) {
  with_type([this]<class T>(T) {
    const auto plain = make_operands<T>("random_phi_0_5", 40, 40, 400, 35);
    const auto row = make_operands<T>("wide_row", 40, 40, 400, 35);
    const auto column = make_operands<T>("wide_column", 40, 40, 400, 35);
    const Report ordinary = multiply<T>({.a = plain.a, .b = plain.b}, options<T>()).report;
    const Report with_row = multiply<T>({.a = row.a, .b = row.b}, options<T>()).report;
    const Report with_column = multiply<T>({.a = column.a, .b = column.b}, options<T>()).report;
    EXPECT_EQ(ordinary.wide_rows + ordinary.wide_columns, 0) << ordinary.text();
    EXPECT_EQ(with_row.wide_rows, 1) << with_row.text();
    EXPECT_EQ(with_column.wide_columns, 1) << with_column.text();
    EXPECT_EQ(with_row.plan.moduli, ordinary.plan.moduli);
    EXPECT_GT(with_row.wide_moduli, with_row.plan.moduli);
    EXPECT_GE(with_row.span_a, 50);
    EXPECT_GE(with_column.span_b, 50);
  });
}

}  // namespace
}  // namespace vernier::test::guarantee_test
