// Modelled engines in the place of int8 engines: they give the residues of the definition, however they round.
#include <gtest/gtest.h>

#include "product_case.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::modelled_int8_engine_test {
namespace {

TEST(ModelledInt8Engine, EqualsTheDefinition) {
  for (const char* row : {"nvidia-int8", "nvidia-int8-satfinite", "amx-uint8-int8", "amx-uint8-uint8", "avx512-vnni",
                          "hopper-wgmma-fp16-fp32", "volta-fp16-fp32", "ampere-bf16-fp32", "hopper-mma-tf32-fp32",
                          "hopper-fp64", "amx-bf16"}) {
    const Int8Engine& engine = find_int8_engine("model:" + std::string(row));
    EXPECT_EQ(engine.name(), "model:" + std::string(row));
    const std::int64_t longest = std::min<std::int64_t>(engine.longest_k(), 2048) / step_size;
    for (const auto& [shape, modulus, values, accumulate] : {std::tuple{Shape{2, 1, 3}, 251, Values::random, false},
                                                             {Shape{1, 2, 2}, 256, Values::ends, true},
                                                             {Shape{1, 1, longest}, 256, Values::smallest, false},
                                                             {Shape{1, 1, longest}, 256, Values::opposite, false}})
      EXPECT_EQ(ProductCase(shape, modulus, values, accumulate)
                    .mismatch(engine.scratch_bytes(), [&](const Int8Product& p) { engine.multiply(p); }),
                "")
          << row;
  }
}

TEST(ModelledInt8Engine, RefusesEnginesThatLoseResidues) {
  for (const char* row : {"hopper-wgmma-e4m3-fp32", "hopper-mma-fp16-fp16", "abacus"}) {
    try {
      find_int8_engine("model:" + std::string(row));
      ADD_FAILURE() << row;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument) << row;
      EXPECT_NE(std::string(error.what()).find(row), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace vernier::test::modelled_int8_engine_test
