// Which device a product is asked of, and what the estimate makes of a link. Without a GPU all is the CPU's.
#include "blas/offload/device.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cstdlib>
#include <thread>

#include "base/asked_device.hpp"
#include "base/size.hpp"
#include "fixture.hpp"
#include "offload/cuda_link.hpp"
#include "slow_native.hpp"
#include "support/error_message.hpp"
#include "vernier/level3.hpp"
#include "vernier/rates.hpp"

namespace vernier::test::device_test {
namespace {

TEST(DeviceChoice, ReadsThreeNames) {
  for (const Device device : {Device::cpu, Device::cuda, Device::automatic})
    EXPECT_EQ(parse_device(to_string(device)), device);
  EXPECT_EQ(message([] { parse_device("gpu"); }), "device \"gpu\": expected cpu, cuda or auto");
}

TEST(DeviceChoice, ReadsHowMuchMemoryOfAGpuMayBeTaken) {
  EXPECT_EQ(parse_bytes("3000000"), 3000000u);
  EXPECT_EQ(parse_bytes("5K"), 5u << 10);
  EXPECT_EQ(parse_bytes("512M"), std::size_t{512} << 20);
  EXPECT_EQ(parse_bytes("2G"), std::size_t{2} << 30);
  EXPECT_EQ(parse_bytes("18014398509481985K"), largest_size);  // 2^64 + 1024
  for (const char* wrong : {"", "0", "G", "2T", "2GB", "-1", "1.5G", "99999999999999999999"})
    EXPECT_EQ(message([&] { parse_bytes(wrong); }),
              joined("\"", wrong, "\": expected bytes, as in 3000000, 512M or 2G"));
}

TEST(MeasuredRates, AreRefusedBeforeAnythingIsMeasuredWhereNoFileTakesThem) {
  for (const char* file : {"none", "/dev/null"}) {
    setenv("VERNIER_RATES", file, 1);
    EXPECT_EQ(
        message([] { measure_rates(1); }),
        "measure_rates: VERNIER_RATES is \"none\" or no regular file, or there is no home; expected a file for the "
        "rates: set VERNIER_RATES");
  }
  setenv("VERNIER_RATES", "none", 1);
}

TEST(DeviceChoice, IsOfAThreadAndEndsWithItsScope) {
  ASSERT_EQ(current_device(), Device::cpu);
  const DeviceScope outer(Device::automatic);
  {
    const DeviceScope inner(Device::cuda);
    EXPECT_EQ(current_device(), Device::cuda);
    std::thread([] { EXPECT_EQ(current_device(), Device::cpu); }).join();
  }
  EXPECT_EQ(current_device(), Device::automatic);
}

TEST(DeviceChoice, TellsWhyTheCpuMultipliesWhatWasAskedOfAGpu) {
  const Call<double> call{.a = scattered_matrix<double>(120, 90, 0.5, 1),
                          .b = scattered_matrix<double>(90, 130, 0.5, 2)};
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const auto expected = multiply(call, options);
  EXPECT_EQ(expected.report.plan.reason.find("on the CPU"), std::string::npos);
  const DeviceScope scope(Device::cuda);
  options.device = Device::cpu;
  EXPECT_EQ(multiply(call, options).report.plan.reason.find("on the CPU"), std::string::npos);
  options.device.reset();
  options.engine = default_engine();
  const auto named = multiply(call, options);
  EXPECT_NE(named.report.plan.reason.find("on the CPU: its engine or workspace was named"), std::string::npos);
  options.engine.clear();
  const auto out = multiply(call, options);
  EXPECT_EQ(difference(out.c, expected.c), "");
  const std::string why = offload::device_count() == 0 ? "on the CPU: " + host_link().missing : "matrices of the host";
  EXPECT_NE(out.report.plan.reason.find(why), std::string::npos) << out.report.plan.reason;
  const DeviceScope cpu(Device::cpu);
  options.device = Device::cuda;
  EXPECT_EQ(multiply(call, options).report.plan.reason, out.report.plan.reason);
}

// Estimates give way to what calls of a class took; with rates of the tables alone nothing is observed.
TEST(DeviceChoice, FollowsWhatCallsTookOnBothSides) {
  const SlowNative measured(1, 15, 1500, 2);
  forget_places();
  const PlacedClass near{1, {.cpu = 10e-3, .gpu = 9e-3}}, other{2, {.cpu = 10e-3, .gpu = 9e-3}};
  const auto take = [&](bool gpu, double seconds, int calls = 4) {
    for (int i = 0; i < calls; ++i) {
      Placement place{.on_gpu = {}, .chosen = near, .looks = looks_so_far};
      if (gpu) place.on_gpu.emplace();
      place.took(seconds);
    }
  };
  std::thread([&] { take(true, 1, 2); }).join();
  EXPECT_EQ(choose_place(near), Place::cpu) << "a thread's first calls on a GPU pay for its start";
  take(true, 1, 2);
  take(false, 10e-3);
  EXPECT_EQ(choose_place(near), Place::gpu) << "it has its turn";
  take(true, 5e-3);
  EXPECT_EQ(choose_place(near), Place::gpu);
  EXPECT_EQ(choose_place(other), Place::cpu);
  take(true, 20e-3);
  EXPECT_EQ(choose_place(near), Place::cpu);
  forget_places();
}

// A routine that auto leaves to the CPU goes as device = cpu has it.
TEST(DeviceChoice, LeavesTheCpuItsOwnChoice) {
  const SlowNative measured(1.2, 15, 1500, 2);  // by AVX2 residues for a square, the BLAS for a triangle
  constexpr std::int64_t n = 700;
  const Matrix<double> a = scattered_matrix<double>(n, n, 0.5, 1);
  const auto reason = [&](Device device) {
    forget_observations();  // or the second call has a look at the other way
    Matrix<double> c(n, n);
    const Options options{.threads = 2, .device = device};
    return syrk<double>(Uplo::lower, Op::none, n, n, 1, a.data(), n, 0, c.data(), n, options).plan.reason;
  };
  if (preferred_int8_engine().name() == "avx2") {
    EXPECT_NE(reason(Device::cpu).find("of a triangle the BLAS underneath does half"), std::string::npos);
  }
  EXPECT_EQ(reason(Device::automatic), reason(Device::cpu));
}

// As in a parallel region: one processor of four takes four times as long as all, whatever it might reach alone.
TEST(DeviceChoice, EstimatesACallWithSomeOfTheThreadsAsIfOthersHadTheRest) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  const SlowNative measured(1.5, 15, 1500, 4);
  const ProductShape square{1500, 1500, 1500};
  const double all = cpu_estimate<double>(square, {});
  EXPECT_NEAR(all, 20e-3, 1e-3);
  EXPECT_DOUBLE_EQ(cpu_estimate<double>(square, {.threads = 1}), 4 * all);
  EXPECT_DOUBLE_EQ(cpu_estimate<double>(square, {.threads = 2}), 2 * all);
  omp_set_num_threads(before);
}

// A routine goes up, is made and comes down one after the other.
TEST(DeviceChoice, EstimatesWholeRoutinesByTheirBytes) {
  constexpr CopyRates link{.up = 20e9, .down = 10e9};
  const RoutineWork half{"syrk", {1000, 1000, 1000}, 0.5, 1e-3, 200000000, 100000000};
  const OffloadEstimate e = estimate_routine(half, 4e-3, 8e-3, link);
  EXPECT_DOUBLE_EQ(e.up, 10e-3);
  EXPECT_DOUBLE_EQ(e.down, 20e-3);
  EXPECT_DOUBLE_EQ(e.product, 3e-3);
  EXPECT_DOUBLE_EQ(e.cpu, 4e-3);
  EXPECT_GT(e.gpu, e.up + e.down + e.product);
}

// A link of 20 GB/s: 8192 x 8192 doubles are 27 ms each.
TEST(DeviceChoice, EstimatesCopiesAndProductsSideBySide) {
  constexpr CopyRates link{.up = 20e9, .down = 20e9};
  const ProductShape square{8192, 8192, 8192};
  const OffloadEstimate e = estimate_offload(square, 8, false, 12e-3, 1, link);
  EXPECT_NEAR(e.up, 2 * 8192. * 8192 * 8 / 20e9, 1e-9);
  EXPECT_NEAR(e.down, 8192. * 8192 * 8 / 20e9, 1e-9);
  EXPECT_GT(e.gpu, e.up + e.down);
  EXPECT_LT(e.gpu, e.up + e.down + e.product);
  EXPECT_GT(estimate_offload(square, 8, true, 12e-3, 1, link).up, e.up);
  EXPECT_GT(estimate_offload(square, 8, false, 5, 1, link).gpu, 5);
}

}  // namespace
}  // namespace vernier::test::device_test
