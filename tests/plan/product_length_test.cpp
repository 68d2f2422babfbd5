// The slices of k that the planner cuts are exact on an int32 accumulator, by the model's predicate.
#include <gtest/gtest.h>

#include "engine/int8_engine.hpp"
#include "vernier/model.hpp"

namespace vernier::test {
namespace {

// Residues reach -128; the predicate is about |x| <= 127. A sum that holds k products of 127^2 holds fewer of 128^2.
std::int64_t longest_exact_product(const char* engine) {
  return model::exact_length(model::find_engine(engine).engine, 7) * 127 * 127 / (128 * 128);
}

TEST(ProductLength, SlicesAreExactOnEveryInt8Engine) {
  for (const char* engine : {"nvidia-int8", "amx-int8-int8"}) {
    const std::int64_t longest = longest_exact_product(engine);
    EXPECT_GE(longest, max_product_k) << engine;
    EXPECT_LE(longest, (std::int64_t{1} << 31) / (128 * 128)) << engine;
  }
}

}  // namespace
}  // namespace vernier::test
