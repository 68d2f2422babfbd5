// The kernels of quadruple products on the host, block by block: the bits of the CPU's product.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/environment.hpp"
#include "product/arguments.hpp"
#include "residue/quad/convert_quad.cuh"
#include "residue/quad/left_dd.cuh"
#include "residue/quad/measure_quad.cuh"
#include "residue/quad/quad_statistics.hpp"
#include "residue/quad/round_dd.cuh"
#include "residue/quad/wide_round.hpp"
#include "support/quad_values.hpp"

namespace vernier::cuda {
namespace {

using test::Random;

std::size_t size(std::int64_t x) { return static_cast<std::size_t>(x); }

// One side: elements of one part or two, what the kernels know of them, and their planes.
template <class T>
struct Side {
  Operand<T> operand;
  std::vector<QuadVector> vectors;
  std::vector<QuadScale> scales;
  std::vector<DdVector> dd;
  std::vector<std::uint8_t> planes;

  explicit Side(const Operand<T>& x)
      : operand(x), vectors(size(x.vectors)), scales(size(x.vectors)), dd(size(x.vectors)) {}
  DeviceQuadSide device() { return {view_of(operand), vectors.data(), scales.data(), dd.data()}; }

  void measure() {
    const auto blocks = static_cast<unsigned>(divide_up(operand.vectors, std::int64_t{measure_vectors}));
    launch("measure_quad", measure_quad<sizeof(T) / 8>, {.grid = dim3(blocks), .block = dim3(measure_threads)}, nullptr,
           device());
  }
  void convert(int words, int moduli) {
    planes.assign(size(moduli * operand.vectors * device_pitch(operand.k)), 0xaa);
    words == 4 ? launch_convert_quad<sizeof(T) / 8, 4>(view_of(operand), scales.data(), moduli, planes.data(), nullptr)
               : launch_convert_quad<sizeof(T) / 8, 6>(view_of(operand), scales.data(), moduli, planes.data(), nullptr);
  }
};

template <class TA, class TB>
class EmulatedScales final : public QuadScales {
 public:
  DeviceQuadFacts facts{};
  EmulatedScales(Side<TA>& a, Side<TB>& b) : a_(a), b_(b) {
    launch("sample_quad", sample_quad, {.grid = dim3(quad_samples * quad_samples), .block = dim3(32)}, nullptr,
           a.device(), b.device(), &facts);
  }
  QuadNorms set(int bits) override {
    facts.maxima = {};
    const auto blocks =
        static_cast<unsigned>(divide_up(a_.operand.vectors + b_.operand.vectors, std::int64_t{scale_threads}));
    launch("set_quad_scales", set_quad_scales, {.grid = dim3(blocks), .block = dim3(scale_threads)}, nullptr,
           a_.device(), b_.device(), bits, &facts);
    launch("sample_errors", sample_errors, {.grid = dim3(1), .block = dim3(64)}, nullptr, a_.device(), b_.device(),
           &facts);
    return {std::bit_cast<double>(facts.maxima.norm_2[0]), std::bit_cast<double>(facts.maxima.norm_2[1])};
  }
  std::vector<QuadSampleError> samples() const override {
    std::vector<QuadSampleError> list;
    for (const auto& s : facts.samples)
      if (s.exists != 0) list.push_back({s.magnitude, s.error, s.exponent});
    return list;
  }

 private:
  Side<TA>& a_;
  Side<TB>& b_;
};

// What the engine does: products modulo each p in its order.
template <class TA, class TB>
std::vector<std::int8_t> products(const Side<TA>& a, const Side<TB>& b, int moduli) {
  const std::int64_t m = a.operand.vectors, n = b.operand.vectors, pitch = device_pitch(a.operand.k);
  const ProductUnits units = product_units(m, n);
  std::vector<std::int8_t> out(size(moduli * units.plane_bytes()), 77);
  for (int q = 0; q < moduli; ++q)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < pitch; ++l)
          sum += a.planes[size((q * m + i) * pitch + l)] * b.planes[size((q * n + j) * pitch + l)];
        const int p = vernier::moduli[size(q)];
        out[size(q * units.plane_bytes() + residue_place(units, i, j))] = static_cast<std::int8_t>(
            symmetric_residue(symmetric_residue(sum, p) * residue_system(moduli).row_factor[size(q)], p));
      }
  return out;
}

