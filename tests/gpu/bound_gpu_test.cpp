// Scales from the product of |A| and |B| on Hopper: every kernel against its twin on the host.
#include <cstring>

#include "gpu/bound_case.hpp"

namespace vernier::test::bound_gpu_test {
namespace {

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
