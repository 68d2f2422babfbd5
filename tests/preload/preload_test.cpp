// An unmodified C program under the preload: what it computes, what is taken, what is passed on, and what is refused.
#include <dlfcn.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "programs.hpp"

namespace vernier::test::preload_test {
namespace {

class Preload : public Programs {
 protected:
  Outcome run(const std::string& settings, const std::string& what) {
    return run_under(VERNIER_PRELOAD, settings, "'" VERNIER_PROGRAM "' " + what);
  }
};

constexpr const char* forced = "VERNIER_MIN_SIZE=0 VERNIER_CONTRACT=fp64+reproducible";

TEST_F(Preload, EveryInterfaceIsTakenAndRight) {
  const Outcome plain = shell("'" VERNIER_PROGRAM "' products");
  ASSERT_EQ(plain.code, 0) << plain.text;
  const Outcome outcome = run(forced, "products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("dgemm_64_ was there"), std::string::npos);
  for (const char* symbol : {"dgemm_", "cblas_dgemm", "dtrsm_"})
    EXPECT_EQ(outcome.report["symbols"][symbol]["taken"], 1) << symbol << outcome.report;
  EXPECT_EQ(outcome.report["symbols"]["cblas_zher2k"]["taken"], 2) << outcome.report;
  EXPECT_EQ(outcome.report["symbols"]["dgemm_64_"]["taken"], 1) << outcome.report;
  EXPECT_EQ(outcome.report["symbols"]["cblas_dgemmt"]["taken"], 1) << outcome.report;
  EXPECT_GE(outcome.report["slowest"].size(), 1U);
}

TEST_F(Preload, SmallCallsArePassedOnToTheBlasThatTheProgramHas) {
  const Outcome outcome = run("", "products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.report["symbols"]["dgemm_"]["taken"], 0) << outcome.report;
  EXPECT_GE(outcome.report["passed_on"]["small"], 4) << outcome.report;
}

TEST_F(Preload, TheNativeEngineReachesTheBlasUnderneathAndNotItself) {
  const Outcome outcome = run("VERNIER_MIN_SIZE=0 VERNIER_ENGINE=native", "products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_GE(outcome.report["passed_on"]["native is faster"], 4) << outcome.report;
}

TEST_F(Preload, WrongArgumentsAreReportedAsWithoutIt) {
  const Outcome plain = shell("'" VERNIER_PROGRAM "' error"), outcome = run(forced, "error");
  EXPECT_EQ(outcome.text, plain.text);
  EXPECT_EQ(outcome.code, plain.code);
  EXPECT_NE(outcome.text.find('8'), std::string::npos) << "XERBLA names the eighth argument: " << outcome.text;
}

TEST_F(Preload, ThreadsDoNotMeet) {
  const Outcome outcome = run(forced, "threads");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.report["symbols"]["dgemm_"]["taken"], 600) << outcome.report;
}

// PySCF's wheel brings its own libgomp: each of its threads would take all processors. Brief products are one thread's:
// on a busy machine two would wait for each other, 1 s for a dsyrk of 700 x 700 x 3.
TEST_F(Preload, AThreadOfATeamTakesNoOthersWhateverOpenMPTheProgramHas) {
  const Outcome outcome = run_under(VERNIER_PRELOAD, forced, "'" VERNIER_TEAM "' '" VERNIER_RUNTIME "'");
  EXPECT_EQ(outcome.report["symbols"]["dgemm_"]["taken"], 3) << outcome.report;
  for (const char* symbol : {"dsyrk_", "dsymm_", "dtrmm_", "dtrsm_", "zgemm_"})
    EXPECT_EQ(outcome.report["symbols"][symbol]["taken"], 1) << symbol << outcome.report;
  EXPECT_NE(outcome.text.find("in a team: 0 more threads"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("briefly: 0 more threads"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("alone: 1 more threads"), std::string::npos) << outcome.text;
}

// While a thread loads a runtime, the loader lists it before its functions can be called.
TEST_F(Preload, ARuntimeThatIsBeingLoadedIsNotAsked) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "slow.c waits on x86-64 alone";
#endif
  if (dlsym(RTLD_DEFAULT, "_dl_find_object") == nullptr)
    GTEST_SKIP() << "glibc 2.35 or later tells which libraries are ready";
  const Outcome outcome = run_under(VERNIER_PRELOAD, std::string(forced) + " OMP_NUM_THREADS=1",
                                    "'" VERNIER_TEAM "' '" VERNIER_SLOW_RUNTIME "' loading");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("many beside it"), std::string::npos) << outcome.text;
}

TEST_F(Preload, AThreadOfATeamIsNotGivenTheThreadsOfAWheelsBlas) {
  const Outcome outcome = run_under(VERNIER_PRELOAD, "VERNIER_MIN_SIZE=0 VERNIER_ENGINE=portable",
                                    "'" VERNIER_TEAM "' '" VERNIER_RUNTIME "' '" VERNIER_WHEEL "'");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("in a team\nalone\nbundled: dgemm\n"), std::string::npos) << outcome.text;
}

// Each takes the CPU less than is worth to wake a GPU, and all together may not.
TEST_F(Preload, ShortProductsAreNotPassedOnForGoodBeforeAGpuWasLookedFor) {
  const std::string command = "'" VERNIER_TEAM "' '" VERNIER_RUNTIME "' again";
  const Outcome free = run_under(VERNIER_PRELOAD, "VERNIER_DEVICE=auto VERNIER_RATES=none", command);
  EXPECT_EQ(free.report["symbols"]["dgemm_"]["taken"], 10) << free.report;
  const Outcome cpu = run_under(VERNIER_PRELOAD, "VERNIER_DEVICE=cpu VERNIER_RATES=none", command);
  EXPECT_EQ(cpu.report["symbols"]["dgemm_"]["taken"], cpu.report["engine"] == "amx" ? 10 : 0)
      << "AMX takes them itself: " << cpu.report;
}

TEST_F(Preload, AChildTellsOfItsOwnCallsAndAChildWithoutAnyTellsNothing) {
  const auto report = folder_ / "lines";
  const Outcome outcome = shell("env LD_PRELOAD='" VERNIER_PRELOAD "' VERNIER_REPORT='" + report.string() + "' " +
                                forced + " '" VERNIER_PROGRAM "' fork");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  std::istringstream lines(contents(report));
  std::vector<int> taken;
  for (std::string line; std::getline(lines, line);) {
    const Json child = Json::parse(line);
    taken.push_back(child["taken"]);
    EXPECT_EQ(child["engine"].get<std::string>().empty(), taken.back() == 0) << child;
  }
  EXPECT_EQ(taken, (std::vector<int>{1, 2}));  // the parent ends last
}

// Threads that count alone, those that share, those that follow ended ones, and a child.
TEST_F(Preload, EachCallIsCountedOnceWhateverThreadsComeAndGo) {
  const auto report = folder_ / "lines";
  const Outcome outcome = shell("env LD_PRELOAD='" VERNIER_PRELOAD "' VERNIER_REPORT='" + report.string() +
                                "' VERNIER_MIN_SIZE=4 VERNIER_ENGINE=native '" VERNIER_PROGRAM "' counted");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  std::istringstream lines(contents(report));
  for (const int times : {1, 121}) {  // the child, and its parent
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const Json counts = Json::parse(line);
    EXPECT_EQ(counts["passed_on"]["small"], 1000 * times) << counts;
    EXPECT_EQ(counts["passed_on"]["native is faster"], 100 * times) << counts;
    EXPECT_EQ(counts["largest_native"]["m"], 20) << counts;
  }
}

TEST_F(Preload, AWrongArgumentIsToldOfAlsoWhereTheSizesAreKnown) {
  const Outcome outcome = run("VERNIER_MIN_SIZE=4 VERNIER_ENGINE=native", "wrong");
  EXPECT_EQ(outcome.report["passed_on"]["invalid argument"], 1) << outcome.report;
  EXPECT_EQ(outcome.report["passed_on"]["native is faster"], 100) << outcome.report;
  EXPECT_NE(outcome.text.find('8'), std::string::npos) << outcome.text;
}

// As Python has its BLAS: loaded by a library that was loaded out of the global scope.
TEST_F(Preload, ABlasOutOfTheGlobalScopeIsReached) {
  const std::string command = "'" VERNIER_HOST "' '" VERNIER_MODULE "' products";
  ASSERT_EQ(shell(command).code, 0);
  const Outcome taken = run_under(VERNIER_PRELOAD, forced, command);
  EXPECT_EQ(taken.code, 0) << taken.text;
  EXPECT_GE(taken.report["taken"], 6) << taken.report;
  const Outcome passed = run_under(VERNIER_PRELOAD, "", command);
  EXPECT_EQ(passed.code, 0) << passed.text;
  EXPECT_LE(passed.report["taken"], 2) << passed.report;  // dgemm_64_ and cblas_dgemmt, if this BLAS lacks them
  EXPECT_GE(passed.report["passed_on"]["small"], 5) << passed.report;
}

TEST_F(Preload, DataTooWideForAReproducibleContractArePassedOnAndTold) {
  const Outcome outcome = run(forced, "wide");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.report["passed_on"]["data too wide"], 1) << outcome.report;
  EXPECT_FALSE(outcome.report["last_message"].get<std::string>().empty());
}

TEST_F(Preload, ALineForEachCallHasItsTimeOrItsReason) {
  const Outcome taken = run(std::string(forced) + " VERNIER_VERBOSE=2", "products");
  EXPECT_TRUE(std::regex_search(taken.text, std::regex("dgemm_ m = .*: residues, [0-9.]+e-?[+0-9]+ s\n")))
      << taken.text;
  const Outcome passed = run("VERNIER_MIN_SIZE=0 VERNIER_ENGINE=native VERNIER_VERBOSE=2", "products");
  EXPECT_TRUE(
      std::regex_search(passed.text, std::regex("dgemm_ m = .*: passed on, native is faster\n"
                                                "vernier_blas: [0-9.]+e-?[+0-9]+ s in the library underneath\n")))
      << passed.text;
}

// One try of each shape, and pauses after it that the other shape does not end.
TEST_F(Preload, ShapesThatTakeTurnsAreDecidedEachForItself) {
  const Outcome outcome = run("VERNIER_MIN_SIZE=0 VERNIER_ENGINE=portable", "turns");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.report["taken"], 2) << outcome.report;
  EXPECT_EQ(outcome.report["passed_on"]["data too wide"], 6) << outcome.report;
}

TEST_F(Preload, InvalidSettingsEndTheProgramWithAMessage) {
  for (const char* setting : {"VERNIER_CONTRACT=fp65", "VERNIER_ENGINE=abacus", "VERNIER_MIN_SIZE=-1",
                              "VERNIER_MIN_SIZE=3x", "VERNIER_VERBOSE=loud", "VERNIER_BLAS=/nowhere/libblas.so"}) {
    const Outcome outcome = run(std::string("VERNIER_MIN_SIZE=0 ") + setting, "products");
    EXPECT_EQ(outcome.code, 2) << setting << outcome.text;
    const std::string name = std::string(setting).substr(0, std::string(setting).find('='));
    EXPECT_NE(outcome.text.find(name), std::string::npos) << outcome.text;
  }
  for (const char* setting : {"VERNIER_CONTRACT=fp65", "VERNIER_ENGINE=abacus", "VERNIER_REPORT=/nowhere/report"})
    EXPECT_EQ(run(setting, "products").code, 2) << setting;  // also where all calls are small
}

TEST_F(Preload, ProgramsWithoutBlasAreLeftAlone) {
  const Outcome outcome = shell("env LD_PRELOAD='" VERNIER_PRELOAD "' VERNIER_CONTRACT=fp65 true");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text, "");
}