template <int Limbs, int Pairs, bool Exact = false>
void round_block(const DeviceDdBlock& block) {
  launch_round_dd<Limbs, Pairs, Exact>(block, 2, nullptr);
}

void round_exact_block(const DeviceDdBlock& block) {
  block.moduli <= 26   ? round_block<6, 0, true>(block)
  : block.moduli <= 33 ? round_block<8, 0, true>(block)
                       : round_block<11, 0, true>(block);
}

void expect_same_vectors(const std::vector<QuadVector>& x, const std::vector<QuadVector>& y) {
  for (std::size_t v = 0; v < x.size(); ++v) {
    ASSERT_EQ(x[v].nonfinite, y[v].nonfinite) << v;
    ASSERT_EQ(x[v].exponent, y[v].exponent) << v;
    ASSERT_EQ(x[v].lowest_bit, y[v].lowest_bit) << v;
    ASSERT_EQ(x[v].norm_1, y[v].norm_1) << v;
    ASSERT_EQ(x[v].norm_2, y[v].norm_2) << v;
    ASSERT_EQ(x[v].largest, y[v].largest) << v;
  }
}

struct Case {
  Op opa = Op::none, opb = Op::none;
  std::int64_t m = 40, n = 70, k = 150;
  double alpha = 1, beta = 0;
  int bits = 106;  // 0: rounded once
  Rounding rounding = Rounding::nearest;
  bool by_pairs = true;  // by the kernel of 31 and 32 moduli
};

struct Counts {
  std::int64_t looked_at = 0, left = 0;
  bool settled = false;
};

template <class TA, class TB>
Counts expect_bits_of_the_cpu(const Case& t, const std::vector<TA>& a, const std::vector<TB>& b) {
  const std::int64_t lda = t.opa == Op::none ? t.m : t.k, ldb = t.opb == Op::none ? t.k : t.n;
  std::vector<dd> expected(size(t.m * t.n));
  Random random(99);
  for (dd& x : expected) x = test::random_quad(random, 0.5, static_cast<const dd*>(nullptr));
  std::vector<dd> c = expected;
  QuadOptions options;
  const bool exact = t.bits == 0;
  options.contract = {.kind = exact ? QuadContract::Kind::exact : QuadContract::Kind::bits,
                      .bits_asked = t.bits,
                      .rounding = t.rounding};
  const QuadReport report = vernier::quad_gemm(t.opa, t.opb, t.m, t.n, t.k, t.alpha, a.data(), lda, b.data(), ldb,
                                               t.beta, expected.data(), t.m, options);

  Side<TA> rows(rows_of(t.opa, a.data(), t.m, t.k, lda));
  Side<TB> columns(columns_of(t.opb, b.data(), t.n, t.k, ldb));
  rows.measure(), columns.measure();
  const QuadOperandOf<TA> host_rows(rows.operand);
  const QuadOperandOf<TB> host_columns(columns.operand);
  const QuadSide known_rows = measure_side(host_rows, best_backend<double>(), 1),
                 known_columns = measure_side(host_columns, best_backend<double>(), 1);
  expect_same_vectors(rows.vectors, known_rows.vectors);
  expect_same_vectors(columns.vectors, known_columns.vectors);

  EmulatedScales<TA, TB> scales(rows, columns);
  const QuadPlan plan = choose_bits(scales, t.k, {t.bits});
  EXPECT_EQ(plan.moduli, report.moduli);
  EXPECT_EQ(static_cast<int>(scales.facts.maxima.exponent[0]), report.bits_a);
  rows.convert(report.bits_a <= 123 ? 4 : 6, plan.moduli);
  columns.convert(report.bits_b <= 123 ? 4 : 6, plan.moduli);
  const std::vector<std::int8_t> residues = products(rows, columns, plan.moduli);
  const QuadUpdate update = quad_update(t.alpha, t.beta);
  std::vector<std::uint32_t> open(size(t.m * t.n));
  DeviceDdBlock::Counts counts{};
  const DeviceDdBlock block{
      .moduli = plan.moduli,
      .residues = residues.data(),
      .m = t.m,
      .n = t.n,
      .a = rows.device(),
      .b = columns.device(),
      .rule = {exact ? 0 : std::ldexp(static_cast<double>(t.k), -t.bits) * (1 - 0x1p-30),
               update.only_rounded && t.alpha < 0 ? -1.0 : 1.0, update.only_rounded ? exponent_of_value(t.alpha) : 0,
               exact, exact && !update.only_rounded, t.rounding},
      .alpha = t.alpha,
      .beta = t.beta,
      .only_rounded = update.only_rounded,
      .c = c.data(),
      .ldc = t.m,
      .open = open.data(),
      .counts = &counts};
  if (exact)
    round_exact_block(block);
  else if (plan.moduli <= 26)
    round_block<6, 0>(block);
  else if (plan.moduli <= 32 && t.by_pairs)
    round_block<8, 16>(block);
  else if (plan.moduli <= 33)
    round_block<8, 0>(block);
  else
    round_block<11, 0>(block);

  const bool settled = block.settles(counts.open);
  const auto count = static_cast<std::int64_t>(settled ? counts.left : counts.open);
  LeftCounts decided;
  if (count > 0) {
    std::vector<LeftEntry> left(size(count));
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>(divide_up(count, std::int64_t{left_threads}))),
                            .block = dim3(left_threads)};
    launch("gather_left", gather_left, shape, nullptr, block, product_units(t.m, t.n), std::int64_t{0}, count,
           left.data());
    QuadSide a_side = known_rows, b_side = known_columns;
    a_side.scales = rows.scales, b_side.scales = columns.scales;
    decided = decide_left_entries(
        {host_rows, host_columns, a_side, b_side, t.alpha, t.beta, t.bits, plan.moduli, t.rounding}, 0, 0, left, 2);
    launch("scatter_left", scatter_left, shape, nullptr, block, count, left.data());
  }
  EXPECT_EQ(decided.summed, report.summed);
  EXPECT_EQ(settled ? static_cast<std::int64_t>(counts.looked_at) : decided.looked_at, report.looked_at);
  for (std::size_t e = 0; e < c.size(); ++e)
    EXPECT_TRUE(same_bits(c[e], expected[e]) || (std::isnan(c[e].hi) && std::isnan(expected[e].hi)))
        << e << ": " << c[e].hi << " + " << c[e].lo << ", expected " << expected[e].hi << " + " << expected[e].lo;
  return {report.looked_at, count, settled};
}

