// Products by slices: what every mode promises, on modelled engines and on the fp64 product.
#include "vernier/slices.hpp"

#include "fixture.hpp"
#include "support/bound.hpp"
#include "support/boundaries.hpp"
#include "support/exact.hpp"
#include "vernier/model.hpp"

namespace vernier::test::slices_test {
namespace {

const char* const slice_engines[] = {"blas", "volta-fp16-fp32", "hopper-wgmma-fp16-fp32", "avx512-bf16", "nvidia-int8"};

template <class T>
struct Sliced {
  Matrix<T> c;
  SliceReport report;
};

template <class T>
Sliced<T> multiply(const Call<T>& call, const SliceOptions& options) {
  const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
  const Matrix<T> a = stored(call.opa, call.a, call.pad_a), b = stored(call.opb, call.b, call.pad_b);
  Sliced<T> out{call.c.rows() == m ? padded(call.c, call.pad_c) : Matrix<T>(m, n, call.pad_c), {}};
  out.report = gemm_by_slices(call.opa, call.opb, m, n, k, call.alpha, a.data(), a.ld(), b.data(), b.ld(), call.beta,
                              out.c.data(), out.c.ld(), options);
  EXPECT_EQ(out.c.broken_guard(), "");
  return out;
}

SliceOptions on(const std::string& engine, SliceMode mode = SliceMode::working_precision) {
  return {.mode = mode, .engine = engine};
}

class Slices : public testing::TestWithParam<Type> {};
INSTANTIATE_TEST_SUITE_P(Types, Slices, testing::Values(Type::float32, Type::float64), ReadableName());

TEST_P(Slices, CorrectlyRoundedIsWhatItSaysOnEveryEngine) {
  with_type(GetParam(), []<class T>(T) {
    for (const char* engine : slice_engines)
      for (const std::string family : {"random_phi_0_1", "random_phi_1", "random_phi_2", "cancelling", "integers",
                                       "near_overflow", "subnormal_products", "zero_lines", "largest_numbers"}) {
        const auto [a, b] = make_operands<T>(family, 21, 23, 40, 51);
        const auto out = multiply<T>({.a = a, .b = b}, on(engine, SliceMode::correctly_rounded));
        EXPECT_EQ(difference(out.c, ExactProduct<T>(a, b).rounded()), "") << engine << ", " << family;
        EXPECT_EQ(out.report.products, out.report.slices_a * out.report.slices_b);
        EXPECT_FALSE(out.report.fast);
      }
    for (const std::string& family : boundary_families()) {
      const auto [a, b] = make_boundary_operands<T>(family, 12, 10, 24, 52);
      const auto out = multiply<T>({.a = a, .b = b}, on("volta-fp16-fp32", SliceMode::correctly_rounded));
      EXPECT_EQ(difference(out.c, ExactProduct<T>(a, b).rounded()), "") << family;
    }
  });
}

TEST_P(Slices, CorrectlyRoundedIncludesAlphaAndBetaAndEqualsTheContract) {
  with_type(GetParam(), []<class T>(T) {
    auto [a, b] = make_operands<T>("random_phi_1", 40, 37, 50, 53);
    a(3, 4) = std::numeric_limits<T>::quiet_NaN(), b(7, 8) = std::numeric_limits<T>::infinity();
    const auto c = scattered_matrix<T>(40, 37, 1, 54);
    const Call<T> call{.a = a, .b = b, .opb = Op::transpose, .alpha = T{1} / 3, .beta = T{0.7f}, .c = c};
    const auto out = multiply(call, on("avx512-bf16", SliceMode::correctly_rounded));
    EXPECT_EQ(difference_but_for_nans(out.c, multiply(call, Options{.contract = Contract::exact()}).c), "");
  });
}

TEST_P(Slices, WorkingPrecisionIsAsGoodAsAConventionalProduct) {
  with_type(GetParam(), []<class T>(T) {
    const Contract promise = sizeof(T) == 4 ? Contract::fp32() : Contract::fp64();
    for (const char* engine : slice_engines)
      for (const std::string family : {"random_phi_0_1", "random_phi_1", "random_phi_2", "positive"}) {
        const auto [a, b] = make_operands<T>(family, 30, 33, 64, 55);
        const auto out = multiply<T>({.a = a, .b = b}, on(engine));
        EXPECT_EQ(broken_bound(promise, a, b, out.c), "") << engine << ", " << family;
        EXPECT_EQ(out.report.mode, sizeof(T) == 4 ? "SP" : "DP");
      }
  });
}

TEST_P(Slices, BitsComeFromTheEngine) {
  with_type(GetParam(), []<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_1", 5, 6, 200, 56);
    for (const char* engine : slice_engines)
      for (const std::int64_t k_block : {0, 64}) {
        SliceOptions options = on(engine);
        options.k_block = k_block;
        const int bits = multiply<T>({.a = a, .b = b}, options).report.bits;
        const std::int64_t k = k_block == 0 ? 200 : k_block;
        if (std::string(engine) == "blas")
          EXPECT_EQ(bits, 22 + (k == 64 ? 1 : 0));  // k 2^(2 bits) <= 2^53
        else
          EXPECT_EQ(bits, model::exact_bits(model::find_engine(engine).engine, k)) << engine;
      }
  });
}

TEST_P(Slices, FastModeTakesATriangleOfProducts) {
  with_type(GetParam(), []<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_2", 20, 20, 100, 57);
    SliceOptions options = on("volta-fp16-fp32");
    const SliceReport fast = multiply<T>({.a = a, .b = b}, options).report;
    ASSERT_TRUE(fast.fast);
    const int d = fast.slices_a;
    EXPECT_EQ(fast.slices_b, d);
    EXPECT_EQ(fast.products, d * (d + 1) / 2);
    EXPECT_EQ(fast.multiplied + fast.skipped, fast.products);
    EXPECT_LE(std::max(fast.left_a, fast.left_b), 10 * std::ldexp(1.0, -std::numeric_limits<T>::digits));
    options.slices = d - 1;  // one less keeps the estimate no more
    const SliceReport fewer = multiply<T>({.a = a, .b = b}, options).report;
    EXPECT_GT(std::max(fewer.left_a, fewer.left_b), 10 * std::ldexp(1.0, -std::numeric_limits<T>::digits));
    options.slices = 0;
    options.all_products = true;
    EXPECT_EQ(multiply<T>({.a = a, .b = b}, options).report.products, d * d);
  });
}

