// The int8 kernel by mma.sync, thread by thread on the host: products of residues as their definition has them.
#include <gtest/gtest.h>

#include <random>

#include "cuda/launch.hpp"
#include "engine/int8_mma_bulk.cuh"
#include "number/moduli.hpp"

namespace vernier::cuda::int8_mma_test {
namespace {

struct Case {
  std::int64_t m, n, k;
  int moduli, products, blocks;
  bool accumulate;
  bool paced = false;
};

CUtensorMap map_of(const std::uint8_t* planes, std::int64_t vectors, const MmaTask& task, int count, int rows,
                   int bytes) {
  return {planes, task.pitch, vectors, count, rows, bytes};
}

// All blocks of a launch, one after another.
template <class T>
void run(const MmaReductions& reductions, const MmaTask& task, int blocks, int planes) {
  std::vector<std::uint8_t> stages(static_cast<std::size_t>(T::tile.shared_bytes()), 0xff);
  shared_memory = stages.data();
  gridDim.x = static_cast<unsigned>(blocks);
  for (unsigned b = 0; b < gridDim.x; ++b) {
    blockIdx.x = b;
    if constexpr (T::tile.bulk()) {
      const CUtensorMap columns = map_of(task.columns, task.grid.n, task, planes, T::columns, T::depth),
                        rows = map_of(task.rows, task.grid.m, task, planes, T::rows / 2, T::depth);
      emulated::Block(T::threads, [&] {
        begin_bulk_tiles<T>(columns, rows, 0);
        residues_between(T::tile, task) ? multiply_bulk_tiles<T, true>(columns, rows, 0, reductions, task)
                                        : multiply_bulk_tiles<T, false>(columns, rows, 0, reductions, task);
      });
    } else {
      emulated::Block(T::threads, [&] { multiply_tiles<T>(0, reductions, task); });
    }
  }
}

template <class T>
void expect_products(const Case& c) {
  SCOPED_TRACE(testing::Message() << T::tile.name << ", " << c.m << " x " << c.n << " x " << c.k);
  const std::int64_t pitch = device_pitch(c.k);
  const int planes = c.moduli * c.products;
  std::mt19937_64 random(static_cast<std::uint64_t>(c.m));
  const auto bytes = [&](std::int64_t vectors) {
    std::vector<std::uint8_t> x(static_cast<std::size_t>(planes * vectors * pitch));
    for (auto& byte : x) byte = static_cast<std::uint8_t>(random());
    return x;
  };
  const auto rows = bytes(c.m), columns = bytes(c.n);
  const ProductUnits units = product_units(c.m, c.n);
  std::vector<std::int8_t> out(static_cast<std::size_t>(planes * units.plane_bytes()));
  for (auto& byte : out) byte = static_cast<std::int8_t>(static_cast<int>(random() % 127) - 63);
  const auto before = out;
  MmaReductions reductions{};
  for (int q = 0; q < c.moduli; ++q)
    reductions.of[q] = make_byte_reduction<1>(moduli[static_cast<std::size_t>(q)], q + 2, {}, ByteForm::symmetric);
  const DeviceInt8Product product{.rows = rows.data(),
                                  .columns = columns.data(),
                                  .m = c.m,
                                  .n = c.n,
                                  .pitch = pitch,
                                  .moduli = c.moduli,
                                  .products = c.products,
                                  .accumulate = c.accumulate,
                                  .out = out.data()};
  MmaTask task = mma_task(T::tile, product);
  halve_last_round(task, T::tile, c.blocks);
  const int blocks = std::min(c.blocks, task.grid.jobs), rounds = static_cast<int>(divide_up(task.grid.jobs, blocks));
  const int steps = static_cast<int>(divide_up(task.steps, Pace::boxes));  // of a tile
  std::uint32_t paced = 0;
  if (c.paced) task.pace = {&paced, blocks, rounds * steps};
  paced_steps.clear();
  run<T>(reductions, task, blocks, planes);
  if (c.paced && T::tile.keeps_pace()) {
    EXPECT_EQ(paced, static_cast<std::uint32_t>(blocks * rounds * steps)) << "who waits for those that have ended";
    ASSERT_EQ(paced_steps.size(), static_cast<std::size_t>(blocks));
    for (int b = 0; b < blocks; ++b)
      EXPECT_EQ(paced_steps[static_cast<std::size_t>(b)], divide_up(task.grid.jobs - b, blocks) * steps) << b;
  } else {
    EXPECT_EQ(paced, 0U);
    EXPECT_TRUE(paced_steps.empty());
  }
  for (int plane = 0; plane < planes; ++plane) {
    const int q = plane / c.products, p = moduli[static_cast<std::size_t>(q)];
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < pitch; ++l)
          sum += std::int64_t{rows[static_cast<std::size_t>((plane * c.m + i) * pitch + l)]} *
                 columns[static_cast<std::size_t>((plane * c.n + j) * pitch + l)];
        const auto at = static_cast<std::size_t>(
            plane * units.plane_bytes() + (j / unit_columns * units.down + i / unit_rows) * unit_bytes +
            unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns)));
        const std::int64_t expected = sum % p * (q + 2) + (c.accumulate ? before[at] : 0);
        ASSERT_EQ((out[at] - expected) % p, 0) << "plane " << plane << ", (" << i << ", " << j << ")";
      }
  }
}

