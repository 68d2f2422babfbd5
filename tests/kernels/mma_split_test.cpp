// The error-corrected product by mma.sync, thread by thread on the host: bit by bit what the replay of its scheme has
// on the same engine.
#include <gtest/gtest.h>

#include <random>

#include "cuda/launch.hpp"
#include "split/product/mma_split.cuh"
#include "split/split.hpp"
#include "vernier/split.hpp"

namespace vernier::cuda::mma_split_test {
namespace {

// Vectors whose largest element lies in [2^14, 2^15), so that nothing is scaled; k side by side.
std::vector<float> scaled_vectors(std::int64_t count, std::int64_t k, std::mt19937& random) {
  std::uniform_real_distribution<float> element(-1, 1);
  std::vector<float> x(static_cast<std::size_t>(count * k));
  for (float& e : x) e = std::ldexp(element(random), static_cast<int>(random() % 15));
  for (std::int64_t v = 0; v < count; ++v) x[static_cast<std::size_t>(v * k)] = 0x1.5p14f;
  return x;
}

// split/plane.hpp's lines of them.
std::vector<std::byte> lines_of(const split::Scheme& scheme, const std::vector<float>& x, std::int64_t count,
                                std::int64_t k, int steps, int parts) {
  const std::int64_t word_bytes = scheme.low == model::Format::tf32 ? 4 : 2, step_k = staged_row / word_bytes;
  std::vector<std::byte> lines(static_cast<std::size_t>(count * steps * parts * staged_row));
  for (std::int64_t v = 0; v < count; ++v)
    for (std::int64_t l = 0; l < k; ++l) {
      std::uint64_t words[max_split_parts];
      split::split(scheme, x[static_cast<std::size_t>(v * k + l)], words);
      for (int p = 0; p < parts; ++p)
        std::memcpy(lines.data() + ((v * steps + l / step_k) * parts + p) * staged_row + l % step_k * word_bytes,
                    &words[p], static_cast<std::size_t>(word_bytes));
    }
  return lines;
}

// Tile (x, y) of a product, of which the block multiplies that tile alone.
template <class Config>
void expect_replay(const char* name, std::int64_t m, std::int64_t n, std::int64_t k, int x, int y) {
  SCOPED_TRACE(testing::Message() << name << ", " << m << " x " << n << " x " << k);
  const split::Scheme& scheme = split::find_scheme(name);
  const int step_k = Config::Word == FloatWord::tf32 ? 16 : 32,
            pairs = static_cast<int>((k + 2 * step_k - 1) / (2 * step_k));
  const int steps = 2 * pairs, parts = Config::parts;
  std::mt19937 random(static_cast<unsigned>(k));
  const std::vector<float> a = scaled_vectors(m, k, random), b = scaled_vectors(n, k, random);
  const auto rows = lines_of(scheme, a, m, k, steps, parts), columns = lines_of(scheme, b, n, k, steps, parts);
  const int pitch = steps * parts * staged_row;
  std::vector<std::uint8_t> stages(static_cast<std::size_t>(Config::shared_bytes), 0xff);
  shared_memory = stages.data();
  mma_engine = split::engine_of(scheme).engine;
  std::vector<float> found(static_cast<std::size_t>(Config::columns * Config::rows));
  emulated::Block(Config::threads, [&] {
    MmaSplitSums<Config> sums;
    multiply_split_tile<Config>(0, {columns.data(), static_cast<int>(n), pitch}, x,
                                {rows.data(), static_cast<int>(m), pitch}, y, steps, sums, [] {});
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int t = 0; t < Config::warp_tiles; ++t)
      for (int i = 0; i < 16; ++i) {
        const int column = warp % Config::warps_across * Config::warp_columns + 16 * t + lane / 4 + i % 4 / 2 * 8,
                  row = warp / Config::warps_across * Config::warp_rows + i / 4 * 8 + lane % 4 * 2 + i % 2;
        found[static_cast<std::size_t>(column * Config::rows + row)] = sums.sum[t][i / 4][i % 4];
      }
  });
  std::vector<float> expected(static_cast<std::size_t>(m * n));
  split::multiply(scheme, mma_engine, Op::transpose, Op::none, m, n, k, a.data(), k, b.data(), k, expected.data(), m);
  for (std::int64_t j = x * Config::columns; j < std::min<std::int64_t>(n, (x + 1) * Config::columns); ++j)
    for (std::int64_t i = y * Config::rows; i < std::min<std::int64_t>(m, (y + 1) * Config::rows); ++i)
      ASSERT_EQ(found[static_cast<std::size_t>((j - x * Config::columns) * Config::rows + i - y * Config::rows)],
                expected[static_cast<std::size_t>(i + j * m)])
          << "(" << i << ", " << j << ")";
}

TEST(MmaSplitKernel, HasTheBitsOfItsScheme) {
  expect_replay<MmaSplitConfig<FloatWord::fp16>>("halfhalf_sep", 128, 128, 64, 0, 0);
  expect_replay<MmaSplitConfig<FloatWord::tf32>>("tf32tf32_sep", 128, 128, 48, 0, 0);
  expect_replay<MmaSplitConfig<FloatWord::bf16>>("bf16x6_sep", 128, 64, 64, 0, 0);
  expect_replay<MmaSplitConfig<FloatWord::bf16, 1>>("bf16x6_short", 128, 64, 40, 0, 0);
}

TEST(MmaSplitKernel, MultipliesRaggedTilesOfMoreStepsThanStages) {
  expect_replay<MmaSplitConfig<FloatWord::fp16>>("halfhalf_sep", 133, 150, 190, 1, 1);
  expect_replay<MmaSplitConfig<FloatWord::bf16>>("bf16x6_sep", 3, 70, 130, 1, 0);
}

}  // namespace
}  // namespace vernier::cuda::mma_split_test
