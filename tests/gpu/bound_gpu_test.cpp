// Scales from the product of |A| and |B| on Hopper: every kernel against its twin on the host.
#include <cstring>

#include "engine/bound/bound_engine_cuda.hpp"
#include "gpu/fixture.hpp"
#include "product/arguments.hpp"
#include "residue/bound/bound_kernels.hpp"
#include "residue/bound/bound_sample_host.hpp"
#include "residue/bound_twin.hpp"
#include "residue/convert/convert.hpp"
#include "residue/plan/bounds.hpp"
#include "support/bound.hpp"

namespace vernier::test::bound_gpu_test {
namespace {

template <class V>
std::vector<V> fetched(const V* device, std::int64_t count) {
  std::vector<V> copy(static_cast<std::size_t>(count));
  cuda::check(cudaMemcpy(copy.data(), device, copy.size() * sizeof(V), cudaMemcpyDeviceToHost), "fetched");
  return copy;
}

template <class T>
struct BoundCase {
  Matrix<T> a, b;
  std::vector<BoundTwinVector<T>> rows, columns;
  DeviceCopy<T> device_a, device_b;
  cuda::DeviceBuffer<VectorStatistics> a_statistics, b_statistics;
  cuda::DeviceBuffer<int> a_scales, b_scales;
  cuda::DeviceBuffer<std::byte> memory;
  cuda::DeviceBoundBuffers buffers;
  cuda::BoundTask task;

  BoundCase(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k)
      : BoundCase(make_operands<T>(family, m, n, k, 5)) {}
  explicit BoundCase(const Operands<T>& x)
      : a(x.a),
        b(x.b),
        rows(bound_twin_rows(a)),
        columns(bound_twin_columns(b)),
        device_a(a),
        device_b(b),
        a_statistics(rows.size()),
        b_statistics(columns.size()),
        a_scales(rows.size()),
        b_scales(columns.size()),
        memory(bytes()) {
    cuda::check(cudaMemset(memory.data(), 0x7b, memory.bytes()), "poison");
    Arena arena(memory.data(), memory.bytes());
    buffers = cuda::carve_device_bound(arena, shape());
    task = {.rule = *bound_rule<T>(Contract::fp64(), a.columns(), a.columns()),
            .product = cuda::fp8_bound_product(),
            .k = a.columns(),
            .operand = {{a_statistics.data(), a.rows(), buffers.side.a, a_scales.data()},
                        {b_statistics.data(), b.columns(), buffers.side.b, b_scales.data()}},
            .codes = buffers.codes,
            .found = buffers.found,
            .choices = cuda::bound_choices(max_moduli),
            .sample = buffers.sample};
  }
  BoundSample host_sample() const {
    std::vector<VectorStatistics> s, t;
    for (const auto& v : rows) s.push_back(v.statistics);
    for (const auto& v : columns) t.push_back(v.statistics);
    return bound_sample(rows_of(Op::none, a.data(), a.rows(), a.columns(), a.ld()), s.data(),
                        columns_of(Op::none, b.data(), b.columns(), b.rows(), b.ld()), t.data(), a.columns(), 1);
  }
  void sample() {
    cuda::clear_sample_on_device(task.sample, nullptr);
    cuda::sample_on_device(operand_a().x, operand_b().x, task, nullptr);
  }
  cuda::BoundSampleWords sample_words() const { return fetched(buffers.sample.words, 1)[0]; }

