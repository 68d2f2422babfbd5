// `vernier run` is not there, for signals and exit codes, and where it cannot count or the preload cannot load
// libvernier.
#include "programs.hpp"

namespace vernier::test::run_test {
namespace {

class Run : public Programs {
 protected:
  Outcome bash(const std::string& script) {
    const auto file = folder_ / "script";
    std::ofstream(file) << "v='" VERNIER_CLI "'; p='" VERNIER_RUN "'; out='" + (folder_ / "program").string() + "'\n"
                        << script << "\n";
    return shell("bash '" + file.string() + "'");
  }
  // What the program said, and its end, after kill with these arguments; $job is `vernier run`, a group of its own.
  Outcome signalled(const std::string& how) {
    return bash("set -m\n: > \"$out\"\n\"$v\" run -q -- \"$p\" wait 1 > \"$out\" &\njob=$!\n" +
                std::string("until grep -q ready \"$out\"; do sleep 0.01; done\nkill ") + how +
                "\nwait $job\ncode=$?\ncat \"$out\"\nexit $code");
  }
};

TEST_F(Run, ASignalToItIsThePrograms) {
  const std::pair<const char*, const char*> signals[] = {
      {"INT", "2"}, {"TERM", "15"}, {"USR1", "10"}, {"HUP", "1"}, {"ALRM", "14"}};
  for (const auto& [name, number] : signals) {
    const std::string got = std::string("ready\ngot ") + (std::string(number).size() == 1 ? " " : "") + number + "\n";
    for (const char* to : {" $job", " -- -$job"}) {  // alone; the whole group, which the program is in, too
      const Outcome outcome = signalled(std::string("-s ") + name + to);
      EXPECT_EQ(outcome.text, got) << name << to;
      EXPECT_EQ(outcome.code, 1) << name << to << ": once";
    }
  }
}

TEST_F(Run, SignalsThatComeAsTheProgramEndsHoldNothingUp) {
  const Outcome outcome = bash(
      "for i in 1 2 3 4 5 6 7 8 9 10; do\n\"$v\" run -q -- true &\njob=$!\n"
      "while kill -s WINCH $job && ((SECONDS < 60)); do :; done 2> \"$out\"\n"
      "kill -s KILL $job 2> \"$out\"\nwait $job || exit 1\ndone");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

TEST_F(Run, WhatItWasStartedWithChangesNoExitCode) {
  EXPECT_EQ(bash("env --ignore-signal=CHLD \"$v\" run -q -- sh -c 'exit 17'").code, 17);
  EXPECT_EQ(
      bash("(\"$v\" run -- sh -c 'sleep 0.2; exit 17' 2>&1; echo $? > \"$out\") | true\nexit $(cat \"$out\")").code, 17)
      << "nobody reads the summary";
}

TEST_F(Run, WithoutRoomForCountersTheProgramRunsAndThatIsTold) {
  const Outcome outcome = bash("(ulimit -f 0; \"$v\" run -- sh -c 'echo output; exit 17' 2>&1; echo $?) | cat");
  EXPECT_EQ(outcome.text.substr(0, 7), "output\n");
  EXPECT_NE(outcome.text.find("vernier run: calls were not counted: "), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("\n17\n"), std::string::npos) << outcome.text;
}

TEST_F(Run, CallsThatTheEndOfTheProgramCutsOffAreToldAndTheTimeOfThoseBefore) {
  bool told = false;
  for (int attempt = 0; attempt < 10 && !told; ++attempt) {  // it may end between two calls
    const Outcome outcome = shell("'" VERNIER_CLI "' run --contract fp64+reproducible -- '" VERNIER_RUN "' cutoff");
    EXPECT_EQ(outcome.code, 19) << outcome.text;
    EXPECT_EQ(outcome.text.find(" 0.000 s by the clock"), std::string::npos) << outcome.text;
    told = outcome.text.find("; the end of the process cut off ") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_F(Run, MoreWordsThanThereAreIsAll) {
  const Outcome outcome = shell("'" VERNIER_CLI "' run -q -vvvv -- '" VERNIER_RUN "' cutoff");
  EXPECT_EQ(outcome.text.find("VERNIER_VERBOSE"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("dgemm_ m = 600"), std::string::npos) << outcome.text;
}

TEST_F(Run, WrongSettingsAreToldBeforeTheProgramStarts) {
  const std::string command = " '" VERNIER_CLI "' run -- sh -c 'echo started'";
  for (const char* setting :
       {"VERNIER_MIN_SIZE=256k", "VERNIER_MIN_SIZE=-1", "VERNIER_VERBOSE=4", "VERNIER_REPORT=/no/folder/report"}) {
    const Outcome outcome = shell(setting + command);
    EXPECT_EQ(outcome.code, 2) << outcome.text;
    EXPECT_EQ(outcome.text.find("started"), std::string::npos) << outcome.text;
  }
}

TEST_F(Run, WhereLibvernierCannotBeLoadedCallsArePassedOnAndThatIsTold) {
  const std::string command = "'" VERNIER_RUN "' sandbox";
  const Outcome plain = shell(command);
  if (plain.code != 19) GTEST_SKIP() << "no seccomp";
  const Outcome outcome = shell("'" VERNIER_CLI "' run -q --contract fp64+reproducible -- " + command);
  EXPECT_EQ(outcome.code, 19) << outcome.text;
  EXPECT_NE(outcome.text.find("calls are passed on\n"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("1 passed on (other error)"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("sandbox: 9\n"), std::string::npos) << outcome.text;
}

// The file of all counters is 130 MB, a process's own 32 kB of it.
TEST_F(Run, CallsOfAProcessWithFewAddressesAreCounted) {
  const Outcome outcome =
      shell("OPENBLAS_NUM_THREADS=1 '" VERNIER_CLI "' run --min-size 1000 -- '" VERNIER_RUN "' narrow 16000");
  EXPECT_EQ(outcome.code, 19) << outcome.text;
  EXPECT_NE(outcome.text.find("narrow: 9\n"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("passed on  1 small"), std::string::npos) << outcome.text;
}

TEST_F(Run, AProcessWithoutAddressesForCountersTellsItsCallsAndThatIsTold) {
  const std::string command = "'" VERNIER_RUN "' narrow 16", threads = "OPENBLAS_NUM_THREADS=1 ";
  EXPECT_EQ(shell(threads + command).text, "narrow: 9\n");
  const Outcome outcome = shell(threads + "'" VERNIER_CLI "' run --min-size 1000 -- " + command);
  EXPECT_EQ(outcome.code, 19) << outcome.text;
  EXPECT_NE(outcome.text.find("narrow: 9\n"), std::string::npos) << outcome.text;
  for (const char* told :
       {"vernier_blas: `vernier run` cannot count this process's calls (Cannot allocate memory)",
        "vernier_blas: 0 calls taken in 0.000 s, 1 passed on (small)", "vernier run: calls of process "})
    EXPECT_NE(outcome.text.find(told), std::string::npos) << told << " in\n" << outcome.text;
  EXPECT_EQ(outcome.text.find("no level-3 call"), std::string::npos) << outcome.text;
}

TEST_F(Run, CallsOfAProcessThatHasGivenUpItsRightsAreCounted) {
  if (geteuid() != 0) GTEST_SKIP() << "needs rights to give up";
  const Outcome outcome =
      shell("'" VERNIER_CLI "' run --contract fp64+reproducible --min-size 0 -- '" VERNIER_RUN "' nobody");
  EXPECT_EQ(outcome.code, 19) << outcome.text;
  EXPECT_NE(outcome.text.find("taken      1 calls"), std::string::npos) << outcome.text;
}

}  // namespace
}  // namespace vernier::test::run_test
