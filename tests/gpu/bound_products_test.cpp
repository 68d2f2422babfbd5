// Products whose scales come from the product of |A| and |B|, guessed ones among them: on Hopper; other kernels take
// statistics alone.
#include <functional>

#include "gpu/captured.hpp"
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "gpu/graded.hpp"
#include "residue/choice.hpp"
#include "residue/regularity.hpp"
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
  for (int i = 0; i < 8; ++i) {  // of which all balanced guesses fail
    const auto [a, b] = make_operands<double>("random_phi_2", 130, 90, 2100, 23);
    multiply_on_gpu(Call<double>{.a = a, .b = b}, {.contract = Contract::fp64(), .engine = usual_engine()});
  }
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

// op(B) is op(A) transposed, by its elements or by its place: half of C is multiplied, and copied to the other half. An
// odd and an even number of tiles; C of one element that differs is not symmetric, whatever the product before was.
TEST(BoundProductsOnGpu, SymmetricProductsAreHalved) {
  const cuda::Options options{.contract = Contract::fp64(), .engine = usual_engine()};
  for (const std::int64_t n : {1540, 1800}) {
    constexpr std::int64_t k = 130;
    const Matrix<double> a = make_operands<double>("random_phi_2", n, 1, k, 29).a;
    Matrix<double> b(k, n);
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t i = 0; i < n; ++i) b(l, i) = a(i, l);
    Matrix<double> other = b;
    other(k - 1, n - 1) += 3;
    const auto broken = [&](const Matrix<double>& with, const Matrix<double>& c) {
      return broken_bound_of_some(Contract::fp64(), a, with, c, 110, 90);
    };
    const auto expect_both = [&](bool expected, const cuda::Options& as) {
      const auto out = multiply_on_gpu(Call<double>{.a = a, .b = b}, as);
      EXPECT_EQ(broken(b, out.c), "") << n;
      if (cuda::takes_hopper_kernels()) {
        EXPECT_EQ(asymmetry(out.c), "");
      }
      EXPECT_EQ(out.report.plan.reason.find("op(B) is taken for op(A) transposed") != std::string::npos,
                expected && cuda::takes_hopper_kernels());
    };
    const auto expect_other = [&](const cuda::Options& as) {
      const auto out = multiply_on_gpu(Call<double>{.a = a, .b = other}, as);
      EXPECT_EQ(broken(other, out.c), "") << n;
    };
    expect_both(false, options);
    expect_both(true, options);
    expect_other(options);
    expect_both(true, options);
    cuda::Options asynchronous = options;
    asynchronous.asynchronous = true;
    expect_both(true, asynchronous);
    expect_other(asynchronous);

    const DeviceCopy<double> x(a), c(Matrix<double>(n, n));
    const double one = 1, zero = 0;
    cuda::gemm(Op::none, Op::transpose, n, n, k, &one, x.data(), a.ld(), x.data(), a.ld(), &zero, c.data(), n, options);
    Matrix<double> got(n, n);
    c.read(got);
    EXPECT_EQ(broken(b, got), "") << n;
    EXPECT_EQ(asymmetry(got), "");
  }
}

// Of the operations, those of pieces in which both operands hold something (engine/filled_pieces.hpp).
double filled_share(const Matrix<double>& a, const Matrix<double>& b) {
  std::int64_t filled = 0;
  const auto holds = [](std::int64_t group, std::int64_t piece, std::int64_t vectors, std::int64_t k, auto element) {
    for (std::int64_t v = group * piece_vectors; v < std::min(vectors, (group + 1) * piece_vectors); ++v)
      for (std::int64_t l = piece * piece_k; l < std::min(k, (piece + 1) * piece_k); ++l)
        if (element(v, l) != 0) return true;
    return false;
  };
  const std::int64_t k = a.columns(), rows = piece_groups(a.rows()), columns = piece_groups(b.columns()),
                     pieces = divide_up(k, piece_k);
  for (std::int64_t p = 0; p < pieces; ++p)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        filled += holds(i, p, a.rows(), k, [&](auto v, auto l) { return a(v, l); }) &&
                          holds(j, p, b.columns(), k, [&](auto v, auto l) { return b(l, v); })
                      ? 1
                      : 0;
  return static_cast<double>(filled) / static_cast<double>(pieces * rows * columns);
}

