// What programs do that a preload would rather not see.
#include "programs.hpp"

namespace vernier::test::attacks_test {
namespace {

class Attacks : public Programs {
 protected:
  void expect_right(const std::string& what) {
    const Outcome outcome = run_under(VERNIER_PRELOAD, forced, "timeout 100 '" VERNIER_ATTACKS "' " + what);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_EQ(outcome.text, "right\n");
    EXPECT_GE(outcome.report["taken"], 2) << outcome.report;
  }

  static constexpr const char* forced = "VERNIER_MIN_SIZE=0 VERNIER_CONTRACT=fp64+reproducible";
};

TEST_F(Attacks, ThreadsMayHaveSmallStacks) { expect_right("stacks"); }

TEST_F(Attacks, TheEnvironmentMayChangeMeanwhile) { expect_right("environment"); }

TEST_F(Attacks, SettingsAreThoseOfTheFirstCall) { expect_right("settings"); }

TEST_F(Attacks, ChildrenOfChildrenMultiply) { expect_right("children"); }

TEST_F(Attacks, ChildrenBornDuringTheFirstProductMultiply) { expect_right("first"); }

TEST_F(Attacks, ACancelledThreadEndsAfterItsProduct) {
  expect_right("cancelled");
  const Outcome outcome =
      run_under(VERNIER_PRELOAD, "VERNIER_VERBOSE=3", "timeout 100 '" VERNIER_ATTACKS "' cancelled");
  EXPECT_EQ(outcome.code, 0) << outcome.text << "\nwhere calls are told, and passed on";
}

// Of two versions, or of one under two names, the first takes a call and passes others on to the second.
TEST_F(Attacks, TwoPreloadsAreOneAfterTheOther) {
  const auto other = folder_ / "libother.so";
  std::filesystem::copy_file(std::filesystem::canonical(VERNIER_PRELOAD), other);
  const std::string both = std::string(VERNIER_PRELOAD ":") + other.string();
  const std::string place = "LD_LIBRARY_PATH='" + std::filesystem::path(VERNIER_PRELOAD).parent_path().string() + "' ";
  for (const std::string settings : {forced, "VERNIER_MIN_SIZE=0 VERNIER_ENGINE=native", ""}) {
    const Outcome outcome =
        shell("env " + place + settings + " LD_PRELOAD='" + both + "' '" VERNIER_PROGRAM "' products");
    EXPECT_EQ(outcome.code, 0) << settings << outcome.text;
    EXPECT_NE(outcome.text.find("0 failures"), std::string::npos) << settings << outcome.text;
  }
}

// File number 2 may then be the report itself.
TEST_F(Attacks, AClosedStderrLeavesTheReportWhole) {
  const Outcome outcome = run_under(VERNIER_PRELOAD, std::string(forced) + " VERNIER_VERBOSE=2",
                                    "sh -c 'exec \"$0\" products 2>&-' '" VERNIER_PROGRAM "'");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.report["taken"], 7) << outcome.report;
}

// The library is found before the second one, by its names in the global scope.
TEST_F(Attacks, ALibraryWhoseBlasWasCalledMayBeClosed) {
  const std::string command = "'" VERNIER_BY_HAND "' closed '" VERNIER_CLOSABLE "' '" VERNIER_MODULE "'";
  ASSERT_EQ(shell(command).code, 0);
  for (const char* settings : {"VERNIER_MIN_SIZE=0 VERNIER_ENGINE=native", "", forced}) {
    const Outcome outcome = run_under(VERNIER_PRELOAD, settings, command);
    EXPECT_EQ(outcome.code, 0) << settings << outcome.text;
    EXPECT_NE(outcome.text.find("0 failures"), std::string::npos) << settings << outcome.text;
  }
}

}  // namespace
}  // namespace vernier::test::attacks_test