template <class T>
std::vector<T> elements(std::int64_t count, double phi, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> x(size(count));
  for (T& e : x) e = test::random_quad(random, phi, static_cast<const T*>(nullptr));
  return x;
}

template <class TA, class TB>
void expect_bits_of_random_data(const Case& t, std::uint64_t seed) {
  expect_bits_of_the_cpu(t, elements<TA>(t.m * t.k, 0.5, seed), elements<TB>(t.k * t.n, 0.5, seed + 1));
}

TEST(QuadKernels, HaveTheBitsOfTheCpu) {
  expect_bits_of_random_data<dd, dd>({.m = 40, .n = 70, .k = 130}, 1);
  expect_bits_of_random_data<dd, dd>(
      {.opa = Op::transpose, .opb = Op::transpose, .m = 17, .n = 33, .k = 60, .alpha = -0.5, .by_pairs = false}, 3);
  expect_bits_of_random_data<double, dd>({.m = 17, .n = 20, .k = 1100, .alpha = 1.5, .beta = -0.75}, 5);
  expect_bits_of_random_data<double, double>({.opa = Op::transpose, .m = 33, .n = 20, .k = 60}, 7);
}

constexpr Rounding directions[] = {Rounding::nearest, Rounding::down, Rounding::up, Rounding::toward_zero};

