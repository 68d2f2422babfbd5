// Error-corrected products on a Hopper GPU: bit for bit what the modelled engine gives.
#include <cmath>
#include <limits>
#include <set>

#include "gpu/split_fixture.hpp"

namespace vernier::test::split_gpu_test {
namespace {

TEST(SplitGpu, EverySchemeEqualsTheModel) {
  const std::int64_t shapes[][3] = {{1, 1, 1}, {5, 7, 37}, {16, 8, 64}, {33, 41, 100}, {64, 48, 300}};
  for (const Scheme& s : split::schemes())
    for (const auto& [m, n, k] : shapes)
      for (int kind = 0; kind < kinds; ++kind) {
        const Operands<float> x = sample(kind, m, n, k);
        EXPECT_EQ(difference_but_for_nans(on_gpu(s, x.a, x.b, {}, true), on_model(s, x.a, x.b)), "")
            << s.name << ' ' << m << ' ' << n << ' ' << k << " kind " << kind;
      }
}

class SplitKernelTest : public testing::TestWithParam<const char*> {
 protected:
  const Scheme& scheme() const { return find_scheme(GetParam()); }
};

TEST_P(SplitKernelTest, EqualsTheModelForAnyShape) {
  const std::int64_t shapes[][3] = {{1, 1, 1},      {3, 2, 5},       {7, 1, 64},      {1, 9, 65},      {128, 128, 64},
                                    {129, 130, 63}, {200, 150, 333}, {65, 257, 1000}, {193, 129, 1025}};
  for (const auto& [m, n, k] : shapes)
    for (int kind = 0; kind < kinds; ++kind) {
      const Operands<float> x = sample(kind, m, n, k);
      EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b), on_model(scheme(), x.a, x.b)), "")
          << m << ' ' << n << ' ' << k << " kind " << kind;
    }
}

TEST_P(SplitKernelTest, EqualsTheModelForAnyLayout) {
  const Operands<float> x = sample(3, 133, 70, 200);
  const Matrix<float> expected = on_model(scheme(), x.a, x.b);
  for (Op opa : {Op::none, Op::transpose})
    for (Op opb : {Op::none, Op::conjugate_transpose})
      for (std::int64_t pad : {0, 1, 3, 4})
        for (int shift : {0, 1, 2})
          EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b, {opa, opb, pad, shift}), expected), "")
              << static_cast<char>(opa) << static_cast<char>(opb) << " pad " << pad << " shift " << shift;
}

TEST_P(SplitKernelTest, EqualsTheModelForLongK) {
  for (std::int64_t k : {1500, 3000, 5000, 16384, 40001}) {
    const Operands<float> x = sample(0, 9, 21, k);
    const Matrix<float> expected = on_model(scheme(), x.a, x.b);
    EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b), expected), "") << k;
    EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b, {Op::transpose, Op::transpose}), expected), "") << k;
  }
}

TEST_P(SplitKernelTest, EqualsTheReferenceKernelWhereManyTilesRun) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{2500, 2311, 192}, {2048, 2048, 512}, {4400, 300, 520}}) {
    const Operands<float> x = sample(0, m, n, k);
    EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b), on_gpu(scheme(), x.a, x.b, {}, true)), "") << m;
  }
}

// A gap between columns keeps quads from being aligned.
TEST_P(SplitKernelTest, QuadsThatAreAlignedHaveTheBitsOfThoseThatAreNot) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{2048, 1100, 64}, {2301, 1999, 640}}) {
    Operands<float> x = sample(3, m, n, k);
    x.b(3, 1030) = inf, x.b(50, 1031) = nan, x.b(63, n - 1) = -inf;
    for (std::int64_t l = 0; l < k; ++l) x.b(l, 1032) = 0, x.b(l, 1033) = std::ldexp(x.b(l, 1033), -140);
    const Matrix<float> old = sample(0, m, n, n).a, expected = on_gpu(scheme(), x.a, x.b, {.pad = 1});
    EXPECT_EQ(difference_but_for_nans(on_gpu(scheme(), x.a, x.b), expected), "") << n;
    for (const Update u : {Update{-1.5f, 0.7f}, Update{0, 3}})
      EXPECT_EQ(difference_but_for_nans(on_gpu(scheme(), x.a, x.b, {}, false, u, &old),
                                        on_gpu(scheme(), x.a, x.b, {.pad = 1}, false, u, &old)),
                "")
          << n << " alpha " << u.alpha;
  }
}

