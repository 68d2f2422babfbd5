// Programs of cuBLAS under the preload on a GPU: forms, graphs, workspaces and epilogues with cuBLAS itself and
// libvernier itself.
#include "programs.hpp"

namespace vernier::test::cublas_on_gpu_test {
namespace {

using CublasPreloadOnGpu = Programs;

TEST_F(CublasPreloadOnGpu, ProductsAreThoseOfCublasWithinRounding) {
  const Outcome outcome = run_under(VERNIER_PRELOAD, "", "'" VERNIER_ON_GPU "'");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.report["taken"], 19) << outcome.report;
  EXPECT_EQ(outcome.report["workspaces"]["used"], 5) << outcome.report;
  EXPECT_EQ(outcome.report["workspaces"]["too_small"], 1) << outcome.report;
  for (const char* name : {"cublasDsyrkx", "cublasZsyrkx", "cublasZherkx", "cublasCsyrkEx", "cublasCherk3mEx",
                           "cublasDgemm", "cublasZherk", "cublasZher2k"})
    EXPECT_EQ(outcome.report["symbols"][name]["taken"], 1) << name << outcome.report;
}

// libvernier has a cuBLAS of its own for data that are too wide.
TEST_F(CublasPreloadOnGpu, ProductsWithoutACublasOfTheProgramAreMadeAllTheSame) {
  const Outcome outcome = run_under(VERNIER_PRELOAD, "", "'" VERNIER_BARE_ON_GPU "' products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text, "even: 0 wrong\nwide: 0 wrong\n");
  EXPECT_EQ(outcome.report["symbols"]["cublasDgemm"]["taken"], 2) << outcome.report;
}

TEST_F(CublasPreloadOnGpu, EpiloguesAreThoseOfCublasWithinRounding) {
  const Outcome outcome = run_under(VERNIER_PRELOAD, "", "'" VERNIER_MATMUL_ON_GPU "'");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  // Of each type the plain forms at least; which epilogues cuBLAS has for double is for it to say.
  EXPECT_EQ(outcome.report["symbols"]["cublasLtMatmul"]["taken"], 34) << outcome.text << outcome.report;
}

}  // namespace
}  // namespace vernier::test::cublas_on_gpu_test
