// Guesses on Hopper: parts of the product of |A| and |B| judge scales that are there already.
#include "gpu/bound_case.hpp"
#include "residue/convert/winograd_cuda.hpp"

namespace vernier::test::bound_guess_gpu_test {
namespace {

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

// What follows a guess that does not serve has closed gates, sums of the products of Strassen-Winograd too.
TEST(BoundOnGpu, AClosedGateLeavesProductsOfStrassenAsTheyAre) {
  constexpr int moduli = 16;
  constexpr std::int64_t plane = 4096;
  const std::vector<std::int8_t> ones(static_cast<std::size_t>(moduli * winograd_products * plane), 1);
  cuda::DeviceBuffer<std::int8_t> products(ones.size());
  cuda::DeviceBuffer<int> word(1);
  for (const int value : {0, 1}) {
    cuda::copy_to_device(products.data(), ones.data(), ones.size());
    cuda::copy_to_device(word.data(), &value, sizeof value);
    cuda::combine_winograd_on_device(products.data(), moduli, plane, nullptr, {word.data(), 1});
    EXPECT_EQ(fetched(products.data(), static_cast<std::int64_t>(ones.size())) == ones, value == 0);
  }
}

}  // namespace
}  // namespace vernier::test::bound_guess_gpu_test
