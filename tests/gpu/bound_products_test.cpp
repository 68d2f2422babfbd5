// Products whose scales come from the product of |A| and |B|, guessed ones among them: on Hopper; other kernels take
// statistics alone.
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::bound_products_test {
namespace {

// Forced to residues: data that statistics leave irregular take their scales from the product.
TEST(BoundProductsOnGpu, ProductsKeepTheirBound) {
  int bounded = 0;
  for (const std::string& family : operand_families())
    for (const Contract& contract : {Contract::fp64(), Contract::fp32(), Contract::bits(40), Contract::bits(60)})
      for (const std::int64_t k : {1, 77, 1500}) {
        const auto [a, b] = make_operands<double>(family, 70, 45, k, 91);
        const Call<double> call{.a = a, .b = b};
        const auto out = multiply_on_gpu(call, {.contract = contract, .engine = usual_engine()});
        EXPECT_EQ(broken_bound(contract, a, b, out.c), "") << family << ", " << contract.text() << ", k = " << k;
        bounded += out.report.bounded ? 1 : 0;
      }
  if (cuda::takes_hopper_kernels())
    EXPECT_GT(bounded, 20);
  else
    EXPECT_EQ(bounded, 0);
}

// After an irregular product the next one is expected to be such, and all of it is queued at once.
TEST(BoundProductsOnGpu, IrregularProductsInARowKeepTheirBound) {
  for (const std::string& engine : {usual_engine(), std::string("cublas_int8")})
    for (const std::int64_t k : {1500, 5000, 9000})
      for (const char* family : {"random_phi_4", "random_phi_1", "random_phi_4", "random_phi_0_5", "random_phi_4"}) {
        const auto [a, b] = make_operands<double>(family, 40, 50, k, 17);
        const auto out =
            multiply_on_gpu(Call<double>{.a = a, .b = b}, {.contract = Contract::fp64(), .engine = engine});
        EXPECT_EQ(broken_bound(Contract::fp64(), a, b, out.c), "") << family << ", " << engine << ", k = " << k;
      }
}

// Residues by guessed scales, which a part of the product then judges: data for which they serve, for which they do
// not, and ordinary ones in between; and data whose large elements lie where the part does not look.
TEST(BoundProductsOnGpu, GuessedScalesAreJudged) {
  int fewest = 99, most = 0;
  for (const char* family :
       {"random_phi_1", "random_phi_1", "random_phi_1", "random_phi_4", "random_phi_1", "random_phi_1",
        "random_phi_0_5", "random_phi_0_5", "random_phi_1", "zero_lines", "random_phi_1", "sparse", "odd_places",
        "random_phi_1", "odd_places", "random_phi_2", "random_phi_2", "random_phi_2"}) {
    const bool odd = std::string(family) == "odd_places";
    auto [a, b] = make_operands<double>(odd ? "random_phi_1" : family, 130, 90, 2100, 23);
    if (odd)
      for (std::int64_t l = 0; l < 2100; l += 2) {
        for (std::int64_t i = 0; i < 130; ++i) a(i, l) *= 0x1p-30;
        for (std::int64_t j = 0; j < 90; ++j) b(l, j) *= 0x1p-30;
      }
    const auto out =
        multiply_on_gpu(Call<double>{.a = a, .b = b}, {.contract = Contract::fp64(), .engine = usual_engine()});
    EXPECT_EQ(broken_bound(Contract::fp64(), a, b, out.c), "") << family;
    if (!out.report.bounded) continue;
    fewest = std::min(fewest, out.report.plan.moduli);
    most = std::max(most, out.report.plan.moduli);
  }
  if (!cuda::takes_hopper_kernels()) {
    EXPECT_EQ(most, 0);
    return;
  }
  EXPECT_LE(fewest, 15);
  EXPECT_GE(most, 16);
}

// Graded along k, so that balanced operands (residue/bound/balance.hpp) need few moduli; and such that balancing takes
// beyond the largest number, or below the least normal one, on either side.
TEST(BoundProductsOnGpu, BalancedProductsKeepTheirBound) {
  constexpr std::int64_t m = 130, n = 90, k = 2100;
  int fewest = 99, calls = 0;
  const auto [x, y] = make_operands<double>("random_phi_0_5", m, n, k, 29);
  const auto expect_bound = [&](int shift_a, int shift_b, bool both) {
    constexpr int grades = 40;
    Matrix<double> a = x, b = y;
    for (std::int64_t l = 0; l < k; ++l) {
      const int grade = static_cast<int>(l * grades / k) - grades / 2;
      for (std::int64_t i = 0; i < m; ++i) a(i, l) = std::ldexp(a(i, l), shift_a + (both ? grade : 0));
      for (std::int64_t j = 0; j < n; ++j) b(l, j) = std::ldexp(b(l, j), shift_b - grade);
    }
    const auto out =
        multiply_on_gpu(Call<double>{.a = a, .b = b}, {.contract = Contract::fp64(), .engine = usual_engine()});
    EXPECT_EQ(broken_bound(Contract::fp64(), a, b, out.c), "")
        << "A by 2^" << shift_a << ", B by 2^" << shift_b << ", call " << calls;
    ++calls;
    fewest = std::min(fewest, out.report.plan.moduli);
  };
  for (int i = 0; i < 6; ++i) expect_bound(0, 0, true);
  EXPECT_EQ(fewest <= 15, cuda::takes_hopper_kernels()) << "far more without balancing, or no bound";
  for (const auto& [a, b] : {std::pair{1015, -900}, {-900, 990}, {-1040, 900}, {900, -1040}, {-1060, 1000}})
    for (int i = 0; i < 4; ++i) expect_bound(a, b, false);
  for (int i = 0; i < 4; ++i) expect_bound(0, 0, true);
}

// From few to all words of an element, with spare bits between.
TEST(BoundProductsOnGpu, DecayingProductsKeepTheirBound) {
  int bounded = 0;
  for (int step = 1; step <= 60; ++step) {
    const double rate = 0.01 * step;
    const auto decay = [&](std::int64_t i, std::int64_t j) {
      return std::exp(-rate * std::abs(static_cast<double>(i - j)));
    };
    const Matrix<double> a = Matrix<double>::of(60, 90, decay), b = Matrix<double>::of(90, 50, decay);
    const auto out =
        multiply_on_gpu(Call<double>{.a = a, .b = b}, {.contract = Contract::fp64(), .engine = usual_engine()});
    EXPECT_EQ(broken_bound(Contract::fp64(), a, b, out.c), "") << rate << ", " << out.report.plan.moduli << " moduli";
    bounded += out.report.bounded ? 1 : 0;
  }
  if (cuda::takes_hopper_kernels())
    EXPECT_GT(bounded, 20);
  else
    EXPECT_EQ(bounded, 0);
}

}  // namespace
}  // namespace vernier::test::bound_products_test
