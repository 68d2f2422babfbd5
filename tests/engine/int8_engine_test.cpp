#include "engine/int8_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "product_properties.hpp"

namespace vernier::test::int8_engine_test {
namespace {

class Int8EngineTest : public testing::TestWithParam<const Int8Engine*> {
 protected:
  void SetUp() override {
    engine().enter_thread();
    RecordProperty("engine", std::string(engine().name()));
  }
  void TearDown() override { engine().leave_thread(); }
  static const Int8Engine& engine() { return *GetParam(); }
};

std::vector<const Int8Engine*> supported_engines() {
  std::vector<const Int8Engine*> list;
  for (const Int8Engine* engine : int8_engines())
    if (engine->missing().empty()) list.push_back(engine);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Engines, Int8EngineTest, testing::ValuesIn(supported_engines()),
                         [](const auto& info) { return std::string(info.param->name()); });

TEST_P(Int8EngineTest, IsTheOneAskedFor) { EXPECT_EQ(&find_int8_engine(engine().name()), &engine()); }

// Rows hold i + 1 and columns j + 1 at one k alone: the product is an outer product that can be read off.
TEST_P(Int8EngineTest, GivesAnOuterProductInResidueOrder) {
  AlignedBytes rows(step_bytes), columns(step_bytes), out(block_elements), scratch(engine().scratch_bytes());
  std::fill_n(rows.data(), step_bytes, std::int8_t{0});
  std::fill_n(columns.data(), step_bytes, std::int8_t{0});
  for (int i = 0; i < strip_size; ++i) {
    rows.data()[row_byte(i, 37)] = static_cast<std::int8_t>(i + 1);
    columns.data()[column_byte(i, 37)] = static_cast<std::int8_t>(i + 1);
  }
  engine().multiply({.columns = columns.data(),
                     .column_strips = 1,
                     .rows = rows.data(),
                     .row_strips = 1,
                     .steps = 1,
                     .modulus = 247,
                     .out = out.data(),
                     .out_strips = 1,
                     .scratch = scratch.data()});
  EXPECT_EQ(out.data()[residue_index(0, 0)], 1);
  EXPECT_EQ(out.data()[residue_index(2, 4)], 15);
  EXPECT_EQ(out.data()[residue_index(30, 1)], 62);
  EXPECT_EQ(out.data()[residue_index(31, 3)], 128 - 247);
  EXPECT_EQ(out.data()[residue_index(31, 31)], 1024 - 4 * 247);
}

TEST_P(Int8EngineTest, EqualsTheDefinitionForEveryBlocking) { EXPECT_EQ(every_blocking(engine()), ""); }
TEST_P(Int8EngineTest, EqualsTheDefinitionForEveryModulus) { EXPECT_EQ(every_modulus(engine()), ""); }
TEST_P(Int8EngineTest, HoldsTheLongestSums) { EXPECT_EQ(longest_sums(engine()), ""); }
TEST_P(Int8EngineTest, LeavesZerosAlone) { EXPECT_EQ(zeros(engine()), ""); }
TEST_P(Int8EngineTest, Accumulates) { EXPECT_EQ(accumulation(engine()), ""); }

}  // namespace
}  // namespace vernier::test::int8_engine_test
