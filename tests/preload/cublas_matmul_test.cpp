// cublasLtMatmul under the preload: where C stands, epilogues of linear layers, matrices by rows.
#include <utility>

#include "cublas_programs.hpp"

namespace vernier::test::cublas_matmul_test {
namespace {

TEST_F(CublasPreload, AMatmulIsTakenWhereverItsCStands) {
  const Outcome outcome = run("", "matmul");
  const std::string taken = "vernier: gemm D stream 1 mode 0 T N 600 601 602 602 602 605 1\n";
  EXPECT_EQ(part(outcome.text, "matmul"), taken + "matmul: 0");
  EXPECT_EQ(part(outcome.text, "matmul, C apart, beta 0"), taken + "matmul, C apart, beta 0: 0");
  EXPECT_NE(outcome.text.find("vernier: copy D stream 1 mode 0 600 601 605 605 1\n" + taken + "matmul, C apart: 0\n"),
            std::string::npos)
      << outcome.text;
  for (const char* what : {"matmul with a bias that is missing", "matmul of sizes that do not fit"})
    EXPECT_TRUE(contains(outcome, std::string(what) + ": 42")) << outcome.text;
  EXPECT_EQ(outcome.report["passed_on"],
            Json({{"small", 2}, {"native is faster", 10}, {"other type, mode or form", 2}}))
      << outcome.report;
  EXPECT_TRUE(contains(outcome, "questions about a small one: 6")) << outcome.text;
  EXPECT_TRUE(contains(outcome, "and about the next: 6")) << outcome.text;
  EXPECT_TRUE(contains(outcome, "questions about one that cuBLAS makes sooner: 0")) << outcome.text;
}

// The numbers are those of cublasLtEpilogue_t.
TEST_F(CublasPreload, EpiloguesOfLinearLayersAndTheirGradientsFollowTheProduct) {
  const Outcome outcome = run("", "epilogues");
  const std::string product = "vernier: gemm D stream 1 mode 0 T N 600 601 602 602 603 605 1\n";
  const std::pair<const char*, const char*> expected[] = {
      {"2", "activate D stream 1 mode 0 1 600 601 0 605 0 607 1"},
      {"4", "activate D stream 1 mode 0 0 600 601 1 605 0 607 1"},
      {"6", "activate D stream 1 mode 0 1 600 601 1 605 0 607 1"},
      {"32", "activate D stream 1 mode 0 2 600 601 0 605 0 607 1"},
      {"36", "activate D stream 1 mode 0 2 600 601 1 605 0 607 1"},
      {"160", "activate D stream 1 mode 0 2 600 601 0 605 1 607 1"},
      {"164", "activate D stream 1 mode 0 2 600 601 1 605 1 607 1"},
      {"192", "gelu_gradient D stream 1 mode 0 600 601 605 607 1"},
      {"208", "gelu_gradient D stream 1 mode 0 600 601 605 607 1\nvernier: sum_up D stream 1 mode 0 1 600 601 605 1"},
      {"256", "sum_up D stream 1 mode 0 0 602 600 602 1"},
      {"512", "sum_up D stream 1 mode 0 0 602 601 603 1"}};
  for (const auto& [epilogue, then] : expected)
    EXPECT_NE(
        outcome.text.find(std::string("epilogue ") + epilogue + "\n" + product + "vernier: " + then + "\ntaken: 0\n"),
        std::string::npos)
        << epilogue << "\n"
        << outcome.text;
  const std::pair<const char*, const char*> by_signs[] = {
      {"130", "0 600 601 0 605 1 640\n"},
      {"134", "0 600 601 1 605 1 640\n"},
      {"136", "1 600 601 0 605 1 640\n"},
      {"152", "1 600 601 0 605 1 640\nvernier: sum_up D stream 1 mode 0 1 600 601 605 1\n"}};
  for (const auto& [epilogue, then] : by_signs)
    EXPECT_NE(outcome.text.find(std::string("signs ") + epilogue + "\n" + product +
                                "vernier: relu_with_signs D stream 1 mode 0 " + then + "taken: 0\n"),
              std::string::npos)
        << epilogue << "\n"
        << outcome.text;
  // Columns of signs are a multiple of 128 apart; 3 is no epilogue.
  for (const char* left : {"130", "136", "3"})
    EXPECT_NE(outcome.text.find(std::string("epilogue ") + left + " cublas: LtMatmul " + left), std::string::npos)
        << left << "\n"
        << outcome.text;
  EXPECT_TRUE(contains(outcome, "auxiliary too narrow: 42")) << outcome.text;
  EXPECT_EQ(outcome.report["passed_on"]["other type, mode or form"], 4) << outcome.report;
}

TEST_F(CublasPreload, MatricesByRowsAreTakenAsTheirTransposes) {
  const Outcome outcome = run("", "orders");
  EXPECT_EQ(part(outcome.text, "A by rows"),
            "vernier: gemm D stream 1 mode 0 N N 600 601 602 611 603 605 1\nA by rows: 0");
  EXPECT_EQ(part(outcome.text, "D by rows"),
            "vernier: gemm D stream 1 mode 0 T N 601 600 602 603 602 613 1\nD by rows: 0");
  EXPECT_NE(outcome.text.find("vernier: gemm D stream 1 mode 0 N T 601 600 602 612 611 613 1\nall by rows: 0\n"),
            std::string::npos)
      << outcome.text;
  EXPECT_TRUE(contains(outcome, "bias by rows: 42")) << outcome.text;
}

}  // namespace
}  // namespace vernier::test::cublas_matmul_test
