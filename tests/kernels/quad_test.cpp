// The kernels of quadruple products on the host, block by block: the bits of the CPU's product.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/environment.hpp"
#include "product/arguments.hpp"
#include "residue/binary128/split.cuh"
#include "residue/quad/convert_quad.cuh"
#include "residue/quad/left_dd.cuh"
#include "residue/quad/measure_quad.cuh"
#include "residue/quad/quad_entry.hpp"
#include "residue/quad/quad_statistics.hpp"
#include "residue/quad/round_dd.cuh"
#include "residue/quad/wide_round.hpp"
#include "support/quad_values.hpp"

namespace vernier::cuda::quad_test {
namespace {

using test::Random;

std::size_t size(std::int64_t x) { return static_cast<std::size_t>(x); }

// One side: elements of one to three parts, what the kernels know of them, and their planes.
template <class T>
struct Side {
  static constexpr int parts = parts_of_element<T>;
  Operand<T> operand;
  std::vector<VectorExponents> exponents;
  std::vector<double> split;  // of binary128
  std::vector<QuadVector> vectors;
  std::vector<QuadScale> scales;
  std::vector<DdVector> dd;
  std::vector<std::uint8_t> planes;

  explicit Side(const Operand<T>& x)
      : operand(x), vectors(size(x.vectors)), scales(size(x.vectors)), dd(size(x.vectors)) {}
  QuadView view() const {
    if constexpr (parts == 3)
      return {split.data(), operand.vectors, operand.k, 3 * operand.k, 3, 3};
    else
      return view_of(operand);
  }
  DeviceQuadSide device() {
    return {view(), parts == 3 ? exponents.data() : nullptr, vectors.data(), scales.data(), dd.data()};
  }

  void split_elements() {
    exponents.resize(size(operand.vectors));
    std::memset(exponents.data(), 0x80, exponents.size() * sizeof(VectorExponents));
    split.resize(size(3 * operand.vectors * operand.k));
    const Binary128View x{reinterpret_cast<const ulonglong2*>(operand.data), operand.vectors, operand.k, operand.ld,
                          operand.k_contiguous};
    launch_find_exponents(x, exponents.data(), nullptr);
    launch_split_binary128(x, exponents.data(), split.data(), nullptr);
  }
  void measure() {
    if (parts == 3) split_elements();
    const auto blocks = static_cast<unsigned>(divide_up(operand.vectors, std::int64_t{held_vectors}));
    launch("measure_quad", measure_quad<parts>, {.grid = dim3(blocks), .block = dim3(measure_threads)}, nullptr,
           device());
  }
  void convert(int words, int moduli) {
    planes.assign(size(moduli * operand.vectors * device_pitch(operand.k)), 0xaa);
    words == 4 ? launch_convert_quad<parts, 4>(view(), scales.data(), moduli, planes.data(), nullptr)
               : launch_convert_quad<parts, 6>(view(), scales.data(), moduli, planes.data(), nullptr);
  }
};

template <class TA, class TB>
class EmulatedScales final : public QuadScales {
 public:
  DeviceQuadFacts facts{};
  EmulatedScales(Side<TA>& a, Side<TB>& b) : a_(a), b_(b) {}
  void expect(const std::vector<QuadSize>& sizes) override {
    expected_ = sizes;
    QuadSizes all;
    for (const QuadSize& size : sizes) all.of[all.count++] = size;
    find(all);
    for (int i = 0; i < all.count; ++i) extents_[i] = facts.maxima[i].extents();
  }
  QuadExtents set(const QuadSize& size) override {
    find({1, 0, {size}});
    const QuadExtents own = facts.maxima[0].extents();
    for (std::size_t i = 0; i < expected_.size(); ++i)
      if (expected_[i].bits == size.bits && expected_[i].norm == size.norm) {
        EXPECT_EQ(extents_[i].a.norm_2, own.a.norm_2);
        EXPECT_EQ(extents_[i].b.norm_2, own.b.norm_2);
        EXPECT_EQ(extents_[i].share(), own.share());
      }
    return own;
  }
  std::vector<QuadSampleError> samples() override {
    launch("sample_quad", sample_quad, {.grid = dim3(quad_samples * quad_samples), .block = dim3(32)}, nullptr,
           a_.device(), b_.device(), &facts);
    launch("sample_errors", sample_errors, {.grid = dim3(1), .block = dim3(64)}, nullptr, a_.device(), b_.device(),
           &facts);
    std::vector<QuadSampleError> list;
    for (const auto& s : facts.samples)
      if (s.exists != 0) list.push_back({s.magnitude, s.error, s.exponent});
    return list;
  }

