// Products whose scales come from the product of |A| and |B|, guessed ones among them: on Hopper; other kernels take
// statistics alone.
#include <functional>

#include "gpu/captured.hpp"
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "gpu/graded.hpp"
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
    if (out.report.plan.moduli > 0) fewest = std::min(fewest, out.report.plan.moduli);
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
  int fewest = 99, calls = 0;
  const auto expect_bound = [&](int shift_a, int shift_b, bool both) {
    const auto [a, b] = graded(
        130, 90, 2100, 40, [&](auto, int grade) { return shift_a + (both ? grade : 0); },
        [&](auto, int grade) { return shift_b - grade; });
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

// The balanced guess of the products before, for data that need four words an element, and more than a guess of any
// kind: where no host waits, asynchronous or from a graph.
TEST(BoundProductsOnGpu, BalancedGuessesWithoutAHostKeepTheirBound) {
  constexpr std::int64_t m = 140, n = 80, k = 2200;
  const auto even = graded(
      m, n, k, 40, [](auto, int grade) { return grade; }, [](auto, int grade) { return -grade; });
  // Rows and columns of either slope: no D levels both.
  const auto crossed = [&](int grades) {
    return graded(
        m, n, k, grades, [](auto i, int grade) { return i % 2 == 0 ? grade : -grade; },
        [](auto j, int grade) { return j % 2 == 0 ? grade : -grade; });
  };
  cuda::Options options{.contract = Contract::fp64(), .engine = usual_engine()};
  Report last;
  for (int i = 0; i < 4; ++i) last = multiply_on_gpu(Call<double>{.a = even.a, .b = even.b}, options).report;
  EXPECT_EQ(last.plan.moduli > 0 && last.plan.moduli <= 15, cuda::takes_hopper_kernels());
  options.asynchronous = true;
  for (const int grades : {40, 24, 36, 48, 60, 200, 40}) {
    const auto x = grades == 40 ? even : crossed(grades);
    const auto out = multiply_on_gpu(Call<double>{.a = x.a, .b = x.b}, options);
    EXPECT_EQ(broken_bound(Contract::fp64(), x.a, x.b, out.c), "") << grades << " grades";
  }
  const DeviceCopy<double> a(even.a), b(even.b), c(Matrix<double>(m, n));
  const cuda::Stream stream;
  options.stream = stream;
  options.asynchronous = false;
  const double one = 1, zero = 0;
  const CapturedProduct graph(stream, [&] {
    cuda::gemm(Op::none, Op::none, m, n, k, &one, a.data(), even.a.ld(), b.data(), even.b.ld(), &zero, c.data(), m,
               options);
  });
  for (const int grades : {48, 40, 60}) {
    const auto x = grades == 40 ? even : crossed(grades);
    overwrite(a, x.a);
    overwrite(b, x.b);
    graph.replay(stream);
    Matrix<double> got(m, n);
    c.read(got);
    EXPECT_EQ(broken_bound(Contract::fp64(), x.a, x.b, got), "") << grades << " grades, replayed";
  }
}

// Whose zeros are not multiplied: triangles, bands, blocks, vectors that decay, factors without a common k, and none.
TEST(BoundProductsOnGpu, HollowProductsKeepTheirBound) {
  constexpr std::int64_t m = 260, n = 200, k = 1100;
  using Shape = std::function<bool(std::int64_t, std::int64_t)>;  // of A, and B's transpose: vector, l
  const Shape all = [](auto, auto) { return true; };
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {[](auto i, auto l) { return l <= 4 * i; }, [](auto j, auto l) { return l <= 5 * j; }},
      {[](auto i, auto l) { return l >= 4 * i; }, [](auto j, auto l) { return l <= 5 * j + 200; }},
      {[](auto i, auto l) { return std::abs(l - 4 * i) < 150; },
       [](auto j, auto l) { return std::abs(l - 5 * j) < 99; }},
      {[](auto i, auto l) { return i / 130 == l / 550; }, [](auto j, auto l) { return j / 100 == l / 550; }},
      {[](auto, auto l) { return l < 500; }, [](auto, auto l) { return l >= 500; }},
      {[](auto i, auto l) { return l % 600 < 130 && i != 200; }, all},
      {[](auto, auto) { return false; }, all}};
  const auto [x, y] = make_operands<double>("random_phi_2", m, n, k, 31);
  for (std::size_t s = 0; s <= shapes.size(); ++s) {
    Matrix<double> a = x, b = y;
    for (std::int64_t l = 0; l < k; ++l) {
      for (std::int64_t i = 0; i < m; ++i)
        if (s == shapes.size())
          a(i, l) *= std::pow(static_cast<double>(i) / m, static_cast<double>(l));
        else if (!shapes[s].first(i, l))
          a(i, l) = 0;
      for (std::int64_t j = 0; j < n; ++j)
        if (s < shapes.size() && !shapes[s].second(j, l)) b(l, j) = 0;
    }
    const ExactProduct<double> exact(a, b);
    for (const bool asynchronous : {false, true, false}) {
      const auto out =
          multiply_on_gpu(Call<double>{.a = a, .b = b},
                          {.contract = Contract::fp64(), .engine = usual_engine(), .asynchronous = asynchronous});
      EXPECT_EQ(broken_bound(Contract::fp64(), a, b, exact, out.c), "")
          << "shape " << s << ", asynchronous " << asynchronous;
    }
  }
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