  ProductShape shape() const { return {a.rows(), b.columns(), a.columns()}; }
  std::size_t bytes() const {
    Arena count;
    cuda::carve_device_bound(count, shape());
    return count.used();
  }
  cuda::DeviceOperand<T> operand_a() {
    return {.x = rows_of(Op::none, static_cast<const T*>(device_a.data()), a.rows(), a.columns(), a.ld()),
            .statistics = a_statistics.data(),
            .scales = a_scales.data(),
            .bound_bytes = buffers.side.a.bytes};
  }
  cuda::DeviceOperand<T> operand_b() {
    return {.x = columns_of(Op::none, static_cast<const T*>(device_b.data()), b.columns(), b.rows(), b.ld()),
            .statistics = b_statistics.data(),
            .scales = b_scales.data(),
            .bound_bytes = buffers.side.b.bytes};
  }
  void measure() {
    cuda::measure_on_device<T>(operand_a(), operand_b(), scaling_rule<T>(Contract::fp64(), a.columns()),
                               {.moduli = 15, .words = 2}, {}, nullptr);
  }
  void multiply() {
    cuda::multiply_bound_on_device({.rows = buffers.side.a.bytes,
                                    .columns = buffers.side.b.bytes,
                                    .m = a.rows(),
                                    .n = b.columns(),
                                    .pitch = device_pitch(a.columns()),
                                    .k = device_pitch(a.columns()),
                                    .row = buffers.side.a.side,
                                    .column = buffers.side.b.side,
                                    .codes = buffers.codes},
                                   nullptr);
  }
};

template <class T>
void expect_bytes(const std::vector<BoundTwinVector<T>>& want, const std::uint8_t* device, std::int64_t k) {
  const std::int64_t pitch = device_pitch(k);
  const auto got = fetched(device, static_cast<std::int64_t>(want.size()) * pitch);
  for (std::size_t v = 0; v < want.size(); ++v)
    for (std::int64_t l = 0; l < pitch; ++l) {
      const std::uint64_t byte = l < k ? want[v].bytes[static_cast<std::size_t>(l)] : 0;
      ASSERT_EQ(got[v * static_cast<std::size_t>(pitch) + static_cast<std::size_t>(l)], byte)
          << "vector " << v << ", k " << l;
    }
}

template <class T>
void bytes_are_those_of_the_host(std::int64_t m, std::int64_t n, std::int64_t k) {
  for (const std::string& family : operand_families()) {
    BoundCase<T> x(family, m, n, k);
    x.measure();
    expect_bytes(x.rows, x.buffers.side.a.bytes, k);
    expect_bytes(x.columns, x.buffers.side.b.bytes, k);
    cuda::check(cudaMemset(x.buffers.side.a.bytes, 0x7b, static_cast<std::size_t>(m * device_pitch(k))), "poison");
    cuda::bound_bytes_on_device<T>(x.operand_a(), x.operand_b(), nullptr);
    expect_bytes(x.rows, x.buffers.side.a.bytes, k);
  }
}

TEST(BoundOnGpu, BytesAreThoseOfTheHost) {
  for (const std::int64_t k : {1, 130, 700, 4096, 5000, 8300}) {
    bytes_are_those_of_the_host<double>(19, 35, k);
    bytes_are_those_of_the_host<float>(33, 7, k);
  }
}

// Minima and codes, bit by bit: the sums are those of the model.
void the_product_is_the_models(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k) {
  BoundCase<double> x(family, m, n, k);
  x.measure();
  weigh_on_device(x.task, nullptr);
  x.multiply();
  const auto side = [](const cuda::DeviceBoundSide& s, std::int64_t count) {
    return std::tuple{fetched(s.inverse_weights, count), fetched(s.inverse_norms, count), fetched(s.zero_shares, count),
                      fetched(s.minima, count)};
  };
  const auto [row_weights, row_norms, row_shares, row_minima] = side(x.buffers.side.a.side, m);
  const auto [column_weights, column_norms, column_shares, column_minima] = side(x.buffers.side.b.side, n);
  const ProductUnits units = product_units(m, n);
  const auto codes = fetched(x.buffers.codes, units.plane_bytes());
  std::vector<float> rows(static_cast<std::size_t>(m), bound_no_partner),
      columns(static_cast<std::size_t>(n), bound_no_partner);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
      const float s = bound_twin_sum(x.rows[r], x.columns[c]);
      const float of_zero = bound_of_zero(row_shares[r], column_shares[c]);
      rows[r] = std::min(rows[r], bound_ratio(s, column_weights[c], of_zero));
      columns[c] = std::min(columns[c], bound_ratio(s, row_weights[r], of_zero));
      const std::int64_t unit = j / unit_columns * units.down + i / unit_rows;
      const int byte = unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns));
      ASSERT_EQ(codes[static_cast<std::size_t>(unit * unit_bytes + byte)],
                bound_code(s * row_norms[r] * column_norms[c]))
          << family << ", entry " << i << ", " << j;
    }
  for (std::size_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(std::bit_cast<float>(row_minima[i]), rows[i]) << family << ", row " << i;
  for (std::size_t j = 0; j < columns.size(); ++j)
    ASSERT_EQ(std::bit_cast<float>(column_minima[j]), columns[j]) << family << ", column " << j;
}

