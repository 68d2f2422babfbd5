// Which block of a product of elements a GPU holds, and which products go there.
#include "residue/partial_gpu/device_product.hpp"

#include <gtest/gtest.h>

namespace vernier::test::element_block_test {
namespace {

std::size_t bytes_of(const ElementLayout& layout, const ElementBlock& block, bool sums) {
  Arena count;
  carve_elements(count, layout, block, sums);
  return count.used();
}

ElementProduct product_of(std::int64_t m, std::int64_t n, std::int64_t k, const ElementLayout& layout) {
  return {m, n, k, {nullptr, m, false, layout.bytes()}, {nullptr, k, true, layout.bytes()}, nullptr, m};
}

TEST(ElementBlock, FitsTheMemoryAndIsNoSmallerThanItMustBe) {
  for (const ElementLayout& layout : {ElementLayout{1, 15}, ElementLayout{2, 15}, ElementLayout{1, 49}})
    for (const bool sums : {false, true})
      for (const std::size_t memory : {std::size_t{64} << 20, std::size_t{1} << 30}) {
        const ElementProduct product = product_of(9000, 5000, 20000, layout);
        const ElementBlock block = choose_element_block(layout, product, {memory, 65536, sums});
        ASSERT_GT(block.m, 0);
        EXPECT_GE(block.k, 1024);
        EXPECT_LE(bytes_of(layout, block, sums), memory);
        EXPECT_GT(bytes_of(layout, {2 * block.m, 2 * block.n, 2 * block.k}, sums), memory);
      }
  const ElementLayout layout{1, 15};
  const ElementBlock whole =
      choose_element_block(layout, product_of(100, 200, 300, layout), {std::size_t{1} << 30, 65536, false});
  EXPECT_EQ(whole.m, 100);
  EXPECT_EQ(whole.n, 200);
  EXPECT_EQ(whole.k, 300);
}

TEST(ElementBlock, HasNoSizesWhereTheDeviceHoldsNone) {
  const ElementLayout layout{1, 15};
  EXPECT_EQ(choose_element_block(layout, product_of(100, 200, 300, layout), {}).m, 0);
  EXPECT_EQ(choose_element_block(layout, product_of(500, 500, 5000, layout), {1 << 16, 65536, false}).m, 0);
}

TEST(ElementProducts, GoToAGpuThatIsAskedForOrFasterByEstimate) {
  PassData pass;
  pass.layout = {1, 15};
  pass.engine = &find_int8_engine("portable");
  const auto roomy = []() -> ElementDevice { return {std::size_t{4} << 30, 65536, false}; };
  const auto goes = [&](Device device, std::int64_t n) {
    pass.device = device;
    return goes_to_a_gpu(pass, product_of(n, n, n, pass.layout), roomy);
  };
  EXPECT_FALSE(goes(Device::cpu, 5000));
  EXPECT_TRUE(goes(Device::cuda, 300));
  EXPECT_FALSE(goes(Device::cuda, 20)) << "too small to be planned";
  EXPECT_TRUE(goes(Device::automatic, 5000));
  pass.threads = 64;
  EXPECT_FALSE(goes(Device::automatic, 70)) << "copies would take longer";
  pass.threads = 128;
  const auto cramped = []() -> ElementDevice { return {std::size_t{6} << 20, 65536, false}; };
  const ElementProduct large = product_of(2000, 2000, 2000, pass.layout);
  const ElementBlock block = choose_element_block(pass.layout, large, cramped());
  ASSERT_GT(block.m, 0);
  EXPECT_TRUE(goes_to_a_gpu(pass, large, roomy));
  EXPECT_FALSE(goes_to_a_gpu(pass, large, cramped)) << "operands go up for each of many blocks";
  EXPECT_FALSE(goes_to_a_gpu(pass, large, []() -> ElementDevice { return {}; })) << "there is no GPU";
}

}  // namespace
}  // namespace vernier::test::element_block_test
