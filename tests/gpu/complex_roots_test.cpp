// Complex products by two residue products modulo each p: with a host that waits, without, and replayed from a graph,
// beside sums in long double.
#include <cmath>
#include <complex>
#include <vector>

#include "gpu/engines.hpp"
#include "gpu/on_device.hpp"
#include "product/arguments.hpp"
#include "product/device_memory.hpp"
#include "residue/choice.hpp"
#include "residue/gemm_cuda.hpp"
#include "support/random.hpp"

namespace vernier::test::complex_roots_test {
namespace {

using Complex = std::complex<double>;
using Wide = std::complex<long double>;

constexpr std::int64_t m = 130, n = 70, k = 200;

enum class Data { even, wide, special };

std::vector<Complex> random_numbers(std::int64_t count, Data data, unsigned seed) {
  Random random(seed);
  std::vector<Complex> x(static_cast<std::size_t>(count));
  for (Complex& e : x) {
    const double scale = data == Data::wide ? std::ldexp(1.0, static_cast<int>(200 * random.uniform()) - 100) : 1;
    e = {scale * (random.uniform() - 0.5), scale * (random.uniform() - 0.5)};
  }
  if (data == Data::special) x[x.size() / 2] = {INFINITY, 1};
  return x;
}

struct ComplexRoots : testing::Test {
  Op opa = Op::none, opb = Op::none;
  Complex alpha = 1, beta = 0;
  std::vector<Complex> a, b, c;

  void SetUp() override {
    if (engine().form() != ByteForm::natural) GTEST_SKIP() << "engine " << engine().name() << " takes other bytes";
  }

  static const cuda::DeviceInt8Engine& engine() { return cuda::find_device_int8_engine(usual_engine()); }

  void fill(Data data, unsigned seed) {
    a = random_numbers(m * k, data, seed);
    b = random_numbers(k * n, Data::even, seed + 1);
    c = random_numbers(m * n, Data::even, seed + 2);
  }

  static Complex element(const std::vector<Complex>& x, Op op, std::int64_t rows, std::int64_t columns, std::int64_t i,
                         std::int64_t j) {
    const Complex z =
        op == Op::none ? x[static_cast<std::size_t>(i + j * rows)] : x[static_cast<std::size_t>(j + i * columns)];
    return op == Op::conjugate_transpose ? std::conj(z) : z;
  }

  // Each entry of C beside its sum in long double; entries that are not finite there must not be finite here.
  void expect_accurate(const std::vector<Complex>& got) const {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        Wide sum = 0;
        long double sizes = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const Complex x = element(a, opa, m, k, i, l), y = element(b, opb, k, n, l, j);
          sum += Wide(x) * Wide(y);
          sizes += std::abs(Wide(x)) * std::abs(Wide(y));
        }
        const Complex out = got[static_cast<std::size_t>(i + j * m)], before = c[static_cast<std::size_t>(i + j * m)];
        if (!std::isfinite(sizes)) {
          EXPECT_FALSE(std::isfinite(std::abs(out))) << i << ", " << j;
          continue;
        }
        const Wide exact = Wide(alpha) * sum + (beta == 0.0 ? Wide(0) : Wide(beta) * Wide(before));
        const long double bound = 0x1p-53L * (k * std::abs(Wide(alpha)) * sizes + 8 * std::abs(exact) +
                                              8 * std::abs(Wide(beta)) * std::abs(Wide(before)));
        ASSERT_LE(std::abs(Wide(out) - exact), bound) << i << ", " << j;
      }
  }

  // The operands in device memory, and the workspace.
  class Call {
   public:
    Call(const ComplexRoots& t, const cuda::Options& options)
        : a(t.a), b(t.b), c(t.c), t_(t), options_(options), plan_(plan_of(t, options)), memory_(plan_.bytes, nullptr) {}

    bool multiply() const {
      const cuda::DeviceComplexProblem<double> problem{
          t_.opa,   t_.opb,   m, n, k, &t_.alpha, a.data(), lead(t_.opa, m, k), b.data(), lead(t_.opb, k, n),
          &t_.beta, c.data(), m};
      return cuda::complex_residue_gemm(plan_, engine(), problem, options_, memory_.data());
    }

    const OnDevice<Complex> a, b, c;

   private:
    static std::int64_t lead(Op op, std::int64_t rows, std::int64_t columns) { return op == Op::none ? rows : columns; }
    static DeviceComplexPlan plan_of(const ComplexRoots& t, const cuda::Options& options) {
      const bool keep_t = t.alpha.imag() != 0 || t.beta.imag() != 0;
      return plan_device_complex<double>({m, n, k}, t.opa, t.opb, keep_t, options.contract, cuda::limits_of(engine()))
          .value();
    }

    const ComplexRoots& t_;
    cuda::Options options_;
    DeviceComplexPlan plan_;
    cuda::DeviceWorkspace memory_;
  };

