// Hardware engines: the list, the errors, and the probes of what is here.
#include "vernier/hardware.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "vernier/vernier.hpp"
#if VERNIER_HAS_CUDA
#include "model/hardware/gpu.hpp"
#endif

namespace vernier::model::test::hardware_test {
namespace {

std::string complaint(std::string_view name, Status& status) {
  try {
    open_hardware(name);
  } catch (const Error& e) {
    status = e.status();
    return e.what();
  }
  return "";
}

TEST(Hardware, EveryEngineOpensOrSaysWhatIsMissing) {
  ASSERT_GT(hardware_engines().size(), 40u);
  for (const HardwareEngine& e : hardware_engines()) {
    EXPECT_TRUE(is_hardware_name(e.name));
    EXPECT_NO_THROW(validate(e.engine)) << e.name;
    Status status = Status::ok;
    const std::string what = complaint(e.name, status);
    if (e.missing.empty()) {
      EXPECT_EQ(what, "") << e.name;
    } else {
      EXPECT_EQ(status, Status::unsupported) << e.name;
      EXPECT_NE(what.find(e.missing), std::string::npos) << what;
    }
  }
}

TEST(Hardware, UnknownNamesAreWrongArguments) {
  for (const char* name : {"gpu:abacus", "cublas:", "cpu:amx-fp64", "hopper-fp64"}) {
    Status status = Status::ok;
    EXPECT_NE(complaint(name, status).find(name), std::string::npos);
    EXPECT_EQ(status, Status::invalid_argument) << name;
  }
  EXPECT_FALSE(is_hardware_name("hopper-fp64"));
}

#if VERNIER_HAS_CUDA
TEST(Hardware, EveryListedInstructionHasAKernel) {
  int instructions = 0;
  for (const HardwareEngine& e : hardware_engines())
    if (e.name.starts_with("gpu:")) {
      ++instructions;
      EXPECT_NE(gpu::find_kernel(e.name.substr(4)), nullptr) << e.name;
    }
  EXPECT_EQ(instructions, 26);
  EXPECT_EQ(gpu::find_kernel("abacus"), nullptr);
}
#endif

// What is here answers as its description does: every probe, no difference.
TEST(Hardware, AnswersAsItsDescription) {
  for (const HardwareEngine& e : hardware_engines()) {
    if (!e.missing.empty() || e.name.starts_with("cublas:")) continue;  // which kernel cuBLAS takes is its own affair
    const auto found = differences(probe(*open_hardware(e.name)), probe(ModelEngine(e.engine)));
    EXPECT_EQ(found, std::vector<std::string>{}) << e.name;
  }
}

TEST(Hardware, DifferencesNameTheTopicAndBothValues) {
  Engine engine = find_engine("hopper-mma-fp16-fp32").engine;
  const ProbeReport right = probe(ModelEngine(engine));
  EXPECT_EQ(differences(right, right), std::vector<std::string>{});
  engine.fraction_bits = 24;
  const auto found = differences(probe(ModelEngine(engine)), right);
  EXPECT_NE(std::find(found.begin(), found.end(), "F: 24 instead of 25"), found.end());
}

}  // namespace
}  // namespace vernier::model::test::hardware_test
