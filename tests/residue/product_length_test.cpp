// The planner cuts k so that the engine's instruction loses nothing: the predicate of the engine model says how, and
// the model that executes the instruction bears it out.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "residue/plan/blocking.hpp"
#include "vernier/model.hpp"

namespace vernier::test::product_length_test {
namespace {

constexpr std::size_t unlimited = ~std::size_t{0};

// Sums on the model, from zero, of k products of bytes up to the instruction's largest; are they those of int64? kind
// 0: random bytes; 1: all at the end of the range that gives the largest sum.
bool sums_exactly(const Int8Instruction& instruction, std::int64_t k, int kind) {
  const model::Engine& e = model::find_engine(instruction.model).engine;
  std::mt19937 random(7);
  const auto make = [&](model::Format format, int largest, std::vector<char>& words) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(k));
    const int least = format == model::Format::uint8 ? 0 : -largest,
              most = format == model::Format::int8 ? std::min(largest, 127) : largest;
    for (auto& x : values) {
      x = kind == 0 ? std::uniform_int_distribution<int>(least, most)(random) : least == 0 ? most : least;
      if (kind == 2 && &x == &values.back()) x = 1;
      const std::uint64_t word = model::encode(format, static_cast<double>(x));
      const char* bytes = reinterpret_cast<const char*>(&word);
      words.insert(words.end(), bytes, bytes + model::storage_bytes(format));
    }
    return values;
  };
  std::vector<char> a, b;
  const auto x = make(e.a, instruction.largest_row, a), y = make(e.b, instruction.largest_column, b);
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < x.size(); ++i) exact += x[i] * y[i];
  std::uint64_t d = 0;
  const std::uint64_t zero = 0;
  model::multiply(e, {}, 1, 1, k, a.data(), k, b.data(), k, &zero, &d, 1);
  return model::decode(e.c, d) == static_cast<double>(exact);
}

// An engine that stands on any instruction of the table.
class Imagined final : public Int8Engine {
 public:
  explicit Imagined(const Int8Instruction& instruction) : instruction_(instruction) {}
  std::string_view name() const override { return "imagined"; }
  std::string_view description() const override { return "only planned for"; }
  std::string missing() const override { return ""; }
  std::size_t scratch_bytes() const override { return 0; }
  void multiply(const Int8Product&) const override { FAIL(); }
  Int8Instruction instruction() const override { return instruction_; }

 private:
  Int8Instruction instruction_;
};

TEST(ProductLength, EveryEnginesBlocksAreSummedExactlyByItsInstruction) {
  for (const Int8Engine* engine : int8_engines()) {
    const Blocking b = choose_blocking({32, 32, 1000000}, 15, 1, *engine, unlimited);
    EXPECT_LE(b.k_block, engine->longest_k()) << engine->name();
    for (const int kind : {0, 1, 2})
      EXPECT_TRUE(sums_exactly(engine->instruction(), b.k_block, kind)) << engine->name();
  }
}

// On each of these the plan is cut where the predicate says: there nothing is lost, and one step further something is.
TEST(ProductLength, ThePredicateCutsK) {
  const struct {
    Int8Instruction instruction;
    std::int64_t longest;
  } cases[] = {{{"hopper-mma-fp16-fp32"}, 1024},          // 1024 * 2^14 = 2^24
               {{"volta-fp16-fp32", 64, 64}, 4096},       // 4096 * 2^12 = 2^24
               {{"hopper-wgmma-e4m3-fp32", 15, 15}, 64},  // 72 * 225 <= 2^14, in whole steps
               {{"amx-bf16", 128, 255}, 512}};            // 514 * 128 * 255 <= 2^24, in whole steps
  for (const auto& [instruction, longest] : cases) {
    const Blocking b = choose_blocking({32, 32, 100 * longest}, 15, 1, Imagined(instruction), unlimited);
    EXPECT_EQ(b.k_block, longest) << instruction.model;
    for (const int kind : {0, 1, 2}) EXPECT_TRUE(sums_exactly(instruction, longest, kind)) << instruction.model;
    EXPECT_FALSE(sums_exactly(instruction, longest + step_size, 2)) << instruction.model;
  }
}

TEST(ProductLength, Int32SumsHoldLessThan131072ProductsOfResidues) {
  for (const char* row : {"nvidia-int8", "amx-int8-int8", "int32"}) {
    EXPECT_EQ(longest_exact_k({row}), 131072 - step_size) << row;
    EXPECT_TRUE(sums_exactly({row}, 131072 - step_size, 1)) << row;
    EXPECT_FALSE(sums_exactly({row}, 131072, 1)) << row;  // (-128)^2 * 2^17 = 2^31
  }
  EXPECT_EQ(longest_exact_k({.model = "avx512-vnni", .largest_row = 255}), 65792);  // of 65793
}

}  // namespace
}  // namespace vernier::test::product_length_test
