// Products whose blocks keep pace along k: the same bits, and an end, whatever runs beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "busy.hpp"
#include "cuda/device.hpp"
#include "cuda/pace.hpp"
#include "engine/int8_mma.hpp"
#include "engine/sm90_int8.hpp"
#include "product/operand_blocks.hpp"
#include "residue/residues.hpp"
#include "split_fixture.hpp"

namespace vernier::test::pace_test {
namespace {

using cuda::DeviceBuffer, cuda::DeviceInt8Product;

TEST(Pace, LongProductsKeepIt) {
  const auto paced = [](std::int64_t n, std::int64_t k) { return cuda::plan_split_gemm("tf32tf32_fold", n, n, k); };
  EXPECT_TRUE(paced(16384, 16384).attempts.front().paced);
  EXPECT_FALSE(paced(8192, 8192).attempts.front().paced);
  EXPECT_FALSE(paced(65536, 512).attempts.front().paced);
}

template <class T>
std::vector<T> fetched(const DeviceBuffer<T>& x) {
  std::vector<T> host(x.size());
  check(cudaMemcpy(host.data(), x.data(), x.bytes(), cudaMemcpyDeviceToHost), "fetch");
  return host;
}

// Several tiles a block, with a last turn that not all blocks have.
class PacedResidues : public testing::TestWithParam<int> {
 protected:
  PacedResidues() {
    product.rows = rows.data(), product.columns = columns.data();
    product.factor = residue_system(product.moduli).row_factor;
    fill(rows, 1);
    fill(columns, 2);
  }

  std::vector<std::int8_t> products(std::uint32_t* word, cudaStream_t stream) {
    check(cudaMemsetAsync(out.data(), 0x55, out.bytes(), stream), "poison");
    product.out = out.data();
    product.steps = word;
    multiply_sm90(static_cast<cuda::Sm90Variant>(GetParam()), product, stream);
    check(cudaStreamSynchronize(stream), "products");
    return results();
  }
  std::vector<std::int8_t> results() const { return fetched(out); }

  // Of all producers, each as many as the one with most tiles.
  std::uint32_t all_steps() const {
    const cuda::Sm90Grid grid =
        cuda::sm90_grid(cuda::sm90_tiles[static_cast<std::size_t>(GetParam())], product.m, product.n, product.moduli);
    const std::int64_t clusters = std::min<std::int64_t>(grid.jobs, cuda::current_device().multiprocessors / 2);
    const std::int64_t a_tile = divide_up(product.pitch / 128, Pace::boxes);
    return static_cast<std::uint32_t>(2 * clusters * divide_up(grid.jobs, clusters) * a_tile);
  }

  DeviceInt8Product product{.m = 3100, .n = 3300, .pitch = 5120, .moduli = 3};
  DeviceBuffer<std::uint32_t> steps{1};

 private:
  static void fill(const DeviceBuffer<std::uint8_t>& x, unsigned seed) {
    Random random(seed);
    std::vector<std::uint8_t> host(x.size());
    for (auto& b : host) b = static_cast<std::uint8_t>(256 * random.uniform());
    cuda::copy_to_device(x.data(), host.data(), host.size());
  }

  DeviceBuffer<std::uint8_t> rows{static_cast<std::size_t>(product.moduli * product.m * product.pitch)},
      columns{static_cast<std::size_t>(product.moduli * product.n * product.pitch)};
  DeviceBuffer<std::int8_t> out{static_cast<std::size_t>(product.moduli) *
                                static_cast<std::size_t>(product_units(product.m, product.n).plane_bytes())};
};
INSTANTIATE_TEST_SUITE_P(Tiles, PacedResidues, testing::Range(0, static_cast<int>(cuda::sm90_tiles.size())));

TEST_P(PacedResidues, HaveTheBytesOfOthers) {
  const auto expected = products(nullptr, nullptr);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(products(steps.data(), nullptr), expected);
    EXPECT_EQ(fetched(steps)[0], all_steps());
  }
}

// By mma.sync, with halves of tiles in the last round; as few bytes as are long enough.
TEST(PacedMma, LongProductsHaveTheBytesOfOthers) {
  if (!cuda::takes_later_kernels()) GTEST_SKIP() << "blocks that copy by cp.async keep no pace";
  const cuda::MmaTile& tile = cuda::mma_tiles[cuda::bulk_128x256];
  const std::int64_t blocks = cuda::current_device().multiprocessors, across = 71,
                     down = divide_up(19 * blocks + 1, across);
  DeviceInt8Product product{.m = tile.rows * down, .n = tile.columns * across, .pitch = 65536, .moduli = 1};
  const std::int64_t whole = across * down, jobs = whole + cuda::halved_jobs(tile, whole, blocks),
                     rounds = divide_up(jobs, blocks), boxes = product.pitch / tile.depth;
  ASSERT_TRUE(pace_pays(rounds, boxes, 10000));
  Random random(3);
  std::vector<std::uint8_t> some(std::size_t{1} << 24);
  for (auto& b : some) b = static_cast<std::uint8_t>(256 * random.uniform());
  const auto bytes = [&](std::int64_t vectors) {
    DeviceBuffer<std::uint8_t> x(static_cast<std::size_t>(vectors * product.pitch));
    for (std::size_t at = 0; at < x.size(); at += some.size())
      cuda::copy_to_device(x.data() + at, some.data(), std::min(some.size(), x.size() - at));
    return x;
  };
  const DeviceBuffer<std::uint8_t> rows = bytes(product.m), columns = bytes(product.n);
  const DeviceBuffer<std::int8_t> out(static_cast<std::size_t>(product_units(product.m, product.n).plane_bytes()));
  const DeviceBuffer<std::uint32_t> steps(1);
  product.rows = rows.data(), product.columns = columns.data(), product.out = out.data();
  product.factor = residue_system(product.moduli).row_factor;
  const auto products = [&](std::uint32_t* word) {
    check(cudaMemset(out.data(), 0x55, out.bytes()), "poison");
    product.steps = word;
    multiply_mma(cuda::bulk_128x256, product, nullptr);
    check(cudaDeviceSynchronize(), "products");
    return fetched(out);
  };
  const auto expected = products(nullptr);
  EXPECT_EQ(products(steps.data()), expected);
  EXPECT_EQ(fetched(steps)[0], static_cast<std::uint32_t>(blocks * rounds * divide_up(boxes, Pace::boxes)));
}

struct PriorityStream {
  PriorityStream() {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities");
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "stream");
  }
  ~PriorityStream() { (void)cudaStreamDestroy(stream); }
  PriorityStream(const PriorityStream&) = delete;
  PriorityStream& operator=(const PriorityStream&) = delete;