TEST_F(Preload, VernierRunSetsItUpAndTells) {
  const Outcome outcome =
      shell("'" VERNIER_CLI "' run --contract fp64+reproducible --min-size 0 -- '" VERNIER_PROGRAM "' products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("0 failures"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("taken      7 calls"), std::string::npos) << outcome.text;
  EXPECT_EQ(shell("'" VERNIER_CLI "' run -- sh -c 'exit 7'").code, 7);
  const Outcome nowhere = shell("'" VERNIER_CLI "' run -- /nowhere/program");
  EXPECT_EQ(nowhere.code, 127);
  EXPECT_NE(nowhere.text.find("/nowhere/program: No such file"), std::string::npos) << nowhere.text;
  EXPECT_EQ(nowhere.text.find("vernier run:"), std::string::npos) << nowhere.text;  // nothing ran: no summary
  EXPECT_EQ(shell("'" VERNIER_CLI "' run -- /").code, 126);
  EXPECT_EQ(shell("'" VERNIER_CLI "' run -- sh -c 'exit 127'").text.find("No such file"), std::string::npos);
  EXPECT_EQ(shell("'" VERNIER_CLI "' run --contract fp65 -- true").code, 2);
  for (const char* engine : {"run --engine abacus -- true", "run --cuda-engine abacus -- true"}) {
    const Outcome wrong = shell(std::string("'" VERNIER_CLI "' ") + engine);
    EXPECT_EQ(wrong.code, 2) << engine;
    EXPECT_NE(wrong.text.find("engine \"abacus\""), std::string::npos) << wrong.text;
  }
  EXPECT_EQ(shell("env VERNIER_CUDA_ENGINE=abacus '" VERNIER_CLI "' run -- true").code, 2);
  EXPECT_EQ(shell("'" VERNIER_CLI "' run --cuda-engine native -- true").code, 0);
  EXPECT_NE(shell("'" VERNIER_CLI "' run -- true").text.find("no level-3 call"), std::string::npos);
}

TEST_F(Preload, VernierRunCountsTheCallsOfProcessesThatDoNotExit) {
  const std::string run = "'" VERNIER_CLI "' run --contract fp64+reproducible --min-size 0 -- '" VERNIER_PROGRAM "' ";
  for (const auto& [end, code] : {std::pair{"ends", 0}, {"killed", 137}}) {
    const Outcome outcome = shell("(" + run + end + "; exit $?)");
    EXPECT_EQ(outcome.code, code) << outcome.text;
    EXPECT_NE(outcome.text.find("taken      1 calls"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("contract   fp64+reproducible; each error at most 2^"), std::string::npos)
        << outcome.text;
  }
}

// LD_PRELOAD is split at spaces and colons.
TEST_F(Preload, VernierRunWorksFromAFolderWithSpacesAndColons) {
  const std::filesystem::path cli = VERNIER_CLI, preload = VERNIER_PRELOAD, prefix = folder_ / "a prefix: with both";
  std::filesystem::create_directories(prefix / "bin");
  std::filesystem::copy(cli, prefix / "bin");
  std::filesystem::copy(preload.parent_path(), prefix / "lib",
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  const Outcome outcome = shell("'" + (prefix / "bin" / cli.filename()).string() +
                                "' run --contract fp64+reproducible --min-size 0 -- '" VERNIER_PROGRAM "' products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("taken      7 calls"), std::string::npos) << outcome.text;
}

TEST_F(Preload, TheBlasUnderneathMayBeGivenByName) {
  const Outcome outcome = run("VERNIER_MIN_SIZE=0 VERNIER_ENGINE=native VERNIER_BLAS=openblas", "products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("0 failures"), std::string::npos) << outcome.text;
}

// Threads that spin would keep processors from Vernier's; where a host takes processors away, those that sleep wake
// late.
TEST_F(Preload, VernierRunLetsThreadsSleepUnlessTheProgramsUserHasSaid) {
  const auto told = [&](const std::string& set) {
    return shell("env -u OPENBLAS_THREAD_TIMEOUT -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY " + set +
                 " '" VERNIER_CLI "' run -- sh -c 'echo timeout $OPENBLAS_THREAD_TIMEOUT, spins $GOMP_SPINCOUNT.'")
        .text;
  };
  // Where other machines take this host's processors, threads spin longer before they sleep.
  const std::string usual = told("");
  EXPECT_TRUE(usual.find("timeout 20, spins 8000.") != usual.npos || usual.find("timeout 24, spins .") != usual.npos)
      << usual;
  EXPECT_NE(told("OPENBLAS_THREAD_TIMEOUT=27 GOMP_SPINCOUNT=5").find("timeout 27, spins 5."), std::string::npos);
  EXPECT_NE(told("OMP_WAIT_POLICY=active").find("spins ."), std::string::npos);
}

TEST_F(Preload, ThatIsNamedAsTheBlasUnderneathEndsTheProgramWithAMessage) {
  const Outcome outcome = run("VERNIER_BLAS='" VERNIER_PRELOAD "'", "products");
  EXPECT_EQ(outcome.code, 2) << outcome.text;
  EXPECT_NE(outcome.text.find("expected another BLAS"), std::string::npos) << outcome.text;
}

TEST_F(Preload, VernierRunAddsToAReportWhateverStandsInIt) {
  const auto report = folder_ / "lines";
  const std::string run = "'" VERNIER_CLI "' run --min-size 0 --contract fp64+reproducible --report '";
  std::ofstream(report) << "{}\nno JSON\n[1, 2]\n";
  const Outcome outcome = shell(run + report.string() + "' -- '" VERNIER_PROGRAM "' ends");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  std::istringstream lines(contents(report));
  std::string line;
  for (int before = 0; before < 3; ++before) std::getline(lines, line);
  ASSERT_TRUE(std::getline(lines, line)) << contents(report);
  EXPECT_EQ(Json::parse(line)["taken"], 1);
  const auto fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const Outcome refused = shell("timeout 30 " + run + fifo.string() + "' -- '" VERNIER_PROGRAM "' ends");
  EXPECT_EQ(refused.code, 2) << refused.text;
  EXPECT_NE(refused.text.find("expected a regular file"), std::string::npos) << refused.text;
}

// Once libvernier is loaded: a library that finds no memory as it is loaded ends the program in the loader.
TEST_F(Preload, AnyAllocationMayBeRefusedAndTheResultIsRight) {
  for (const char* settings : {"VERNIER_ENGINE=portable", "VERNIER_CONTRACT=fp64+reproducible"}) {
    const Outcome outcome = shell("env LD_PRELOAD='" VERNIER_PRELOAD "' VERNIER_MIN_SIZE=0 " + std::string(settings) +
                                  " '" VERNIER_OUT_OF_MEMORY "'");
    EXPECT_EQ(outcome.code, 0) << settings << '\n' << outcome.text;
  }
}

}  // namespace
}  // namespace vernier::test::preload_test
