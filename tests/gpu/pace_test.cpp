// Products whose blocks keep pace along k: the same bits, and an end, whatever runs beside them.
#include <gtest/gtest.h>

#include <vector>

#include "base/pace.hpp"
#include "busy.hpp"
#include "cuda/device.hpp"
#include "engine/sm90_int8.hpp"
#include "scheme/residues.hpp"
#include "split_fixture.hpp"

namespace vernier::test {
namespace {

using cuda::DeviceBuffer, cuda::DeviceInt8Product;

TEST(Pace, LongProductsKeepIt) {
  const auto paced = [](std::int64_t n, std::int64_t k) { return plan_split_gemm("tf32tf32_fold", n, n, k); };
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
  EXPECT_EQ(products(steps.data(), nullptr), expected);
  EXPECT_EQ(products(steps.data(), nullptr), expected);  // the word is cleared
  // Every producer, and so every block, has told all its steps in the end, of which the last turn may have fewer.
  const std::uint32_t told = fetched(steps)[0], a_tile = 5120 / 128 / Pace::boxes + 1;
  EXPECT_GT(told, 0U);
  EXPECT_EQ(told % (2 * a_tile), 0U) << told;
}

// Two products hold a half of the multiprocessors each, and neither's other half can begin before the other has ended.
TEST_P(PacedResidues, EndThoughNotAllBlocksRun) {
  const auto expected = products(nullptr, nullptr);
  const DeviceBuffer<std::int8_t> other_out(expected.size());
  const DeviceBuffer<std::uint32_t> other_steps(1);
  DeviceInt8Product other = product;
  other.out = other_out.data();
  other.steps = other_steps.data();
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities");
  cudaStream_t first = nullptr;
  check(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, greatest), "stream");
  const cuda::Stream beside, stream;
  occupy(cuda::current_device().multiprocessors / 2, 10, beside);
  multiply_sm90(static_cast<cuda::Sm90Variant>(GetParam()), other, stream);
  EXPECT_EQ(products(steps.data(), first), expected);
  stream.wait();
  EXPECT_EQ(fetched(other_out), expected);
  (void)cudaStreamDestroy(first);
}

TEST_P(PacedResidues, AreReplayedByGraphs) {
  const auto expected = products(nullptr, nullptr);
  const cuda::Stream stream;
  product.steps = steps.data();
  check(cudaMemset(product.out, 0x55, expected.size()), "poison");
  check(cudaDeviceSynchronize(), "poison");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  multiply_sm90(static_cast<cuda::Sm90Variant>(GetParam()), product, stream);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "capture");
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph, 0), "graph");
  for (int replay = 0; replay < 2; ++replay) check(cudaGraphLaunch(exec, stream), "replay");
  stream.wait();
  EXPECT_EQ(results(), expected);
  (void)cudaGraphExecDestroy(exec);
  (void)cudaGraphDestroy(graph);
}

// By name, with columns that the product splits itself where its kernel can.
TEST(PacedSplit, HasTheBitsOfOthers) {
  const std::int64_t m = 2304, n = 2500, k = 1152;
  const Operands<float> x = sample(0, m, n, k);
  const OnDevice a(x.a), b(x.b);
  for (const char* scheme : split_kernel_schemes) {
    SplitGemmPlan plan = plan_split_gemm(scheme, m, n, k);
    const cuda::DeviceWorkspace workspace(plan.workspace, nullptr);
    const auto product = [&](bool paced) {
      plan.attempts.front().paced = paced;
      Matrix<float> c(m, n);
      const OnDevice dc(c);
      split_gemm(plan, split_operands_of(Op::none, Op::none, m, n, k, a.data(), m, b.data(), k), {1, nullptr},
                 {0, nullptr}, dc.data(), m, workspace.data(), nullptr);
      check(cudaDeviceSynchronize(), scheme);
      dc.fetch(c);
      return c;
    };
    EXPECT_EQ(difference(product(true), product(false)), "") << scheme;
  }
}

}  // namespace
}  // namespace vernier::test
