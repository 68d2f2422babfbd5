#include <gtest/gtest.h>

#include <cmath>

#include "program_folder.hpp"
#include "terminal.hpp"

namespace vernier::cli::terminal_test {
namespace {

TEST(Progress, LineTellsFractionAndTimeLeft) {
  EXPECT_EQ(progress_line("gemm", 0, 0), "gemm [                              ]   0 %");
  EXPECT_EQ(progress_line("gemm", 0.5, 3), "gemm [###############               ]  50 %  3 s left");
  EXPECT_EQ(progress_line("gemm", 1, 3), "gemm [##############################] 100 %  0 s left");
}

// Whether the library is asked to report must not depend on the terminal: it may change the bits of a product.
TEST(Progress, IsAskedForWhereNoBarIsShownToo) {
  Console console;
  console.quiet = true;
  EXPECT_TRUE(Progress(console, "gemm").callback() != nullptr);
}

TEST(Progress, LineStaysWithinItsWidth) {
  EXPECT_EQ(progress_line("x", 7, 1), progress_line("x", 1, 1));
  EXPECT_EQ(progress_line("x", -7, 1), progress_line("x", 0, 1));
  EXPECT_EQ(progress_line("x", std::nan(""), 1), progress_line("x", 0, 1));
}

TEST(ProgramFolder, IsFoundWhereProcIsNotMountedToo) {
  EXPECT_TRUE(std::filesystem::is_directory(program_folder()));
  EXPECT_EQ(program_folder("/no/proc/self/exe"), program_folder());
}

}  // namespace
}  // namespace vernier::cli::terminal_test
