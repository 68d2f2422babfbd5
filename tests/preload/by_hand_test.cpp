// Functions that are not bound by the loader in the usual way: looked up by hand, renamed in a wheel, behind Julia's
// switch.
#include "programs.hpp"

namespace vernier::test::by_hand_test {
namespace {

class ByHand : public Programs {
 protected:
  Outcome run(const std::string& settings, const std::string& command) {
    return run_under(VERNIER_PRELOAD, settings, command);
  }
};

constexpr const char* forced = "VERNIER_MIN_SIZE=0 VERNIER_CONTRACT=fp64+reproducible";
constexpr const char* right = "19 43 22 50\n";

TEST_F(ByHand, AFunctionOfBlasThatTheProgramLooksUpIsTaken) {
  const std::string command = "'" VERNIER_BY_HAND "' library '" VERNIER_BLAS_LIBRARY "'";
  const Outcome plain = shell(command), taken = run(forced, command), passed = run("", command);
  EXPECT_EQ(plain.text, std::string(right) + "none such: 0, told why\n");
  EXPECT_EQ(taken.text, plain.text);
  EXPECT_EQ(taken.report["taken"], 1) << taken.report;
  EXPECT_EQ(passed.text, plain.text);
  EXPECT_EQ(passed.report["passed_on"], Json({{"small", 1}})) << passed.report;
}

TEST_F(ByHand, WhoLooksForTheNextOfANameFindsWhatItFindsWithoutThePreload) {
  const std::string command = "'" VERNIER_BY_HAND "' next '" VERNIER_FIRST "'";
  const Outcome plain = shell(command);
  ASSERT_EQ(plain.text, "number: 20\nby default: 20\n");
  EXPECT_EQ(run("", command).text, plain.text);
  EXPECT_EQ(run_under(VERNIER_PRELOAD ":" VERNIER_CUBLAS_PRELOAD, "", command).text, plain.text);
}

TEST_F(ByHand, AWheelWithARenamedBlasIsReachedAndItsOwnLibraryIsTheOneUnderneath) {
  const std::string command = "'" VERNIER_HOST "' '" VERNIER_WHEEL "' wheel";
  const Outcome plain = shell(command), taken = run(forced, command), passed = run("", command);
  ASSERT_EQ(plain.text, "bundled: dgemm\nwheel: 19 22 43 50\n");
  EXPECT_EQ(taken.text, "wheel: 19 22 43 50\n");
  EXPECT_EQ(taken.report["symbols"]["scipy_cblas_dgemm64_"]["taken"], 1) << taken.report;
  EXPECT_EQ(passed.text, plain.text);
  EXPECT_EQ(passed.report["passed_on"], Json({{"small", 1}})) << passed.report;
}

// libvernier is linked to a BLAS of its own, which may be much slower.
TEST_F(ByHand, WhatLibvernierMultipliesNativelyIsTheWheelsToo) {
  const std::string command = "'" VERNIER_HOST "' '" VERNIER_WHEEL "' wide";
  const Outcome plain = shell(command), taken = run("VERNIER_MIN_SIZE=0 VERNIER_ENGINE=portable", command);
  ASSERT_EQ(plain.text.substr(0, 15), "bundled: dgemm\n");
  EXPECT_EQ(taken.text, plain.text);
  EXPECT_EQ(taken.report["symbols"]["scipy_cblas_dgemm64_"]["taken"], 1) << taken.report;
  EXPECT_EQ(taken.report["engine"], "the program's OpenBLAS") << taken.report;
}

// libvernier brings a BLAS of its own beside that of the wheel.
TEST_F(ByHand, WhereALimitLeavesNoRoomForASecondBlasCallsArePassedOnAndThatIsTold) {
  const std::string command =
      "sh -c \"ulimit -v 160000; exec timeout 20 '" VERNIER_HOST "' '" VERNIER_WHEEL "' wheel\"";
  if (shell(command).code != 0) GTEST_SKIP() << "the program itself takes more addresses, as with sanitizers";
  const Outcome outcome = run(forced, command);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("bundled: dgemm\n"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("no room for a BLAS"), std::string::npos) << outcome.text;
}

TEST_F(ByHand, JuliaIsReachedBehindItsTrampoline) {
  const std::string command = "'" VERNIER_BY_HAND "' julia '" VERNIER_TRAMPOLINE "' '" VERNIER_BUNDLED "'";
  const Outcome plain = shell(command), taken = run(forced, command), passed = run("", command);
  ASSERT_EQ(plain.text, std::string("bundled: isamax\nforwarded: 2\nbundled: dgemm\n") + right);
  EXPECT_EQ(taken.text, std::string("bundled: isamax\nforwarded: 2\n") + right);
  EXPECT_EQ(taken.report["taken"], 1) << taken.report;
  EXPECT_EQ(passed.text, plain.text);
}

// BLAS.lbt_forward("libvernier_blas.so"), without a preload.
TEST_F(ByHand, JuliasTrampolineTakesThisLibraryAndWhatItPassesOnArrivesInTheOneBefore) {
  const std::string command =
      "'" VERNIER_BY_HAND "' julia '" VERNIER_TRAMPOLINE "' '" VERNIER_BUNDLED "' '" VERNIER_PRELOAD "'";
  const std::string forwarded = "bundled: isamax\nforwarded: 2\nbundled: isamax\nforwarded: 1\n", kept = "ddot: 26\n";
  EXPECT_EQ(shell(command).text, forwarded + "bundled: dgemm\n" + right + kept);
  EXPECT_EQ(shell(std::string("env ") + forced + " " + command).text, forwarded + right + kept);
}

TEST_F(ByHand, JuliasTrampolineTakesThisLibraryWithNothingUnderneath) {
  const std::string command = "'" VERNIER_BY_HAND "' julia '" VERNIER_TRAMPOLINE "' '" VERNIER_PRELOAD "'";
  EXPECT_EQ(shell(std::string("env ") + forced + " " + command).text, std::string("forwarded: 1\n") + right);
}

}  // namespace
}  // namespace vernier::test::by_hand_test
