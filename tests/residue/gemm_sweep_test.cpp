// The estimates that choose between residues and the native product on a GPU, against measured times.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "residue/plan/plan_cuda.hpp"
#include "support/project_file.hpp"

namespace vernier::gemm_sweep_test {
namespace {

using Json = nlohmann::json;

// Microseconds of one call from rest, and of one of many.
double both(const Json& pair) { return pair[0].get<double>() + pair[1].get<double>(); }

// Shapes on an H200: squares, updates of rank k, inner products, thin matrices; data that the square-root rule serves,
// and not.
TEST(GemmSweep, TheDefaultIsNowhereSlowerThanCublasByMoreThanAFewPercent) {
  std::ifstream file(test::project_file("bench/results/gemm_sweep_h200.json"));
  const Json measured = Json::parse(file);
  ASSERT_EQ(measured["machine"]["device"], "NVIDIA H200");
  int taken = 0, passed = 0, wide = 0;
  for (const Json& row : measured["results"]) {
    if (row["what"] != "sweep") continue;
    const std::int64_t m = row["m"], n = row["n"], k = row["k"];
    const double phi = row["phi"], ratio = both(row["residues"]) / both(row["cublas"]);
    if (phi >= 1) {  // of the file alone: what such data ask for is found out on the GPU, and decides
      ++wide;
      if (both(row["cublas"]) > 200) {
        EXPECT_LE(both(row["contract"]), 1.05 * both(row["cublas"])) << m << " x " << n << " x " << k;
      }
    } else if (!device_takes_native<double>({m, n, k}, {.contract = Contract::fp64(), .may_use_sqrt_rule = true})) {
      ++taken;
      EXPECT_LE(ratio, 1.05) << m << " x " << n << " x " << k << ", phi " << phi;
    } else {
      passed += ratio < 0.8;
    }
  }
  EXPECT_GT(wide, 100);
  EXPECT_GT(taken, 20);
  EXPECT_LE(passed, 8);  // where residues would have been a quarter faster
}

}  // namespace
}  // namespace vernier::gemm_sweep_test