TEST(BoundOnGpu, ProductsAreTheModels) {
  for (const std::string& family : operand_families()) {
    the_product_is_the_models(family, 37, 70, 200);
    the_product_is_the_models(family, 150, 20, 129);
  }
  the_product_is_the_models(operand_families().front(), 140, 270, 2300);
}

// What a guess is judged by: bytes of a part of k, from both kernels that write them, minima without codes, and the
// verdict on scales that are as fine as these ask, and on one that is a bit coarser.
struct JudgedCase : BoundCase<double> {
  int step;
  std::vector<BoundTwinVector<double>> part_rows, part_columns;
  cuda::DeviceBuffer<cuda::GuessFindings> guess{1};

  JudgedCase(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k)
      : BoundCase(family, m, n, k),
        step(cuda::bound_k_step(k, false)),
        part_rows(bound_twin_rows(a, step)),
        part_columns(bound_twin_columns(b, step)) {
    const std::int64_t part = divide_up(k, step);
    task.product = cuda::fp8_part_product();
    task.rule.part = static_cast<double>(part) / static_cast<double>(k);
    task.guess = guess.data();
    task.judged = 0;
    task.guesses = {.least = 15, .count = 1};
    measure_part(true);
    weigh_on_device((sample(), task), nullptr);
    cuda::multiply_bound_on_device({.rows = buffers.side.a.bytes,
                                    .columns = buffers.side.b.bytes,
                                    .m = m,
                                    .n = n,
                                    .pitch = device_pitch(part),
                                    .k = part,
                                    .row = buffers.side.a.side,
                                    .column = buffers.side.b.side},
                                   nullptr);
  }
  void measure_part(bool with_statistics) {
    auto x = operand_a(), y = operand_b();
    x.bound_step = y.bound_step = step;
    cuda::check(cudaMemset(buffers.side.a.bytes, 0x7b, static_cast<std::size_t>(a.rows() * device_pitch(a.columns()))),
                "poison");
    if (with_statistics)
      cuda::measure_on_device<double>(x, y, scaling_rule<double>(Contract::fp64(), a.columns()),
                                      {.moduli = 15, .words = 2}, {}, nullptr);
    else
      cuda::bound_bytes_on_device<double>(x, y, nullptr);
  }
  void expect_part_bytes() {
    const std::int64_t part = divide_up(a.columns(), step), pitch = device_pitch(part);
    const auto got = fetched(buffers.side.a.bytes, a.rows() * pitch);
    for (std::size_t v = 0; v < part_rows.size(); ++v)
      for (std::int64_t l = 0; l < part; ++l)
        ASSERT_EQ(got[v * static_cast<std::size_t>(pitch) + static_cast<std::size_t>(l)],
                  part_rows[v].bytes[static_cast<std::size_t>(l)])
            << "vector " << v << ", place " << l;
  }
  // The scaled exponents that the minima ask for; 0: nothing.
  std::vector<int> asked(int side) {
    const auto& vectors = side == 0 ? rows : columns;
    const auto minima =
        fetched((side == 0 ? buffers.side.a : buffers.side.b).side.minima, static_cast<std::int64_t>(vectors.size()));
    const float largest = std::bit_cast<float>(sample_words().native_largest);
    std::vector<int> all;
    for (std::size_t v = 0; v < vectors.size(); ++v)
      all.push_back(vectors[v].statistics.zero()
                        ? 0
                        : bound_exponent(judging_rule(task.rule, largest), task.product, task.k, vectors[v].statistics,
                                         std::bit_cast<float>(minima[v])));
    return all;
  }
  // Of a guess by this rule.
  bool serves(const ScalingRule& rule) {
    task.guesses.chooser[0][0] = task.guesses.chooser[0][1] = ScaleChooser(rule, task.k);
    cuda::check(cudaMemset(guess.data(), 0, guess.bytes()), "guess");
    judge_guess_on_device(task, nullptr);
    return fetched(guess.data(), 1)[0].fails == 0;
  }
};

