// Products about which the device decides, asynchronous or replayed from a graph: scales, bits, and what is told later.
#include "engine/entry_filter.hpp"
#include "engine/panel.hpp"
#include "gpu/captured.hpp"
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "gpu/on_device.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/scale/route_choice.hpp"
#include "support/bound.hpp"

namespace vernier::test::route_test {
namespace {

// ---- the choice --------------------------------------------------------------------------------------------------

template <class V>
cuda::DeviceBuffer<V> upload(const std::vector<V>& x) {
  cuda::DeviceBuffer<V> copy(x.size());
  cuda::check(cudaMemcpy(copy.data(), x.data(), copy.bytes(), cudaMemcpyHostToDevice), "upload");
  return copy;
}

template <class V>
std::vector<V> download(const cuda::DeviceBuffer<V>& x) {
  std::vector<V> copy(x.size());
  cuda::check(cudaMemcpy(copy.data(), x.data(), x.bytes(), cudaMemcpyDeviceToHost), "download");
  return copy;
}

struct ChosenSide {
  cuda::DeviceBuffer<VectorStatistics> statistics;
  cuda::DeviceBuffer<unsigned> costs;
  cuda::DeviceBuffer<VectorProof> kinds;
  cuda::DeviceBuffer<int> ordinary, wide;
  cuda::DeviceBuffer<unsigned> groups;

  ChosenSide(const std::vector<VectorStatistics>& s, const std::vector<std::uint8_t>& c)
      : statistics(upload(s)),
        costs(upload(std::vector<unsigned>(c.begin(), c.end()))),
        kinds(s.size()),
        ordinary(s.size()),
        wide(s.size()),
        groups(static_cast<std::size_t>(divide_up(static_cast<std::int64_t>(s.size()), EntryFilter::group))) {}