TEST_P(SplitKernelTest, TakesEveryExponent) {
  Operands<float> x = sample(0, 40, 40, 80);
  for (std::int64_t v = 0; v < 40; ++v)
    for (std::int64_t l = 0; l < 80; ++l) {
      x.a(v, l) = std::ldexp(x.a(v, l), static_cast<int>(v * 7) - 150);
      x.b(l, v) = std::ldexp(x.b(l, v), 127 - static_cast<int>(v * 7));
    }
  const Matrix<float> expected = on_model(scheme(), x.a, x.b);
  EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b), expected), "");
  std::int64_t subnormal = 0, infinite = 0;
  for (std::int64_t j = 0; j < 40; ++j)
    for (std::int64_t i = 0; i < 40; ++i) {
      subnormal += std::fpclassify(expected(i, j)) == FP_SUBNORMAL;
      infinite += std::isinf(expected(i, j));
    }
  EXPECT_GT(subnormal, 5);
  EXPECT_GT(infinite, 5);
}

TEST_P(SplitKernelTest, InfinitiesAndNansGoWhereIeeeSendsThem) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Operands<float> x = sample(0, 200, 150, 130);
  x.a(0, 3) = inf, x.a(131, 129) = nan, x.b(7, 2) = -inf, x.b(8, 2) = inf, x.b(50, 149) = -inf;
  x.b(3, 1) = 0, x.a(2, 50) = 1e-30f, x.a(9, 50) = 0;
  const Matrix<float> expected = on_model(scheme(), x.a, x.b);
  for (Op op : {Op::none, Op::transpose})
    EXPECT_EQ(difference_but_for_nans(on_gpu(scheme(), x.a, x.b, {op, op}), expected), "");
}

TEST_P(SplitKernelTest, AlphaAndBetaAddOneRoundingEach) {
  const Operands<float> x = sample(3, 131, 67, 90);
  const Matrix<float> t = on_model(scheme(), x.a, x.b);
  Matrix<float> old = sample(0, 131, 67, 67).a;
  old(0, 0) = 0.0f, old(130, 66) = -0.0f;
  for (const Update u :
       {Update{-1.5f, 0.7f}, Update{1, 1}, Update{0, 3}, Update{3, 0}, Update{0, 1}, Update{0, -1}, Update{-0.0f, 0}}) {
    const auto expected = Matrix<float>::of(131, 67, [&](auto i, auto j) {
      if (u.alpha == 0) return u.beta == 0 ? 0.0f : u.beta * old(i, j);  // an infinite T does not count
      return u.beta == 0 ? u.alpha * t(i, j) : std::fma(u.alpha, t(i, j), u.beta * old(i, j));
    });
    EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b, {.pad = 1}, false, u, &old), expected), "") << u.alpha;
    EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b, {}, false, u, &old), expected), "") << u.alpha << ' ' << u.beta;
    EXPECT_EQ(difference(on_gpu(scheme(), x.a, x.b, {}, true, u, &old), expected), "") << u.alpha << ' ' << u.beta;
  }
}

// The kernels have one length of run and one order of terms each; a scheme of that name may have others.
TEST_P(SplitKernelTest, ACopyWithOtherRunsOrAnotherOrderIsMultipliedAsItSays) {
  const Operands<float> x = sample(1, 45, 37, 700);
  const Matrix<float> usual = on_gpu(scheme(), x.a, x.b);
  for (const int run : {16, 64, 128}) {
    Scheme s = scheme();
    for (split::Sum& sum : s.sums)
      if (sum.run != 0) sum.run = run;
    if (run % s.step != 0) {
      EXPECT_THROW(on_gpu(s, x.a, x.b), Error) << run;
      continue;
    }
    EXPECT_EQ(difference(on_gpu(s, x.a, x.b), on_model(s, x.a, x.b)), "") << run;
    if (!(s == scheme())) {
      EXPECT_NE(difference(on_gpu(s, x.a, x.b), usual), "") << run;
    }
  }
  Scheme s = scheme();
  std::ranges::reverse(s.terms);
  EXPECT_EQ(difference(on_gpu(s, x.a, x.b), on_model(s, x.a, x.b)), "");
}