TEST(QuadKernels, RoundOnceInAllDirections) {
  for (const Rounding rounding : directions) {
    const Case ordinary{.m = 17, .n = 10, .k = 40, .alpha = -0.5, .bits = 0, .rounding = rounding};
    EXPECT_EQ(expect_bits_of_the_cpu(ordinary, elements<double>(ordinary.m * ordinary.k, 0.5, 15),
                                     elements<double>(ordinary.k * ordinary.n, 0.5, 16))
                  .left,
              0);
    // No integers: intervals decide most entries.
    const Case wide{.m = 12, .n = 17, .k = 40, .bits = 0, .rounding = rounding};
    const Counts counts =
        expect_bits_of_the_cpu(wide, elements<dd>(wide.m * wide.k, 9, 19), elements<dd>(wide.k * wide.n, 9, 20));
    EXPECT_LT(counts.left, wide.m * wide.n / 4);
  }
  expect_bits_of_random_data<dd, dd>({.m = 10, .n = 17, .k = 30, .bits = 0, .rounding = Rounding::down}, 17);
  expect_bits_of_random_data<dd, double>(
      {.m = 8, .n = 5, .k = 20, .alpha = 0.3, .beta = -2, .bits = 0, .rounding = Rounding::up}, 21);
}

// Sums that end where lo ends, a bit before, a bit behind, and far behind; and sums that are zero.
TEST(QuadKernels, RoundTiesAndExactSums) {
  const std::int64_t m = 24, n = 3, k = 3;
  std::vector<dd> a(size(m * k)), b(size(k * n), dd(1));
  for (std::int64_t i = 0; i < m; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    a[size(i)] = dd(sign, (i % 3 - 1) * std::ldexp(1.0, -53 - static_cast<int>(i % 5)));
    a[size(i + m)] = dd(sign * (i % 4 < 2 ? 1 : -1) * std::ldexp(1.0, -104 - static_cast<int>(i / 4)));
    a[size(i + 2 * m)] = i % 7 == 0 ? dd(-a[size(i)].hi, -a[size(i)].lo) : dd(i % 5 == 0 ? 0x1p-150 : 0);
  }
  for (const Rounding rounding : directions)
    expect_bits_of_the_cpu({.m = m, .n = n, .k = k, .bits = 0, .rounding = rounding}, a, b);
}

TEST(QuadKernels, TakeManyBits) {
  const Case many{.m = 20, .n = 33, .k = 60, .bits = 150};
  expect_bits_of_the_cpu(many, elements<dd>(many.m * many.k, 3, 9), elements<dd>(many.k * many.n, 3, 10));
}

// Rows x and -x side by side: what is left is small beside |A||B|, or smaller than any bits hold.
TEST(QuadKernels, SettleSmallEntries) {
  const Case t{.m = 17, .n = 20, .k = 140};
  std::vector<dd> a = elements<dd>(t.m * t.k, 0.5, 11), b = elements<dd>(t.k * t.n, 0.5, 12);
  for (std::int64_t j = 0; j < t.n; ++j)
    for (std::int64_t l = 1; l < t.k; l += 2) {
      const dd x = b[size(l - 1 + j * t.k)];
      b[size(l + j * t.k)] = dd(-x.hi, -x.lo);
      for (std::int64_t i = 0; i < t.m; i += 2) a[size(i + l * t.m)] = a[size(i + (l - 1) * t.m)];
    }
  for (std::int64_t i = 0; i < t.m; i += 4) a[size(i)].hi *= 1 + std::ldexp(1.0, -40);
  const Counts counts = expect_bits_of_the_cpu(t, a, b);
  EXPECT_GT(counts.looked_at, 0);
  // Large elements whose partners are zero hide the others: of a few rows, of all.
  for (std::int64_t j = 0; j < t.n; ++j) b[size(j * t.k)] = dd(0);
  for (const std::int64_t step : {8, 1}) {
    for (std::int64_t i = 0; i < t.m; i += step) a[size(i)] = dd(0x1p200);
    const Counts hidden = expect_bits_of_the_cpu(t, a, b);
    EXPECT_GT(hidden.left, 0);
    EXPECT_EQ(hidden.settled, step == 8);
  }
}

TEST(QuadKernels, PassNanAndInfinity) {
  const Case t{.m = 20, .n = 20, .k = 40, .beta = 1};
  std::vector<dd> a = elements<dd>(t.m * t.k, 0.5, 13), b = elements<dd>(t.k * t.n, 0.5, 14);
  a[5].hi = std::numeric_limits<double>::infinity();
  b[7].hi = std::numeric_limits<double>::quiet_NaN();
  b[90] = dd(0);
  EXPECT_GT(expect_bits_of_the_cpu(t, a, b).left, 0);
}

}  // namespace
}  // namespace vernier::cuda