// More slices with wider exponents, as the paper finds.
TEST_P(Slices, WiderExponentsTakeMoreSlices) {
  with_type(GetParam(), []<class T>(T) {
    for (const SliceMode mode : {SliceMode::working_precision, SliceMode::correctly_rounded}) {
      int before = 0;
      for (const double phi : {0.1, 1.0, 2.0}) {
        const auto a = scattered_matrix<T>(40, 256, phi, 58), b = scattered_matrix<T>(256, 40, phi, 59);
        const SliceReport r = multiply<T>({.a = a, .b = b}, on("volta-fp16-fp32", mode)).report;
        EXPECT_EQ(r.bits, 8);
        EXPECT_GE(r.slices_a, before);
        before = r.slices_a;
      }
    }
  });
}

TEST_P(Slices, HaveTheSameBitsForEveryBlockLayoutAndEngineOfAsManyBits) {
  with_type(GetParam(), []<class T>(T) {
    const auto [a, b] = make_operands<T>("random_phi_1", 70, 75, 60, 60);
    SliceOptions options = on("volta-fp16-fp32");
    const auto expected = multiply<T>({.a = a, .b = b}, options);
    EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options).c, expected.c), "");
    for (const Op op : all_ops) {
      options.block = op == Op::none ? 32 : 64;
      EXPECT_EQ(difference(multiply<T>({.a = a, .b = b, .opa = op, .opb = op}, options).c, expected.c), "");
    }
    for (const char* engine : {"ampere-fp16-fp32", "hopper-wgmma-fp16-fp32"}) {
      const auto other = multiply<T>({.a = a, .b = b}, on(engine));
      ASSERT_EQ(other.report.bits, expected.report.bits);
      EXPECT_EQ(difference(other.c, expected.c), "") << engine;
    }
  });
}

TEST_P(Slices, SkipBlocksOfZeros) {
  with_type(GetParam(), []<class T>(T) {
    auto [a, b] = make_operands<T>("random_phi_1", 64, 64, 64, 62);
    for (std::int64_t i = 0; i < 32; ++i)
      for (std::int64_t l = 0; l < 64; ++l) a(i, l) = 0;
    SliceOptions options = on("blas", SliceMode::correctly_rounded);
    options.block = 32;
    const auto out = multiply<T>({.a = a, .b = b}, options);
    EXPECT_GE(out.report.skipped, 2 * out.report.products);
    EXPECT_EQ(out.report.skipped + out.report.multiplied, 4 * out.report.products);
    EXPECT_EQ(difference(out.c, ExactProduct<T>(a, b).rounded()), "");
  });
}

TEST_P(Slices, ArgumentsAreChecked) {
  with_type(GetParam(), []<class T>(T) {
    T x[4] = {1, 2, 3, 4}, c[4] = {5, 6, 7, 8};
    const auto call = [&](const SliceOptions& options, std::int64_t lda = 2) {
      gemm_by_slices<T>(Op::none, Op::none, 2, 2, 2, 1, x, lda, x, 2, 0, c, 2, options);
    };
    EXPECT_THROW(call({}, 1), Error);
    EXPECT_THROW(call({.engine = "none-such"}), Error);
    EXPECT_THROW(call({.engine = "avx512-vnni"}), Error);  // unsigned inputs
    EXPECT_THROW(call({.mode = SliceMode::correctly_rounded, .slices = 3}), Error);
    EXPECT_THROW(call({.slices = -1}), Error);
    EXPECT_EQ(c[0], 5);
    call({});
    EXPECT_EQ(c[0], 7);
    EXPECT_EQ(c[3], 22);
  });
}

}  // namespace
}  // namespace vernier::test::slices_test