// One tile a block, several, and both widths of tile.
TEST(SplitGpu, BothTilesOfHalfhalfEqualTheModel) {
  const Scheme& s = find_scheme("halfhalf_sep");
  std::set<const cuda::SplitKernel*> seen;
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{1024, 1024, 100}, {1536, 1500, 70}, {1280, 1270, 200}, {300, 270, 2100}}) {
    seen.insert(cuda::plan_split_gemm(s.name, m, n, k).attempts.front().kernel);
    const Operands<float> x = sample(0, m, n, k);
    EXPECT_EQ(difference(on_gpu(s, x.a, x.b), on_model(s, x.a, x.b)), "") << m << ' ' << n << ' ' << k;
  }
  EXPECT_EQ(seen.size(), 2U);
}

TEST(SplitGpu, HalvesOfKHaveBitsOfTheirOwn) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "mma.sync takes k whole";
  const Operands<float> x = sample(1, 1024, 1000, 1030);
  const Scheme& s = find_scheme("tf32tf32_sep");
  EXPECT_EQ(pieces_of(s, 1024, 1000, 1030), 2);
  const Matrix<float> halves = on_gpu(s, x.a, x.b);
  EXPECT_NE(difference(halves, on_gpu(s, x.a, x.b, {}, true)), "");
  EXPECT_EQ(difference(halves, on_model(s, x.a, x.b)), "");
}

// ---- what the split counts ------------------------------------------------------------------------------------------

// Vectors of all sizes; elements from their largest down to 2^-90 of it, one at either side of each limit.
Matrix<float> spread_vectors(std::int64_t vectors, std::int64_t k, const cuda::SplitThresholds& thresholds) {
  Random random(7);
  return Matrix<float>::of(vectors, k, [&](auto v, auto l) -> double {
    const int top = static_cast<int>(v * 266 / vectors) - 140;
    const auto limit = [&](float t) { return std::ldexp(double{t}, top - scaled_exponent); };
    switch (l) {
      case 0:
        return std::ldexp(1.5, top);
      case 1:
        return limit(thresholds.large);
      case 2:
        return limit(std::nextafter(thresholds.large, 0.0f));
      case 3:
        return v % 3 == 0 ? limit(thresholds.tiny) : 0;
      case 4:
        return v % 5 == 0 ? -limit(std::nextafter(thresholds.tiny, 0.0f)) : 0;
      default:
        return v % 7 == 0 || l % 9 == 0 ? 0 : std::ldexp(random.uniform() + 1, top - static_cast<int>(l % 90));
    }
  });
}

TEST(SplitStatistics, CountWhatTheThresholdsSay) {
  constexpr std::int64_t vectors = 43;
  for (const SplitForm form : {SplitForm::half_shifted, SplitForm::half_unshifted, SplitForm::tf32_shifted,
                               SplitForm::tf32_unshifted, SplitForm::bf16_three})
    for (const std::int64_t k : {100, 300, 1000, 2500, 6000, 20000}) {
      const cuda::SplitThresholds thresholds = cuda::split_thresholds(form, k);
      const Matrix<float> x = spread_vectors(vectors, k, thresholds), xt = stored(Op::transpose, x, 0);
      const MatrixOnDevice across(x), along(xt);
      const FloatVectors sources[2] = {{across.data(), vectors, k, 1, x.ld()}, {along.data(), vectors, k, xt.ld(), 1}};
      cuda::SplitJob jobs[2];
      const auto bytes = static_cast<std::size_t>(vectors * cuda::split_line_count(form, k) * split_line_bytes);
      const cuda::DeviceBuffer<std::byte> lines(2 * bytes);
      const cuda::DeviceBuffer<std::uint32_t> words(static_cast<std::size_t>(vectors) * 4);
      for (int i = 0; i < 2; ++i)
        jobs[i] = {
            sources[i],
            {lines.data() + static_cast<std::size_t>(i) * bytes, cuda::split_line_count(form, k),
             reinterpret_cast<std::int32_t*>(words.data()) + 2 * i * vectors, words.data() + (2 * i + 1) * vectors}};
      cuda::split_operands(form, jobs[0], jobs[1], {.judged = true}, nullptr);
      std::vector<std::uint32_t> got(words.size());
      check(cudaMemcpy(got.data(), words.data(), words.bytes(), cudaMemcpyDeviceToHost), "words");
      for (std::int64_t v = 0; v < vectors; ++v) {
        std::uint32_t largest = 0, expected = 0;
        for (std::int64_t l = 0; l < k; ++l) largest = std::max(largest, float_word(x(v, l)) & 0x7fffffffu);
        const int s = split_scale(largest);
        for (std::int64_t l = 0; l < k; ++l) {
          const float y = std::abs(SplitScale(s)(x(v, l)));
          expected += y >= thresholds.large;
          if (x(v, l) != 0 && y < thresholds.tiny) expected |= tiny_element;
        }
        for (std::int64_t i = 0; i < 2; ++i) {
          EXPECT_EQ(static_cast<std::int32_t>(got[static_cast<std::size_t>(2 * i * vectors + v)]), -s);
          EXPECT_EQ(got[static_cast<std::size_t>((2 * i + 1) * vectors + v)], expected)
              << "form " << static_cast<int>(form) << ", k " << k << ", vector " << v << ", contiguous " << i;
        }
      }
    }
}