template <class T>
class MmaKernel : public testing::Test {};
using Tiles =
    testing::Types<MmaTileOf<mma_128x256>, MmaTileOf<mma_128x128>, MmaTileOf<bulk_128x256>, MmaTileOf<bulk_128x128>>;
TYPED_TEST_SUITE(MmaKernel, Tiles);

TYPED_TEST(MmaKernel, MultipliesRaggedTilesOfSeveralPlanes) {
  expect_products<TypeParam>({.m = 300, .n = 150, .k = 130, .moduli = 1, .products = 2, .blocks = 3});
  expect_products<TypeParam>({.m = 1, .n = 1, .k = 1, .moduli = 2, .products = 1, .blocks = 1, .accumulate = true});
  expect_products<TypeParam>({.m = 40, .n = 70, .k = 700, .moduli = 1, .products = 1, .blocks = 1});
  expect_products<TypeParam>({.m = 300, .n = 150, .k = 130, .moduli = 1, .products = 1, .blocks = 3});
  expect_products<TypeParam>({.m = 200, .n = 150, .k = 130, .moduli = 1, .products = 1, .blocks = 8});
  expect_products<TypeParam>(
      {.m = 300, .n = 70, .k = 300, .moduli = 1, .products = 1, .blocks = 1, .accumulate = true});
}

// Several tiles a block, some blocks with one fewer, and halves of tiles.
TYPED_TEST(MmaKernel, CountsStepsOfPace) {
  expect_products<TypeParam>(
      {.m = 300, .n = 150, .k = 2300, .moduli = 1, .products = 1, .blocks = 3, .accumulate = false, .paced = true});
  expect_products<TypeParam>(
      {.m = 260, .n = 300, .k = 130, .moduli = 1, .products = 1, .blocks = 5, .accumulate = false, .paced = true});
}

TEST(MmaTiles, SmallOnesAreForMatricesThatFillHalfOfALargeOne) {
  const MmaDevice ampere{132, false};
  EXPECT_EQ(choose_mma_tile(8192, 8192, 8192, 14, ampere), mma_128x256);
  EXPECT_EQ(choose_mma_tile(128, 8192, 8192, 14, ampere), mma_128x128);
  EXPECT_EQ(choose_mma_tile(128, 128, 128, 1, ampere), mma_128x256) << "one round either way";
}

TEST(MmaTiles, BulkCopiesAreForGpusThatHaveThemAndRoom) {
  EXPECT_EQ(choose_mma_tile(8192, 8192, 8192, 14, {142, false}), mma_128x256);
  EXPECT_EQ(choose_mma_tile(8192, 8192, 8192, 14, {188, false}), mma_128x256);
  EXPECT_EQ(choose_mma_tile(2048, 2048, 2048, 14, {}), bulk_128x256);
  EXPECT_EQ(choose_mma_tile(4096, 4096, 4096, 14, {}), bulk_128x256);
  EXPECT_EQ(choose_mma_tile(8192, 8192, 8192, 14, {}), bulk_128x256);
  EXPECT_EQ(choose_mma_tile(128, 8192, 8192, 14, {}), bulk_128x128);
}

}  // namespace
}  // namespace vernier::cuda::int8_mma_test