  template <class Body>
  void for_all_transpositions(const Body& body) {
    for (const Op a : {Op::none, Op::transpose, Op::conjugate_transpose})
      for (const Op b : {Op::none, Op::transpose, Op::conjugate_transpose}) {
        opa = a, opb = b;
        SCOPED_TRACE(testing::Message() << "op " << static_cast<int>(a) << ", " << static_cast<int>(b));
        body();
      }
  }
};

TEST_F(ComplexRoots, RegularProductsHaveOneResultWithAndWithoutAHost) {
  for (const Complex factor : {Complex(1), Complex(0.5, -2)}) {
    alpha = factor, beta = factor == 1.0 ? Complex(-0.7) : Complex(1, 0.25);
    for_all_transpositions([&] {
      fill(Data::even, 1);
      const Call waits(*this, {.contract = Contract::fp64()}),
          alone(*this, {.contract = Contract::fp64(), .asynchronous = true});
      EXPECT_TRUE(waits.multiply());
      EXPECT_TRUE(alone.multiply());
      expect_accurate(waits.c.read());
      EXPECT_TRUE(alone.c.has(waits.c.read()));
    });
  }
}

TEST_F(ComplexRoots, OtherProductsGoConventionallyWithoutAHost) {
  for (const Complex factor : {Complex(1), Complex(0.5, -2)}) {
    alpha = factor, beta = factor == 1.0 ? Complex(0) : Complex(1, 0.25);
    for (const Data data : {Data::wide, Data::special})
      for_all_transpositions([&] {
        fill(data, 4);
        const Call waits(*this, {.contract = Contract::fp64()});
        EXPECT_FALSE(waits.multiply());
        EXPECT_TRUE(waits.c.has(c));
        const OnDevice<cuda::Outcome> outcome(std::vector<cuda::Outcome>(1));
        const Call alone(*this, {.contract = Contract::fp64(), .asynchronous = true, .outcome = outcome.data()});
        EXPECT_TRUE(alone.multiply());
        expect_accurate(alone.c.read());
        Report report;
        report.plan.scheme = "residues";
        cuda::complete_report(report, outcome.read()[0]);
        EXPECT_TRUE(report.fallback);
        EXPECT_EQ(report.plan.scheme, "native");
      });
  }
}

// By the real product of doubled matrices, since the roots keep no bits; then C is the last that is written.
TEST_F(ComplexRoots, DataTooWideForTheContractLeaveCAlone) {
  for (const Complex factor : {Complex(1), Complex(0.5, -2)})
    for (const bool too_wide : {true, false}) {
      alpha = factor, beta = factor == 1.0 ? Complex(-0.7) : Complex(1, 0.25);
      fill(Data::even, 13);
      for (std::int64_t l = 0; l < k && too_wide; ++l) {
        const double one = std::ldexp(1.0, l % 2 == 0 ? 400 : -400);
        for (std::int64_t i = 0; i < m; ++i) a[static_cast<std::size_t>(i + l * m)] *= one;
        for (std::int64_t j = 0; j < n; ++j) b[static_cast<std::size_t>(l + j * k)] /= one;
      }
      const OnDevice<Complex> da(a), db(b), dc(c);
      const OnDevice<cuda::Outcome> outcome(std::vector<cuda::Outcome>(1));
      Report report = cuda::gemm(Op::none, Op::none, m, n, k, &alpha, da.data(), m, db.data(), k, &beta, dc.data(), m,
                                 {.contract = Contract::parse("fp64+reproducible"),
                                  .engine = usual_engine(),
                                  .asynchronous = true,
                                  .outcome = outcome.data()});
      cuda::check(cudaDeviceSynchronize(), "gemm");
      if (too_wide) {
        EXPECT_TRUE(dc.has(c)) << factor;
        EXPECT_THROW(cuda::complete_report(report, outcome.read()[0]), Error);
      } else {
        cuda::complete_report(report, outcome.read()[0]);
        gemm<Complex>(Op::none, Op::none, m, n, k, alpha, a.data(), m, b.data(), k, beta, c.data(), m,
                      {.contract = Contract::parse("fp64+reproducible")});
        EXPECT_TRUE(dc.has(c)) << factor;
      }
    }
}

TEST_F(ComplexRoots, AGraphFollowsItsData) {
  fill(Data::even, 7);
  const cuda::Stream stream;
  const Call call(*this, {.contract = Contract::fp64(), .stream = stream});
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  EXPECT_TRUE(call.multiply());
  cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
  cuda::check(cudaGraphInstantiate(&executable, graph, 0), "graph");
  for (const Data data : {Data::even, Data::wide, Data::even, Data::special}) {
    fill(data, 10 + static_cast<unsigned>(data));
    cuda::copy_to_device(call.a.data(), a.data(), a.size() * sizeof(Complex));
    cuda::copy_to_device(call.b.data(), b.data(), b.size() * sizeof(Complex));
    cuda::check(cudaGraphLaunch(executable, stream), "graph");
    stream.wait();
    expect_accurate(call.c.read());
  }
  (void)cudaGraphExecDestroy(executable);
  (void)cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace vernier::test::complex_roots_test
