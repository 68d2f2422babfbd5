// The energy counter of the card.
#include "energy.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "cuda/device.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::energy_test {
namespace {

TEST(Energy, GrowsWithTimeAsACardMayTakeOrSaysWhatIsMissing) {
  const std::string missing = bench::EnergyMeter::missing();
  if (!missing.empty()) {
    EXPECT_THROW(bench::EnergyMeter(), Error) << missing;
    GTEST_SKIP() << "NOT TESTED: " << missing;
  }
  const bench::EnergyMeter meter;
  const cuda::DeviceBuffer<char> memory(std::size_t{1} << 28);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const double before = meter.joules();
  while (seconds() < 0.5) {
    cuda::check(cudaMemset(memory.data(), 1, memory.bytes()), "cudaMemset");
    cuda::check(cudaDeviceSynchronize(), "cudaMemset");
  }
  const double watts = (meter.joules() - before) / seconds();
  EXPECT_GT(watts, 20);
  EXPECT_LT(watts, 2000);
}

}  // namespace
}  // namespace vernier::test::energy_test