// ---- batches --------------------------------------------------------------------------------------------------------

struct BatchCase {
  std::int64_t m, n, k, count;
  Op opa, opb;
};

TEST(SplitBatch, EveryProductEqualsTheModel) {
  for (const BatchCase& c : {BatchCase{64, 64, 64, 5, Op::none, Op::none},
                             {130, 70, 100, 4, Op::transpose, Op::none},
                             {33, 257, 90, 3, Op::none, Op::transpose},
                             {256, 128, 300, 7, Op::none, Op::none}}) {
    cuda::SplitGemmPlan plan = cuda::plan_split_gemm(c.m, c.n, c.k, c.count);
    const bool a_none = c.opa == Op::none, b_none = c.opb == Op::none;
    const std::int64_t gap = 12;
    const std::int64_t stride_a = c.m * c.k + gap, stride_b = c.k * c.n + 3 * gap, stride_c = c.m * c.n + 2 * gap;
    const Operands<float> x = sample(0, c.m, c.n * c.count, c.k), y = sample(2, c.m * c.count, c.n, c.k);
    Matrix<float> a(stride_a, c.count), b(stride_b, c.count), got(stride_c, c.count);
    for (std::int64_t i = 0; i < c.count; ++i) {
      for (std::int64_t l = 0; l < c.k; ++l) {
        for (std::int64_t r = 0; r < c.m; ++r) a(a_none ? r + l * c.m : l + r * c.k, i) = y.a(i * c.m + r, l);
        for (std::int64_t r = 0; r < c.n; ++r) b(b_none ? l + r * c.k : r + l * c.n, i) = x.b(l, i * c.n + r);
      }
    }
    const MatrixOnDevice da(a), db(b), dc(got);
    const auto first = cuda::split_operands_of(
        {c.opa, c.opb, c.m, c.n, c.k, nullptr, da.data(), a_none ? c.m : c.k, db.data(), b_none ? c.k : c.n});
    for (const std::int64_t at_once : {c.count, std::int64_t{2}}) {
      plan.at_once = at_once;
      const cuda::DeviceWorkspace workspace(4 * plan.workspace, nullptr);
      plan.workspace = workspace.bytes();
      cuda::split_gemm(plan, first.batch(c.count, stride_a, stride_b, stride_c), {{1, nullptr}, {0, nullptr}},
                       dc.data(), c.m, workspace.data(), nullptr);
      const std::string made = cuda::split_gemm_made(plan, workspace.data(), nullptr);
      dc.fetch(got);
      for (std::int64_t i = 0; i < c.count; ++i) {
        const auto ai = Matrix<float>::of(c.m, c.k, [&](auto r, auto l) { return y.a(i * c.m + r, l); });
        const auto bi = Matrix<float>::of(c.k, c.n, [&](auto l, auto r) { return x.b(l, i * c.n + r); });
        const auto ci = Matrix<float>::of(c.m, c.n, [&](auto r, auto j) { return got(r + j * c.m, i); });
        EXPECT_EQ(difference(ci, on_model(find_scheme(made), ai, bi)), "") << made << ", product " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, SplitKernelTest, testing::ValuesIn(cuda::split_kernel_schemes()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace vernier::test::split_gpu_test
