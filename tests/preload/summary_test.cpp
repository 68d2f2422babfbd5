// What `vernier run` says at the end, and that it leaves the program's output and its end alone.
#include "programs.hpp"

namespace vernier::test::summary_test {
namespace {

class RunSummary : public Programs {
 protected:
  // Both streams apart: first the program's stdout, then the summary.
  Outcome run(const std::string& options, const std::string& command, std::string& summary) {
    const auto out = folder_ / "stdout", err = folder_ / "stderr";
    const Outcome outcome = shell("( '" VERNIER_CLI "' run " + options + " -- " + command + " > '" + out.string() +
                                  "' 2> '" + err.string() + "' )");
    summary = contents(err);
    return {outcome.code, contents(out), nullptr};
  }
};

constexpr const char* forced = "--contract fp64+reproducible --min-size 0";
constexpr const char* program = "'" VERNIER_PROGRAM "' ";

void expect_in(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST_F(RunSummary, TheProgramsOutputIsItsOwn) {
  std::string summary;
  const Outcome plain = shell(program + std::string("fork")),
                outcome = run(forced, program + std::string("fork"), summary);
  EXPECT_EQ(outcome.text, plain.text);
  EXPECT_EQ(outcome.code, 0);
  expect_in(summary, "(2 processes)");
  expect_in(summary, "taken      3 calls");
  // The child without calls is one of a program that is reached.
  EXPECT_EQ(summary.find("no level-3 call"), std::string::npos) << summary;
}

TEST_F(RunSummary, SecondsOfThreadsAreSaidToBeASum) {
  std::string summary;
  EXPECT_EQ(run(forced, program + std::string("threads"), summary).code, 0);
  expect_in(summary, "taken      600 calls");
  expect_in(summary, "s summed over 6 threads, ");
  expect_in(summary, " s by the clock");
}

TEST_F(RunSummary, ItSaysWhyTheLibraryUnderneathIsFaster) {
  std::string summary;
  EXPECT_EQ(run("--min-size 0 --engine native", program + std::string("products"), summary).code, 0);
  expect_in(summary, "  faster     dgemm 2 x 2 x 2: the native product was asked for\n");
  expect_in(summary, "contract   fp32 for s and c, fp64 for d and z");
}

TEST_F(RunSummary, ItSaysWhatServesDataThatAreTooWide) {
  std::string summary;
  EXPECT_EQ(run(forced, program + std::string("wide"), summary).code, 0);
  expect_in(summary, "  wide       1 calls");
  expect_in(summary, "--contract fp64-normwise serves all data");
  expect_in(summary, "expected contract exact, which serves any data, or one without +reproducible\n");
}

TEST_F(RunSummary, ARunUnderARunTellsTheOuterOneToo) {
  std::string summary;
  const std::string inner = "'" VERNIER_CLI "' run --quiet " + std::string(forced) + " -- " + program + "fork";
  EXPECT_EQ(run("", inner, summary).code, 0);
  expect_in(summary, "(2 processes)");
  expect_in(summary, "taken      3 calls");
  EXPECT_EQ(summary.find("no level-3 call"), std::string::npos) << summary;
}

TEST_F(RunSummary, StreamsThatAreClosedStayClosed) {
  const auto list = folder_ / "list";
  const std::string closed =
      "sh -c \"ls /proc/self/fd > '" + list.string() + "'; exec " + program + "ends\" <&- >&- 2>&- )";
  EXPECT_EQ(shell("( " + closed).code, 0);
  const std::string open_without = contents(list);
  const Outcome outcome = shell("( '" VERNIER_CLI "' run " + std::string(forced) + " -- " + closed);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text, "");
  EXPECT_FALSE(open_without.empty());
  EXPECT_EQ(contents(list), open_without);
}

TEST_F(RunSummary, AFolderForTemporaryFilesThatIsNotThereHindersNothing) {
  const Outcome outcome = shell("env TMPDIR=/nowhere '" VERNIER_CLI "' run --quiet -- sh -c 'exit 8'");
  EXPECT_EQ(outcome.code, 8) << outcome.text;
}

TEST_F(RunSummary, AReportThatIsALinkToItselfIsRefusedByName) {
  const auto link = folder_ / "link";
  std::filesystem::create_symlink(link, link);
  const Outcome outcome = shell("'" VERNIER_CLI "' run --report '" + link.string() + "' -- true");
  EXPECT_EQ(outcome.code, 2);
  expect_in(outcome.text, "expected a regular file");
}

TEST_F(RunSummary, WhatWasPreloadedBeforeStaysSo) {
  const Outcome outcome = shell("env LD_PRELOAD='" VERNIER_CUBLAS_PRELOAD "' '" VERNIER_CLI "' run --quiet " +
                                std::string(forced) + " -- sh -c 'echo $LD_PRELOAD'");
  EXPECT_EQ(outcome.code, 0);
  expect_in(outcome.text, ":" VERNIER_CUBLAS_PRELOAD "\n");
}

TEST_F(RunSummary, ItSaysThatALibraryKeepsItsBlasToItself) {
  std::string summary;
  const std::string command = "'" VERNIER_HOST "' '" VERNIER_MODULE "' wide deeply";
  EXPECT_EQ(run(forced, command, summary).code, 0);
  expect_in(summary, "loads libraries with RTLD_DEEPBIND");
}

TEST_F(RunSummary, ABlasInAStrippedProgramIsNamed) {
  std::string summary;
  EXPECT_EQ(run("", "'" VERNIER_STRIPPED "'", summary).code, 0);
  expect_in(summary, "a BLAS seems to be linked into the program itself");
  EXPECT_EQ(run("", "true", summary).code, 0);
  EXPECT_EQ(summary.find("linked into the program itself"), std::string::npos) << summary;
}

TEST_F(RunSummary, ItSaysWhatIsOutOfReach) {
  std::string summary;
  EXPECT_EQ(run("", program + std::string("nothing"), summary).code, 0);
  expect_in(summary, "no product was asked of it from outside");
  EXPECT_EQ(run("", "'" VERNIER_STATIC "'", summary).code, 7);
  expect_in(summary, "it is linked statically");
}

// What is mapped under the name of a library that multiplies inside itself.
TEST_F(RunSummary, ALibraryThatMultipliesInsideItselfIsNamed) {
  for (const auto& [file, told] : {std::pair{"libtorch_cpu.so", "linked into libtorch_cpu.so"},
                                   {"libonnxruntime.so.1", "ONNX Runtime multiplies by kernels of its own"},
                                   {"libmkl_rt.so.2", "libmkl_* is loaded, but no product was asked of it"}}) {
    std::filesystem::copy(VERNIER_BUNDLED, folder_ / file);
    std::string summary;
    EXPECT_EQ(run("", "sh -c 'LD_PRELOAD=\"$LD_PRELOAD:" + (folder_ / file).string() + "\" exec true'", summary).code,
              0);
    expect_in(summary, told);
  }
}

TEST_F(RunSummary, AProgramWithAnothersRightsRunsAsWithoutAndThatIsTold) {
  const auto copy = folder_ / "another";
  std::filesystem::copy(VERNIER_STATIC, copy);
  const std::string path = "'" + copy.string() + "'";
  if (shell("chown 65534 " + path + " && chmod 4755 " + path).code != 0) GTEST_SKIP() << "needs rights to give away";
  std::string summary;
  EXPECT_EQ(run("", path, summary).code, 7);
  expect_in(summary, "it takes another user's or group's rights (set-user-ID)");
  expect_in(summary, "start it as that user");
}

}  // namespace
}  // namespace vernier::test::summary_test
