// Libraries that `vernier bench` measures against, opened by name or path.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace vernier::cli::baseline_test {
namespace {

using namespace vernier::cli::testing;
using Json = nlohmann::json;

const std::string plain = VERNIER_PLAIN_BLAS;

TEST_F(Program, BenchTakesAnyLibraryWithCblasAsABaseline) {
  for (const char* type : {"float", "double", "complex_float", "complex_double"})
    for (const char* ops : {"", " --transa T --transb C"}) {
      const Outcome outcome =
          run("bench gemm --shape 20x30x40 --repeats 2 --samples 600 --json --baseline native,plain=" + plain +
              " --type " + type + ops);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      const Json row = Json::parse(outcome.out);
      const double u = std::string(type).ends_with("double") ? 0x1p-53 : 0x1p-24;
      ASSERT_EQ(row["baselines"].size(), 2U);
      EXPECT_EQ(row["baselines"][0]["baseline"], "native");
      EXPECT_EQ(row["baselines"][1]["baseline"], "plain");
      EXPECT_NE(row["baselines"][1]["baseline_blas"].get<std::string>().find("plain_blas"), std::string::npos);
      double fastest = 1e300;
      for (const Json& baseline : row["baselines"]) {
        EXPECT_LT(baseline["baseline_error_max"], 2 * 42 * u) << type << ops << baseline;
        fastest = std::min(fastest, baseline["baseline_seconds"].get<double>());
      }
      EXPECT_EQ(row["baseline_seconds"], fastest);
      EXPECT_DOUBLE_EQ(row["ratio"], fastest / row["seconds"].get<double>());
    }
}

TEST_F(Program, BenchSaysWhereTheBaselineIsTheProductItself) {
  const Json row = Json::parse(run("bench gemm --n 16 --repeats 1 --json").out);  // so small a product is native
  EXPECT_EQ(row["scheme"], "native");
  EXPECT_EQ(row["baseline_is_the_product"], true);
  const Json own = Json::parse(run("bench gemm --n 16 --repeats 1 --json --contract fp64+reproducible").out);
  EXPECT_EQ(own["baseline_is_the_product"], false);
  EXPECT_NE(run("bench gemm --n 16 --repeats 1").out.find("the same call"), std::string::npos);
}

TEST_F(Program, BenchRefusesALibraryThatCannotBeABaseline) {
  refuses(2, "bench gemm --n 8 --baseline nothing", "no such name");
  refuses(2, "bench gemm --n 8 --baseline x=/nowhere/libx.so", "/nowhere/libx.so");
  refuses(2, std::string("bench gemm --n 8 --baseline ") + VERNIER_HURRIED_CLOCK, "cblas_dgemm");
  refuses(2, "bench gemm --n 8 --baseline native,,native", "\"\"");
}

}  // namespace
}  // namespace vernier::cli::baseline_test