// Triangles, bands, blocks, vectors that decay, factors without a common k, and none: of A, and of B's transpose, by
// the place of the vector and of the element, from 0 to 1.
using Shape = std::function<bool(double, double)>;
const std::vector<std::pair<Shape, Shape>>& hollow_shapes() {
  const Shape all = [](double, double) { return true; };
  static const std::vector<std::pair<Shape, Shape>> shapes = {
      {[](double v, double l) { return l <= v; }, [](double v, double l) { return l <= v; }},
      {[](double v, double l) { return l >= v; }, [](double v, double l) { return l <= v + 0.2; }},
      {[](double v, double l) { return std::abs(l - v) < 0.14; },
       [](double v, double l) { return std::abs(l - v) < 0.09; }},
      {[](double v, double l) { return (v < 0.5) == (l < 0.5); },
       [](double v, double l) { return (v < 0.5) == (l < 0.5); }},
      {[](double, double l) { return l < 0.45; }, [](double, double l) { return l >= 0.45; }},
      {[](double v, double l) { return std::fmod(2 * l, 1) < 0.3 && v != 0.5; }, all},
      {[](double, double) { return false; }, all}};
  return shapes;
}
// Shape number hollow_shapes().size() is of vectors that decay.
Operands<double> hollow(const Operands<double>& dense, std::size_t number) {
  auto [a, b] = dense;
  const auto m = static_cast<double>(a.rows()), n = static_cast<double>(b.columns()),
             k = static_cast<double>(a.columns());
  const bool decays = number == hollow_shapes().size();
  for (std::int64_t l = 0; l < a.columns(); ++l) {
    const auto at = static_cast<double>(l);
    for (std::int64_t i = 0; i < a.rows(); ++i)
      if (const double v = static_cast<double>(i) / m; decays)
        a(i, l) *= std::pow(v, at);
      else if (!hollow_shapes()[number].first(v, at / k))
        a(i, l) = 0;
    for (std::int64_t j = 0; j < b.columns(); ++j)
      if (!decays && !hollow_shapes()[number].second(static_cast<double>(j) / n, at / k)) b(l, j) = 0;
  }
  return {a, b};
}

// Zeros are known and left out, with a host and without one.
TEST(BoundProductsOnGpu, HollowProductsKeepTheirBound) {
  for (const auto& [m, n, k] : {ProductShape{260, 200, 1100}, {140, 70, 4500}, {140, 70, 9000}}) {
    const auto dense = make_operands<double>("random_phi_2", m, n, k, 31),
               even = make_operands<double>("random_phi_0_5", m, n, k, 31);
    cuda::Options options{.contract = Contract::fp64(), .engine = usual_engine()};
    int left_out = 0;
    for (std::size_t s = 0; s <= hollow_shapes().size(); ++s) {
      const auto x = hollow(dense, s);
      const ExactProduct<double> exact(x.a, x.b);
      options.asynchronous = false;
      multiply_on_gpu(Call<double>{.a = even.a, .b = even.b}, options);  // after which nothing is known
      for (const bool asynchronous : {false, true, false}) {
        options.asynchronous = asynchronous;
        const auto out = multiply_on_gpu(Call<double>{.a = x.a, .b = x.b}, options);
        EXPECT_EQ(broken_bound(Contract::fp64(), x.a, x.b, exact, out.c), "")
            << "shape " << s << ", k = " << k << ", asynchronous " << asynchronous;
        if (asynchronous || !out.report.bounded || out.report.wide_moduli == 0) continue;
        const DeviceProductPlan plan = cuda::plan_of<double>({m, n, k}, options, true);
        const cuda::ProductMemory known = cuda::remembered(plan, {nullptr, false});
        if (known.copies != 0 && known.share == 1) continue;  // they were learnt, or given up, just now
        if (s < hollow_shapes().size()) {
          EXPECT_NEAR(known.share, filled_share(x.a, x.b), 1e-6) << "shape " << s << ", k = " << k;
        }
        const DevicePass pass = bound_device_pass(plan, known.moduli, 70, known.share);
        left_out += knows_filled(plan, pass, known.share) ? 1 : 0;
      }
    }
    EXPECT_EQ(left_out >= 5, cuda::takes_hopper_kernels()) << left_out << ", k = " << k;
  }
}

// A graph of a product whose zeros are left out meets other zeros, and data without any.
TEST(BoundProductsOnGpu, GraphsOfHollowProductsServeAnyData) {
  constexpr std::int64_t m = 140, n = 70, k = 2300;
  const auto dense = make_operands<double>("random_phi_2", m, n, k, 37);
  const auto band = hollow(dense, 2);
  cuda::Options options{.contract = Contract::fp64(), .engine = usual_engine()};
  for (int i = 0; i < 2; ++i) multiply_on_gpu(Call<double>{.a = band.a, .b = band.b}, options);
  if (cuda::takes_hopper_kernels()) {
    EXPECT_TRUE(is_hollow(cuda::remembered(cuda::plan_of<double>({m, n, k}, options, true), {nullptr, false}).share));
  }
  const DeviceCopy<double> a(band.a), b(band.b), c(Matrix<double>(m, n));
  const cuda::Stream stream;
  options.stream = stream;
  const double one = 1, zero = 0;
  const CapturedProduct graph(stream, [&] {
    cuda::gemm(Op::none, Op::none, m, n, k, &one, a.data(), band.a.ld(), b.data(), band.b.ld(), &zero, c.data(), m,
               options);
  });
  for (const std::size_t s : {2, 99, 0, 3, 99, 7}) {
    const auto x = s == 99 ? dense : hollow(dense, s);
    overwrite(a, x.a);
    overwrite(b, x.b);
    graph.replay(stream);
    Matrix<double> got(m, n);
    c.read(got);
    EXPECT_EQ(broken_bound(Contract::fp64(), x.a, x.b, got), "") << "shape " << s;
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