TEST(BoundOnGpu, PartsOfTheProductAreTheModels) {
  for (const std::int64_t k : {2500, 8200, 9000}) {
    JudgedCase x("random_phi_1", 37, 70, k);
    x.expect_part_bytes();
    x.measure_part(false);
    x.expect_part_bytes();
    const auto weights = fetched(x.buffers.side.b.side.inverse_weights, 70);
    const auto minima = fetched(x.buffers.side.a.side.minima, 37);
    for (std::size_t i = 0; i < 37; ++i) {
      float least = bound_no_partner;
      for (std::size_t j = 0; j < 70; ++j)
        least = std::min(least, bound_ratio(bound_twin_sum(x.part_rows[i], x.part_columns[j], k), weights[j], 0));
      ASSERT_EQ(std::bit_cast<float>(minima[i]), least) << "row " << i << ", k = " << k;
    }
  }
}

TEST(BoundOnGpu, GuessesServeWhereEveryScaleIsFineEnough) {
  int served = 0, failed = 0;
  for (const char* family : {"random_phi_1", "random_phi_2", "random_phi_4", "sparse", "zero_lines", "integers"})
    for (int bits = 90; bits <= 124; bits += 2) {
      JudgedCase x(family, 130, 61, 2100);
      ScalingRule rule = scaling_rule<double>(Contract::fp64(), 2100);
      rule.twice_norm_bits_16 = 16 * bits;
      const ScaleChooser chooser(rule, 2100);
      bool fine = true;
      for (const int side : {0, 1}) {
        const auto asked = x.asked(side);
        const auto& vectors = side == 0 ? x.rows : x.columns;
        for (std::size_t v = 0; v < vectors.size(); ++v)
          if (!vectors[v].statistics.zero() && chooser.ordinary_exponent(vectors[v].statistics) < asked[v])
            fine = false;
      }
      const bool serves = x.serves(rule);
      EXPECT_TRUE(fine || !serves) << family << ", " << bits;
      served += serves ? 1 : 0;
      failed += serves ? 0 : 1;
    }
  EXPECT_GT(served, 10);
  EXPECT_GT(failed, 10);
}

// Up to the order of sums in float.
TEST(BoundOnGpu, SamplesAreThoseOfTheHost) {
  for (const std::string& family : operand_families()) {
    BoundCase<double> x(family, 130, 61, 700);
    x.measure();
    x.sample();
    const auto got = fetched(x.buffers.sample.entries, bound_sampled * bound_sampled);
    const BoundSample want = x.host_sample();
    for (std::size_t e = 0; e < want.size(); ++e) {
      EXPECT_NEAR(got[e].magnitude, want[e].magnitude, 1e-4f * want[e].magnitude) << family << ", entry " << e;
      EXPECT_NEAR(got[e].native, want[e].native, 1e-3f * want[e].native + 1e-4f) << family << ", entry " << e;
      EXPECT_NEAR(got[e].last, want[e].last, 1e-3f) << family << ", entry " << e;
      EXPECT_NEAR(got[e].row_partners, want[e].row_partners, 1e-4f * want[e].row_partners) << family << ", entry " << e;
      EXPECT_NEAR(got[e].column_partners, want[e].column_partners, 1e-4f * want[e].column_partners)
          << family << ", entry " << e;
    }
    weigh_on_device(x.task, nullptr);
    const cuda::BoundSampleWords words = x.sample_words();
    const auto least = [&](const auto& vectors) {
      int bits = most_bound_slack;
      for (const auto& v : vectors)
        if (!v.statistics.zero()) bits = std::min(bits, bound_slack(x.task.rule, x.task.k, v.statistics));
      return bits;
    };
    EXPECT_EQ(words.slack(0), least(x.rows)) << family;
    EXPECT_EQ(words.slack(1), least(x.columns)) << family;
  }
}