  cuda::RouteOperand operand() const {
    return {statistics.data(),
            costs.size() != 0 ? costs.data() : nullptr,
            static_cast<std::int64_t>(statistics.size()),
            kinds.data(),
            ordinary.data(),
            wide.data(),
            groups.data()};
  }
};

void expect_scales(const ChosenSide& have, const std::vector<VectorProof>& want, const std::string& where) {
  const auto kinds = download(have.kinds);
  const auto ordinary = download(have.ordinary), wide = download(have.wide);
  for (std::size_t v = 0; v < want.size(); ++v) {
    ASSERT_EQ(kinds[v].proofs, want[v].proofs) << where << ", vector " << v;
    ASSERT_EQ(ordinary[v], want[v].ordinary) << where << ", vector " << v;
    ASSERT_EQ(wide[v], want[v].wide) << where << ", vector " << v;
  }
  std::vector<unsigned> sets(have.groups.size());
  for (std::size_t v = 0; v < want.size(); ++v) sets[v / EntryFilter::group] |= 1u << want[v].proofs;
  EXPECT_EQ(download(have.groups), sets) << where;
}

// Scales, and a number of moduli that is enough and no more than the next class.
void the_choice_is_that_of_the_host(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k,
                                    bool with_costs) {
  const auto [a, b] = make_operands<double>(family, m, n, k, 7);
  const Matrix<double> turned = stored(Op::transpose, a, 0);
  std::vector<VectorStatistics> rows, columns;
  for (std::int64_t i = 0; i < m; ++i) rows.push_back(vector_statistics(&turned(0, i), 1, k));
  for (std::int64_t j = 0; j < n; ++j) columns.push_back(vector_statistics(&b(0, j), 1, k));
  std::vector<std::uint8_t> row_costs, column_costs;
  Random random(3);
  if (with_costs) {
    for (std::int64_t i = 0; i < m; ++i) row_costs.push_back(static_cast<std::uint8_t>(random.integer(0, 40)));
    for (std::int64_t j = 0; j < n; ++j) column_costs.push_back(random.integer(0, 9) == 0 ? no_cost : 13);
  }
  const ScalingRule rule = scaling_rule<double>(Contract::fp64(), k);
  std::vector<VectorProof> row_scales(rows.size()), column_scales(columns.size());
  const Scaling want = choose_scales(rule, k, rows, columns, row_scales, column_scales, {row_costs, column_costs});
  const ChosenSide x(rows, row_costs), y(columns, column_costs);
  cuda::RouteClasses classes{.count = 3, .moduli = {19, 26, 49}};
  for (int c = 0; c < 3; ++c) classes.log2_bound[c] = log2_bound_of(classes.moduli[c]);
  const auto route = upload(std::vector<cuda::DeviceRoute>{{.irregular = 1, .spanned = 1, .native = 1}});
  cuda::choose_route_on_device({.chooser = ScaleChooser(rule, k),
                                .k = k,
                                .operand = {x.operand(), y.operand()},
                                .route = route.data(),
                                .ordinary_moduli = 15,
                                .classes = classes},
                               nullptr);
  const std::string where = family + (with_costs ? " with costs" : "");
  expect_scales(x, row_scales, where + ", rows");
  expect_scales(y, column_scales, where + ", columns");
  const cuda::DeviceRoute got = download(route)[0];
  const int needed = want.any_wide ? moduli_for(want.wide_log2) : 0;
  EXPECT_EQ(got.ordinary, want.any_ordinary ? 15 : 0) << where;
  EXPECT_EQ(got.uniform, want.any_ordinary && !want.any_wide ? 1 : 0) << where;
  EXPECT_EQ(got.wide, needed == 0 ? 0 : needed <= 19 ? 19 : needed <= 26 ? 26 : 49) << where;
  EXPECT_EQ(got.native + got.unmet + got.spanned, 0) << where;
  EXPECT_EQ(got.any_ordinary != 0, want.any_ordinary) << where;
  EXPECT_EQ(got.any_wide != 0, want.any_wide) << where;
  EXPECT_EQ(got.wide_vectors[0], want.wide_rows) << where;
  EXPECT_EQ(got.wide_vectors[1], want.wide_columns) << where;
  EXPECT_EQ(got.wide_exponent, want.wide_exponent) << where;
  EXPECT_GE(got.wide_log2, want.wide_log2 - 1e-12) << where;  // no less, but for rounding
  EXPECT_LE(got.wide_log2, want.wide_log2 + 0x1p-18) << where;
  int span = 0;
  for (const VectorStatistics& v : rows) span = std::max(span, v.span());
  EXPECT_EQ(got.span[0], span) << where;
  if (needed != 0) {
    EXPECT_EQ(got.conversion, cuda::conversion_of(got.wide, want.wide_exponent <= largest_exponent(2) ? 4 : 6))
        << where;
  }
}

TEST(RouteOnGpu, IsChosenAsOnTheHost) {
  for (const std::string& family : operand_families())
    for (const bool with_costs : {false, true}) {
      the_choice_is_that_of_the_host(family, 70, 1300, 140, with_costs);
      the_choice_is_that_of_the_host(family, 33, 20, 2100, with_costs);
    }
}

// ---- products ----------------------------------------------------------------------------------------------------

struct PinnedOutcome {
  cuda::Outcome* words = nullptr;
  PinnedOutcome() { cuda::check(cudaMallocHost(reinterpret_cast<void**>(&words), sizeof *words), "outcome"); }
  ~PinnedOutcome() { (void)cudaFreeHost(words); }
  PinnedOutcome(const PinnedOutcome&) = delete;
  PinnedOutcome& operator=(const PinnedOutcome&) = delete;
};

template <class T>
std::vector<Contract> contracts() {
  return {Contract::fp64(), Contract::fp32(), Contract::bits(16), Contract::bits(70)};
}

TEST(AsynchronousOnGpu, ProductsHaveTheBitsOfTheCpu) {
  const PinnedOutcome outcome;
  const auto check = [&]<class T>(T) {
    for (const std::string& family : operand_families())
      for (const Contract& contract : contracts<T>()) {
        const auto [a, b] = make_operands<T>(family, 150, 67, 330, 43);
        const Call<T> call{.a = a, .b = b, .opb = Op::transpose};
        const cuda::Options options{.contract = reproducible(contract),
                                    .engine = usual_engine(),
                                    .asynchronous = true,
                                    .outcome = outcome.words};
        auto out = multiply_on_gpu(call, options);
        cuda::complete_report(out.report, *outcome.words);
        EXPECT_EQ(difference_but_for_nans(out.c, on_cpu(call, contract)), "")
            << family << ", " << contract.text() << ", sizeof(T) = " << sizeof(T);
        EXPECT_FALSE(out.report.fallback);
      }
  };
  check(double{});
  check(float{});
}

TEST(AsynchronousOnGpu, ProductsInBlocksAndWithNanToo) {
  const PinnedOutcome outcome;
  for (const char* family : {"random_phi_0_5", "wide_row_against_wide_column", "random_phi_4"})
    for (const int strassen : {0, 1})
      for (const bool special : {false, true}) {
        auto [a, b] = make_operands<double>(family, 900, 1000, 300, 11);
        if (special) a(7, 9) = std::numeric_limits<double>::quiet_NaN(), b(11, 13) = HUGE_VAL;
        const Call<double> call{.a = a, .b = b, .opa = Op::transpose, .alpha = 0.3};
        cuda::Options options{.contract = reproducible(Contract::fp64()),
                              .asynchronous = true,
                              .outcome = outcome.words,
                              .strassen_levels = strassen};
        const std::size_t least = cuda::gemm_workspace<double>(900, 1000, 300, options, true);
        for (const std::size_t limit : {std::size_t{0}, least}) {
          options.workspace_limit = limit;
          auto out = multiply_on_gpu(call, options);
          cuda::complete_report(out.report, *outcome.words);
          EXPECT_EQ(difference_but_for_nans(out.c, on_cpu(call, Contract::fp64())), "")
              << family << ", limit " << limit << ", special values: " << special << ", Strassen " << strassen;
        }
      }
}

// Where nothing else may: C stays as it was, and the outcome tells.
TEST(AsynchronousOnGpu, DataTooWideForTheContractLeaveCAlone) {
  const PinnedOutcome outcome;
  Matrix<double> a = scattered_matrix<double>(40, 200, 0.5, 1), b = scattered_matrix<double>(200, 30, 0.5, 2);
  for (std::int64_t l = 0; l < 200; ++l)
    for (std::int64_t i = 0; i < 40; ++i)
      a(i, l) = std::ldexp(a(i, l), (l % 2 == 0 ? 400 : -400) + static_cast<int>(i % 3));
  for (std::int64_t l = 0; l < 200; ++l)
    for (std::int64_t j = 0; j < 30; ++j) b(l, j) = std::ldexp(b(l, j), l % 2 == 0 ? -400 : 400);
  const Call<double> call{.a = a, .b = b, .beta = 2, .c = scattered_matrix<double>(40, 30, 0.5, 3)};
  cuda::Options options{.contract = reproducible(Contract::fp64()), .asynchronous = true, .outcome = outcome.words};
  auto out = multiply_on_gpu(call, options);
  EXPECT_EQ(difference(out.c, padded(call.c, call.pad_c)), "");
  EXPECT_THROW(cuda::complete_report(out.report, *outcome.words), Error);
  options.contract = Contract::fp64();
  options.engine = usual_engine();
  out = multiply_on_gpu(call, options);
  cuda::complete_report(out.report, *outcome.words);
  EXPECT_TRUE(out.report.fallback);
  EXPECT_EQ(out.report.plan.scheme, "native");
  options.contract = reproducible(Contract::fp64());
  options.outcome = nullptr;
  EXPECT_THROW(multiply_on_gpu(call, options), Error);
}

// ---- graphs ------------------------------------------------------------------------------------------------------

// Under the default contract, which may go to cuBLAS.
TEST(PausesOnGpu, FollowVainAttemptsOfOneShapeOnOneStream) {
  constexpr std::int64_t n = 2304;
  const DeviceCopy<double> even(scattered_matrix<double>(n, n, 0.5, 1)), wide(scattered_matrix<double>(n, n, 2, 2)),
      c(Matrix<double>(n, n));
  const cuda::Stream stream, other;
  const auto scheme_of = [&](std::int64_t m, const DeviceCopy<double>& a, cudaStream_t on) {
    const double one = 1, zero = 0;
    const Report report = cuda::gemm(Op::none, Op::none, m, n, n, &one, a.data(), n, even.data(), n, &zero, c.data(), n,
                                     {.contract = Contract::fp64(), .stream = on});
    EXPECT_EQ(report.fallback, report.plan.scheme == "native") << report.text();
    return report.plan.scheme;
  };
  if (cuda::explain<double>(Op::none, Op::none, n, n, n, {.contract = Contract::fp64()}).scheme == "native")
    GTEST_SKIP() << "cuBLAS is faster than the engine " << usual_engine();
  EXPECT_EQ(scheme_of(n, even, stream), "residues");
  for (const int pause : {4, 16}) {
    EXPECT_EQ(scheme_of(n, wide, stream), "native");
    EXPECT_EQ(scheme_of(n, even, other), "residues");
    EXPECT_EQ(scheme_of(n - 128, even, stream), "residues");
    for (int i = 0; i < pause; ++i) EXPECT_EQ(scheme_of(n, even, stream), "native") << pause << ", " << i;
  }
  EXPECT_EQ(scheme_of(n, even, stream), "residues");
  EXPECT_EQ(scheme_of(n, even, stream), "residues");
  stream.wait();
  other.wait();
}

// Of callers with a cuBLAS of their own: C stays as it is; attempts pause as ever.
template <class T>
void fallbacks_are_left(std::int64_t n) {
  if (cuda::explain<T>(Op::none, Op::none, n, n, n, {.contract = Contract::fp64()}).scheme == "native")
    GTEST_SKIP() << "cuBLAS is faster than the engine " << usual_engine();
  std::vector<T> a;  // elements fall off from the diagonal, beyond all scales
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      a.push_back(
          T(std::ldexp(1 + static_cast<double>((7 * i + 3 * j) % 11) / 16, -static_cast<int>(std::abs(i - j) / 2))));
  const OnDevice<T> wide(a), c(a);
  const cuda::Stream stream;
  const T one = 1;
  const auto multiply = [&](auto gemm) {
    return gemm(Op::none, Op::none, n, n, n, &one, wide.data(), n, wide.data(), n, &one, c.data(), n,
                cuda::Options{.contract = Contract::fp64(), .stream = stream});
  };
  const auto unless_wide = [](auto... p) { return cuda::gemm_unless_wide<T>(p...); };
  for (int call = 0; call < 3; ++call) {
    try {
      multiply(unless_wide);
      FAIL() << "call " << call << " was made";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::bound_not_met) << error.what();
    }
    stream.wait();
    EXPECT_TRUE(c.has(a)) << call;
  }
  EXPECT_EQ(multiply([](auto... p) { return cuda::gemm<T>(p...); }).plan.scheme, "native");
  stream.wait();
  EXPECT_FALSE(c.has(a));
}

TEST(PausesOnGpu, FallbacksAreLeftToCallersThatAsk) { fallbacks_are_left<double>(2304); }
TEST(PausesOnGpu, ComplexFallbacksAreLeftToCallersThatAsk) { fallbacks_are_left<std::complex<double>>(2048); }

// broken_bound of the last rows and columns.
std::string broken_corner(const Contract& contract, const Matrix<double>& a, const Matrix<double>& b,
                          const Matrix<double>& c) {
  constexpr std::int64_t size = 6;
  const std::int64_t i0 = c.rows() - size, j0 = c.columns() - size;
  const auto part = [](const Matrix<double>& x, std::int64_t rows, std::int64_t columns, std::int64_t i,
                       std::int64_t j) {
    return Matrix<double>::of(rows, columns, [&](auto r, auto s) { return x(i + r, j + s); });
  };
  return broken_bound(contract, part(a, size, a.columns(), i0, 0), part(b, b.rows(), size, 0, j0),
                      part(c, size, size, i0, j0));
}

// One graph, data of one kind after the other: the bits of the call that waits, its bound where that may have guessed.
void replays_follow_the_data(const Contract& contract, const std::string& engine, std::int64_t n) {
  const PinnedOutcome outcome;
  const std::vector<std::string> families = {"random_phi_0_5", "random_phi_4", "wide_row", "random_phi_1",
                                             "random_phi_0_5"};
  Call<double> call;
  std::tie(call.a, call.b) = [&] {
    auto x = make_operands<double>(families[0], n, n, n, 1);
    return std::pair{x.a, x.b};
  }();
  const DeviceCopy<double> a(call.a), b(call.b);
  Matrix<double> c(n, n), direct(n, n);
  const DeviceCopy<double> device_c(c), direct_c(direct);
  const cuda::Stream stream;
  cuda::Options options{.contract = contract, .engine = engine, .stream = stream, .outcome = outcome.words};
  const double one = 1, zero = 0;
  Report report;
  const CapturedProduct graph(stream, [&] {
    report =
        cuda::gemm(Op::none, Op::none, n, n, n, &one, a.data(), n, b.data(), n, &zero, device_c.data(), n, options);
  });
  options.asynchronous = true;
  for (const std::string& family : families) {
    auto x = make_operands<double>(family, n, n, n, 5);
    overwrite(a, x.a);
    overwrite(b, x.b);
    graph.replay(stream);
    Report after = report;
    cuda::complete_report(after, *outcome.words);
    device_c.read(c);
    cuda::gemm(Op::none, Op::none, n, n, n, &one, a.data(), n, b.data(), n, &zero, direct_c.data(), n, options);
    stream.wait();
    direct_c.read(direct);
    if (contract.reproducible) {
      EXPECT_EQ(difference(c, direct), "") << family << ", asynchronous, n = " << n;
    } else {  // by then products that were waited for may have left a guess
      EXPECT_EQ(broken_corner(contract, x.a, x.b, c), "") << family << ", replayed, n = " << n;
      EXPECT_EQ(broken_corner(contract, x.a, x.b, direct), "") << family << ", asynchronous, n = " << n;
    }
    cuda::Options waiting = options;
    waiting.asynchronous = false;
    waiting.outcome = nullptr;
    const auto wait_for_product = [&] {
      const Report made =
          cuda::gemm(Op::none, Op::none, n, n, n, &one, a.data(), n, b.data(), n, &zero, direct_c.data(), n, waiting);
      stream.wait();
      return made;
    };
    Report plain = wait_for_product();
    if (!after.fallback) {
      if (plain.plan.scheme == "native") {  // cuBLAS was faster; the conventional kernel of a graph was not
        waiting.engine = usual_engine();
        plain = wait_for_product();
      }
      if (plain.bounded) {
        EXPECT_LE(plain.plan.moduli, std::max(after.plan.moduli, after.wide_moduli)) << family;
        continue;
      }
      if (plain.plan.moduli > after.plan.moduli) {  // residues by guessed scales, after irregular products
        if (cuda::takes_hopper_kernels()) {
          EXPECT_LE(plain.plan.moduli, 18) << family;
        }
        direct_c.read(direct);
        EXPECT_EQ(broken_corner(contract, x.a, x.b, direct), "") << family << ", the call that waits, n = " << n;
        continue;
      }
      direct_c.read(direct);
      if (contract.reproducible || &family == &families.front())
        EXPECT_EQ(difference(c, direct), "") << family << ", the call that waits, n = " << n;
      else  // after an irregular product, by a guess: scales of unequal shares
        EXPECT_EQ(broken_corner(contract, x.a, x.b, direct), "") << family << ", the call that waits, n = " << n;
      EXPECT_EQ(after.plan.moduli, plain.wide_moduli == plain.plan.moduli ? after.wide_moduli : plain.plan.moduli)
          << family;
      EXPECT_GE(after.wide_moduli, plain.wide_moduli) << family;
    } else {
      EXPECT_TRUE(plain.bounded || plain.fallback || plain.plan.scheme == "native") << family << ": " << plain.text();
    }
  }
}

TEST(GraphsOnGpu, ReplaysUnderAContractOfPromisedBitsFollowTheData) {
  replays_follow_the_data(reproducible(Contract::fp64()), usual_engine(), 300);
}
TEST(GraphsOnGpu, ReplaysOfANamedEngineFollowTheData) {
  replays_follow_the_data(Contract::fp64(), usual_engine(), 1100);
}
TEST(GraphsOnGpu, ReplaysAsAnybodyCallsThemFollowTheData) { replays_follow_the_data(Contract::fp64(), "", 2560); }

}  // namespace
}  // namespace vernier::test::route_test