 private:
  void find(const QuadSizes& sizes) {
    std::fill(std::begin(facts.maxima), std::end(facts.maxima), QuadMaxima{});
    const auto of = [](std::int64_t vectors) { return divide_up(vectors, std::int64_t{scale_threads}); };
    const auto blocks = static_cast<unsigned>(of(a_.operand.vectors) + of(b_.operand.vectors));
    launch("set_quad_scales", set_quad_scales,
           {.grid = dim3(blocks, static_cast<unsigned>(sizes.count)), .block = dim3(scale_threads)}, nullptr,
           a_.device(), b_.device(), sizes, &facts);
  }

  Side<TA>& a_;
  Side<TB>& b_;
  std::vector<QuadSize> expected_;
  QuadExtents extents_[most_expected];
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

template <int Limbs, int Pairs, EntryForm Form = EntryForm::dd, bool Leading = false>
void round_block(const DeviceDdBlock& block) {
  launch_round_dd<Limbs, Pairs, Form, Leading>(block, 2, nullptr);
}

void round_exact_block(const DeviceDdBlock& block) {
  constexpr EntryForm form = EntryForm::exact_dd;
  block.moduli <= 26   ? round_block<6, 0, form>(block)
  : block.moduli <= 33 ? round_block<8, 0, form>(block)
                       : round_block<11, 0, form>(block);
}

void expect_same_vectors(const std::vector<QuadVector>& x, const std::vector<QuadVector>& y) {
  for (std::size_t v = 0; v < x.size(); ++v) {
    ASSERT_EQ(x[v].nonfinite, y[v].nonfinite) << v;
    ASSERT_EQ(x[v].shift, y[v].shift) << v;
    ASSERT_EQ(x[v].exponent, y[v].exponent) << v;
    for (int p = 0; p < most_parts; ++p) ASSERT_EQ(x[v].lowest_bits[p], y[v].lowest_bits[p]) << v;
    ASSERT_EQ(x[v].norm_1, y[v].norm_1) << v;
    ASSERT_EQ(x[v].norm_2, y[v].norm_2) << v;
    ASSERT_EQ(x[v].flat, y[v].flat) << v;
  }
}

struct Case {
  Op opa = Op::none, opb = Op::none;
  std::int64_t m = 40, n = 70, k = 150;
  double alpha = 1, beta = 0;
  int bits = 106;  // 0: rounded once
  Rounding rounding = Rounding::nearest;
  bool by_pairs = true;  // by the kernel of 27 and 28 moduli
};

struct Counts {
  std::int64_t looked_at = 0, left = 0;
  bool settled = false;
};

template <class TC = dd, class TA, class TB>
Counts expect_bits_of_the_cpu(const Case& t, const std::vector<TA>& a, const std::vector<TB>& b) {
  const std::int64_t lda = t.opa == Op::none ? t.m : t.k, ldb = t.opb == Op::none ? t.k : t.n;
  constexpr bool is_128 = !std::is_same_v<TC, dd>;
  std::vector<TC> expected(size(t.m * t.n));
  Random random(99);
  for (TC& x : expected) x = test::random_quad(random, 0.5, static_cast<const TC*>(nullptr));
  std::vector<TC> c = expected;
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
  EXPECT_EQ(static_cast<int>(scales.facts.maxima[0].exponent[0]), report.bits_a);
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
      .binary128 = is_128,
      .c = reinterpret_cast<dd*>(c.data()),
      .ldc = t.m,
      .open = open.data(),
      .counts = &counts};
  if (is_128)
    plan.moduli <= 33 ? launch_round<8, 0, EntryForm::binary128>(block, nullptr)
                      : launch_round<11, 0, EntryForm::binary128>(block, nullptr);
  else if (exact)
    round_exact_block(block);
  else if (plan.moduli <= 26)
    round_block<6, 0>(block);
  else if (plan.moduli <= 28 && t.by_pairs)
    round_block<7, 14, EntryForm::dd, true>(block);
  else if (plan.moduli <= 30)
    round_block<7, 0>(block);
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
    LeftMemory memory(count, t.k, 2);
    memory.entries = left;
    decided = decide_left_entries(
        {host_rows, host_columns, a_side, b_side, t.alpha, t.beta, t.bits, plan.moduli, t.rounding, is_128}, 0, 0,
        memory);
    left = memory.entries;
    launch("scatter_left", scatter_left, shape, nullptr, block, count, left.data());
  }
  EXPECT_EQ(decided.summed, report.summed);
  EXPECT_EQ(settled ? static_cast<std::int64_t>(counts.looked_at) : decided.looked_at, report.looked_at);
  for (std::size_t e = 0; e < c.size(); ++e)
    EXPECT_TRUE(same_bits(c[e], expected[e]) ||
                (std::isnan(leading_double(c[e])) && std::isnan(leading_double(expected[e]))))
        << e << ": " << leading_double(c[e]) << ", expected " << leading_double(expected[e]);
  return {report.looked_at, count, settled};
}

template <class TA, class TB>
void expect_bits_of_random_data(const Case& t, std::uint64_t seed) {
  expect_bits_of_the_cpu(t, test::random_quads<TA>(t.m * t.k, 0.5, seed),
                         test::random_quads<TB>(t.k * t.n, 0.5, seed + 1));
}

TEST(QuadKernels, HaveTheBitsOfTheCpu) {
  expect_bits_of_random_data<dd, dd>({.m = 40, .n = 70, .k = 130}, 1);
  expect_bits_of_random_data<dd, dd>(
      {.opa = Op::transpose, .opb = Op::transpose, .m = 17, .n = 33, .k = 60, .alpha = -0.5, .by_pairs = false}, 3);
  expect_bits_of_random_data<double, dd>({.m = 17, .n = 20, .k = 1100, .alpha = 1.5, .beta = -0.75}, 5);
  expect_bits_of_random_data<double, double>({.opa = Op::transpose, .m = 33, .n = 20, .k = 60}, 7);
  expect_bits_of_random_data<dd, dd>({.m = 5, .n = 4, .k = 3100}, 11);
}

#if defined(__SIZEOF_FLOAT128__)
TEST(QuadKernels, RoundToBinary128) {
  const auto data = [](std::int64_t count, double phi, std::uint64_t seed) {
    return test::random_quads<binary128>(count, phi, seed);
  };
  const Case ordinary{.m = 17, .n = 20, .k = 60, .alpha = -0.5, .bits = 113};
  expect_bits_of_the_cpu<binary128>(ordinary, data(17 * 60, 0.5, 31), data(60 * 20, 0.5, 32));
  const Case turned{.opa = Op::transpose, .opb = Op::transpose, .m = 5, .n = 9, .k = 300, .bits = 113};
  expect_bits_of_the_cpu<binary128>(turned, data(5 * 300, 0.5, 33), test::random_quads<double>(300 * 9, 0.5, 34));
  // Far beyond double's range, and entries that bounds have to decide.
  const Case wide{.m = 16, .n = 10, .k = 64, .bits = 113};
  std::vector<binary128> a = data(16 * 64, 5, 35), b = data(64 * 10, 5, 36);
  for (std::size_t e = 0; e < a.size(); e += 16) a[e] = a[e] * 0x1p1000 * 0x1p1000 * (e % 3 == 0 ? 0 : 1);
  b[70] = std::numeric_limits<double>::infinity();
  EXPECT_GT(expect_bits_of_the_cpu<binary128>(wide, a, b).left, 0);
  for (const Rounding rounding : {Rounding::nearest, Rounding::down})
    expect_bits_of_the_cpu<binary128>({.m = 9, .n = 8, .k = 30, .alpha = -2, .bits = 0, .rounding = rounding},
                                      data(9 * 30, 0.5, 37), data(30 * 8, 0.5, 38));
}
#endif

constexpr Rounding directions[] = {Rounding::nearest, Rounding::down, Rounding::up, Rounding::toward_zero};

TEST(QuadKernels, RoundOnceInAllDirections) {
  for (const Rounding rounding : directions) {
    const Case ordinary{.m = 17, .n = 10, .k = 40, .alpha = -0.5, .bits = 0, .rounding = rounding};
    EXPECT_EQ(expect_bits_of_the_cpu(ordinary, test::random_quads<double>(ordinary.m * ordinary.k, 0.5, 15),
                                     test::random_quads<double>(ordinary.k * ordinary.n, 0.5, 16))
                  .left,
              0);
    // No integers: intervals decide most entries.
    const Case wide{.m = 12, .n = 17, .k = 40, .bits = 0, .rounding = rounding};
    const Counts counts = expect_bits_of_the_cpu(wide, test::random_quads<dd>(wide.m * wide.k, 9, 19),
                                                 test::random_quads<dd>(wide.k * wide.n, 9, 20));
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
  expect_bits_of_the_cpu(many, test::random_quads<dd>(many.m * many.k, 3, 9),
                         test::random_quads<dd>(many.k * many.n, 3, 10));
}

// Columns x and -x side by side, of rows that are alike there: what is left is small beside |A||B|.
struct Cancelling {
  std::vector<dd> a, b;

  Cancelling(const Case& t, double phi)
      : a(test::random_quads<dd>(t.m * t.k, phi, 11)), b(test::random_quads<dd>(t.k * t.n, phi, 12)) {
    for (std::int64_t j = 0; j < t.n; ++j)
      for (std::int64_t l = 1; l < t.k; l += 2) {
        const dd x = b[size(l - 1 + j * t.k)];
        b[size(l + j * t.k)] = dd(-x.hi, -x.lo);
        for (std::int64_t i = 0; i < t.m; i += 2) a[size(i + l * t.m)] = a[size(i + (l - 1) * t.m)];
      }
    for (std::int64_t i = 0; i < t.m; i += 4) a[size(i)].hi *= 1 + std::ldexp(1.0, -40);
  }
};

TEST(QuadKernels, SettleSmallEntries) {
  const Case t{.m = 17, .n = 12, .k = 140};
  const Cancelling wide(t, 4);  // no vector proves |A||B|
  EXPECT_GT(expect_bits_of_the_cpu(t, wide.a, wide.b).looked_at, 0);
  // Large elements whose partners are zero hide the others: of a few rows, of all.
  Cancelling hidden(t, 0.5);
  for (std::int64_t j = 0; j < t.n; ++j) hidden.b[size(j * t.k)] = dd(0);
  for (const std::int64_t step : {8, 1}) {
    for (std::int64_t i = 0; i < t.m; i += step) hidden.a[size(i)] = dd(0x1p200);
    const Counts counts = expect_bits_of_the_cpu(t, hidden.a, hidden.b);
    EXPECT_GT(counts.left, 0);
    EXPECT_EQ(counts.settled, step == 8);
  }
}

TEST(QuadKernels, PassNanAndInfinity) {
  const Case t{.m = 20, .n = 20, .k = 40, .beta = 1};
  std::vector<dd> a = test::random_quads<dd>(t.m * t.k, 0.5, 13), b = test::random_quads<dd>(t.k * t.n, 0.5, 14);
  a[5].hi = std::numeric_limits<double>::infinity();
  b[7].hi = std::numeric_limits<double>::quiet_NaN();
  b[90] = dd(0);
  EXPECT_GT(expect_bits_of_the_cpu(t, a, b).left, 0);
}

}  // namespace
}  // namespace vernier::cuda::quad_test