// Beside the kernel that measures, or behind a gate: open, or closed, which leaves all as it was.
TEST(BoundOnGpu, SamplesBehindAGateAreTheSame) {
  for (const std::string& family : operand_families()) {
    BoundCase<double> x(family, 130, 61, 700);
    const cuda::DeviceBuffer<int> word{1};
    const int one = 1;
    cuda::copy_to_device(word.data(), &one, sizeof one);
    x.measure();
    x.sample();
    const auto beside = fetched(x.buffers.sample.entries, bound_sampled * bound_sampled);
    const unsigned largest = x.sample_words().native_largest;
    for (const int open : {0, 1}) {
      cuda::check(cudaMemset(x.buffers.sample.entries, 0x7b, beside.size() * sizeof(BoundSampleEntry)), "entries");
      x.task.gate = {word.data(), open};
      x.sample();
      const auto gated = fetched(x.buffers.sample.entries, bound_sampled * bound_sampled);
      const bool same = std::memcmp(beside.data(), gated.data(), beside.size() * sizeof(BoundSampleEntry)) == 0;
      EXPECT_EQ(same, open == 1) << family;
      EXPECT_EQ(x.sample_words().native_largest, open == 1 ? largest : 0) << family;
    }
  }
}

TEST(BoundOnGpu, ScalesAreThoseOfTheHost) {
  int coarser = 0;
  for (const std::string& family : operand_families()) {
    BoundCase<double> x(family, 130, 61, 300);
    x.measure();
    x.sample();
    weigh_on_device(x.task, nullptr);
    x.multiply();
    set_bound_exponents_on_device(x.task, nullptr);
    choose_bound_moduli_on_device(x.task, nullptr);
    const cuda::BoundFindings found = fetched(x.buffers.found, 1)[0];
    ASSERT_GT(found.moduli, 0) << family;
    const cuda::BoundSampleWords words = x.sample_words();
    const int allowed = allowed_slack(words.slack(1), words.slack(0));
    EXPECT_LE(found.slack, allowed) << family;
    coarser += found.slack > 0 ? 1 : 0;
    int exponent = 0;
    const auto expect_scales = [&](int side, const auto& vectors, const cuda::BoundVectorsOnDevice& bounds,
                                   const int* scales, int slack, int spare) {
      const auto minima = fetched(bounds.side.minima, static_cast<std::int64_t>(vectors.size()));
      const auto got = fetched(scales, static_cast<std::int64_t>(vectors.size()));
      BoundSampleSteps steps;
      for (std::size_t v = 0; v < vectors.size(); ++v) {
        const VectorStatistics& s = vectors[v].statistics;
        if (s.zero()) continue;
        const int em = bound_exponent(x.task.rule, x.task.product, x.task.k, s, std::bit_cast<float>(minima[v]), slack);
        exponent = std::max(exponent, em);
        EXPECT_GE(got[v] + s.exponent, em) << family << ", vector " << v;
        EXPECT_LE(got[v] + s.exponent, em + spare) << family << ", vector " << v;
      }
      for (int t = 0; t < bound_sampled; ++t) {
        const auto v =
            static_cast<std::size_t>(bound_sampled_vector(side, t, static_cast<std::int64_t>(vectors.size())));
        const VectorStatistics& s = vectors[v].statistics;
        const int em = bound_exponent(x.task.rule, x.task.product, x.task.k, s, std::bit_cast<float>(minima[v]));
        steps[static_cast<std::size_t>(t)] = bound_sample_step(x.task.rule, s, em);
      }
      return steps;
    };
    const BoundSampleSteps rows = expect_scales(0, x.rows, x.buffers.side.a, x.a_scales.data(), rows_slack(found.slack),
                                                found.spare - found.spare / 2);
    const BoundSampleSteps columns =
        expect_scales(1, x.columns, x.buffers.side.b, x.b_scales.data(), columns_slack(found.slack), found.spare / 2);
    EXPECT_EQ(found.exponent, exponent) << family;
    EXPECT_EQ(found.slack, bound_slack_bits(x.task.rule, x.host_sample(), rows, columns, allowed)) << family;
  }
  EXPECT_GT(coarser, 0);
}

}  // namespace
}  // namespace vernier::test::bound_gpu_test
