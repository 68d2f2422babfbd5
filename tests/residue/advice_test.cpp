// What a report says of fp64-normwise where the data kept fp64 from the integer scheme.
#include "residue/plan/cost.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "product/plan/measured_rates.hpp"

namespace vernier::test::advice_test {
namespace {

// By the tables: a machine whose BLAS once took milliseconds for a small product may gain at any size.
class NormwiseAdvice : public testing::Test {
 protected:
  void SetUp() override {
    setenv("VERNIER_RATES", "none", 1);
    forget_rates();
  }
};

TEST_F(NormwiseAdvice, NamesModuliAndGainWhereThereIsOne) {
  const std::string gpu = device_normwise_advice<double>({8192, 8192, 8192}, Contract::fp64(), GpuModel{});
  EXPECT_NE(gpu.find("fp64-normwise serves all data with 14 moduli, by estimate 1.5 times as fast"), std::string::npos)
      << gpu;
  const std::string cpu = normwise_advice<double>({4096, 4096, 4096}, Contract::fp64(), "amx", 2);
  EXPECT_NE(cpu.find("fp64-normwise serves all data with 14 moduli"), std::string::npos) << cpu;
}

TEST_F(NormwiseAdvice, IsSilentWhereNothingIsGained) {
  EXPECT_EQ(device_normwise_advice<double>({1024, 1024, 1024}, Contract::fp64(), GpuModel{}), "");
  EXPECT_EQ(device_normwise_advice<double>({8192, 8192, 8192}, Contract::normwise(), GpuModel{}), "");
  EXPECT_EQ(device_normwise_advice<double>({8192, 8192, 8192}, Contract::bits(60), GpuModel{}), "");
  EXPECT_EQ(normwise_advice<double>({64, 64, 64}, Contract::fp64(), "amx", 2), "");
  EXPECT_EQ(normwise_advice<double>({4096, 4096, 4096}, Contract::fp64(), "portable", 2), "");
}

}  // namespace
}  // namespace vernier::test::advice_test
