// The kernel of the AMX engine on a model of the tile registers: on any machine with AVX-512.
#if VERNIER_X86

#include <gtest/gtest.h>

#include "avx512_under_test.hpp"
#include "base/cpu_features.hpp"
#include "engine/int8_engine.hpp"
#include "product_properties.hpp"

namespace vernier::test::amx_kernel_test {
namespace {

class AmxKernelTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = missing_features(InstructionSet::avx512_vnni);
    if (!missing.empty()) GTEST_SKIP() << "NOT TESTED: the AMX kernel needs AVX-512; this machine lacks " << missing;
  }
};

struct EmulatedEngine {
  std::size_t scratch_bytes() const { return amx_scratch_bytes; }
  void multiply(const Int8Product& product) const { multiply_on_emulated_tiles(product); }
};

TEST_F(AmxKernelTest, EqualsTheDefinitionForEveryBlocking) { EXPECT_EQ(every_blocking(EmulatedEngine{}), ""); }
TEST_F(AmxKernelTest, EqualsTheDefinitionForEveryModulus) { EXPECT_EQ(every_modulus(EmulatedEngine{}), ""); }
TEST_F(AmxKernelTest, HoldsTheLongestSums) { EXPECT_EQ(longest_sums(EmulatedEngine{}), ""); }
TEST_F(AmxKernelTest, LeavesZerosAlone) { EXPECT_EQ(zeros(EmulatedEngine{}), ""); }
TEST_F(AmxKernelTest, Accumulates) { EXPECT_EQ(accumulation(EmulatedEngine{}), ""); }

}  // namespace
}  // namespace vernier::test::amx_kernel_test

#endif