  cudaStream_t stream = nullptr;
};

// A half of a product waits for multiprocessors that others hold, and then for those that a second product takes first:
// who waited for it without end would hold the others up for ever.
TEST_P(PacedResidues, EndThoughNotAllBlocksRun) {
  const auto expected = products(nullptr, nullptr);
  const DeviceBuffer<std::int8_t> other_out(expected.size());
  const DeviceBuffer<std::uint32_t> other_steps(1);
  check(cudaMemset(other_out.data(), 0x55, other_out.bytes()), "poison");
  check(cudaDeviceSynchronize(), "poison");
  DeviceInt8Product other = product;
  other.out = other_out.data();
  other.steps = other_steps.data();
  const PriorityStream first;
  const cuda::Stream beside, stream;
  occupy(cuda::current_device().multiprocessors / 2, 10, beside);
  multiply_sm90(static_cast<cuda::Sm90Variant>(GetParam()), other, stream);
  EXPECT_EQ(products(steps.data(), first.stream), expected);
  stream.wait();
  EXPECT_EQ(fetched(other_out), expected);
  EXPECT_EQ(fetched(other_steps)[0], all_steps());
}

TEST_P(PacedResidues, AreReplayedByGraphs) {
  const auto expected = products(nullptr, nullptr);
  const cuda::Stream stream;
  product.steps = steps.data();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  multiply_sm90(static_cast<cuda::Sm90Variant>(GetParam()), product, stream);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "capture");
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph, 0), "graph");
  for (int replay = 0; replay < 2; ++replay) {
    check(cudaMemsetAsync(product.out, 0x55, expected.size(), stream), "poison");
    check(cudaGraphLaunch(exec, stream), "replay");
    stream.wait();
    EXPECT_EQ(results(), expected);
    EXPECT_EQ(fetched(steps)[0], all_steps());
  }
  (void)cudaGraphExecDestroy(exec);
  (void)cudaGraphDestroy(graph);
}

// Steps of all producers after a product of that kernel: each as many as the one with most tiles; none where no pair of
// blocks shares a tile.
std::optional<std::uint32_t> all_steps(const cuda::SplitGemmPlan& plan) {
  const cuda::SplitAttempt& t = plan.attempts.front();
  const cuda::SplitTile tile = t.kernel->tile;
  if (tile.blocks_sharing != 2) return std::nullopt;
  const std::int64_t pairs = divide_up(plan.n, 2 * tile.columns) * divide_up(plan.m, tile.rows);
  const std::int64_t clusters = std::min<std::int64_t>(pairs, cuda::current_device().multiprocessors / 2);
  const std::int64_t a_tile = divide_up(cuda::split_line_count(t.kernel->form, plan.k), Pace::boxes);
  return static_cast<std::uint32_t>(2 * clusters * divide_up(pairs, clusters) * a_tile);
}

// By name, with columns that the product splits itself where its kernel can.
TEST(PacedSplit, HasTheBitsOfOthers) {
  const std::int64_t m = 2304, n = 2500, k = 1152;
  const Operands<float> x = sample(0, m, n, k);
  const MatrixOnDevice a(x.a), b(x.b);
  for (const char* scheme : cuda::split_kernel_schemes()) {
    cuda::SplitGemmPlan plan = cuda::plan_split_gemm(scheme, m, n, k);
    const cuda::SplitOperands operands =
        cuda::split_operands_of({Op::none, Op::none, m, n, k, nullptr, a.data(), m, b.data(), k});
    const cuda::DeviceWorkspace workspace(plan.workspace, nullptr);
    const auto product = [&](bool paced, std::uint32_t expected_steps) {
      plan.attempts.front().paced = paced;
      Matrix<float> c(m, n);
      const MatrixOnDevice dc(c);
      std::uint32_t* word = cuda::split_gemm_stages(plan, operands, dc.data(), m, workspace.data()).steps;
      check(cudaMemset(word, 0x55, sizeof *word), "poison");
      cuda::split_gemm(plan, operands, {{1, nullptr}, {0, nullptr}}, dc.data(), m, workspace.data(), nullptr);
      check(cudaDeviceSynchronize(), scheme);
      EXPECT_EQ(cuda::on_host(word, 1, nullptr)[0], expected_steps) << scheme;
      dc.fetch(c);
      return c;
    };
    constexpr std::uint32_t untouched = 0x55555555;
    EXPECT_EQ(difference(product(true, all_steps(plan).value_or(untouched)), product(false, untouched)), "") << scheme;
  }
}

}  // namespace
}  // namespace vernier::test::pace_test
