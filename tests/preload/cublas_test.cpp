// A program of cuBLAS under the preload: what is taken and with which arguments, what is passed on and untouched. No
// GPU is needed: cuBLAS and libvernier are stand-ins that say how they are called (cublas/).
#include <set>
#include <sstream>

#include "cublas_programs.hpp"

namespace vernier::test::cublas_test {
namespace {

// Addresses of the matrix differ between processes.
std::string without_addresses(std::string text) {
  for (std::size_t at = 0; (at = text.find("0x", at)) != std::string::npos;) text.erase(at, text.find(' ', at) - at);
  return text;
}

TEST_F(CublasPreload, LargeProductsAreTakenWithTheirArguments) {
  const Outcome outcome = run("", "products");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(part(outcome.text, "large"), "vernier: gemm D stream 1 mode 0 T N 600 601 602 602 603 605 1\nlarge: 0");
  EXPECT_EQ(part(outcome.text, "device factors"),
            "vernier: gemm D stream 1 mode 1 T N 600 601 602 602 603 605 1\ndevice factors: 0");
  EXPECT_EQ(part(outcome.text, "64 bits"), "vernier: gemm D stream 1 mode 0 N T 600 600 600 601 602 603 1\n64 bits: 0");
  EXPECT_EQ(part(outcome.text, "strided"),
            "vernier: gemm_strided_batched D stream 1 mode 0 N N 600 600 600 600 7 600 8 600 9 3 1\nstrided: 0");
  EXPECT_EQ(part(outcome.text, "typed"), "vernier: gemm D stream 1 mode 0 N N 600 600 600 600 600 600 1\ntyped: 0");
  EXPECT_EQ(part(outcome.text, "tf32 in fp64"),
            "vernier: gemm D stream 1 mode 0 T N 600 601 602 602 603 605 1\ntf32 in fp64: 0")
      << "that mode is about single precision, and its handle is not lent";
}

// Its command buffers need the same nodes of each capture, and none that takes memory.
TEST_F(CublasPreload, WhatXlaCapturesIsPassedOn) {
  const std::string preloads = VERNIER_PRELOAD ":" VERNIER_FAKE_XLA;
  for (const std::string what : {"products", "matmul"}) {
    const std::string command = "'" VERNIER_PROGRAM "' " + what;
    const Outcome not_captured = run_under(preloads, fakes, command),
                  captured = run_under(preloads, std::string(fakes) + "FAKE_CAPTURING=1 ", command);
    EXPECT_EQ(not_captured.report["taken"], run("", what).report["taken"]) << not_captured.report;
    EXPECT_GT(not_captured.report["taken"], 0) << not_captured.report;
    EXPECT_EQ(captured.report["taken"], 0) << captured.report;
    EXPECT_GT(captured.report["passed_on"]["unsupported here"], 0) << captured.report;
    EXPECT_NE(captured.report["last_message"].get<std::string>().find("XLA"), std::string::npos) << captured.report;
    EXPECT_EQ(captured.code, 0) << captured.text;
  }
}

// A product outside of them is a plain call.
TEST_F(CublasPreload, ProductsAreLeftOutOfTheCommandBuffersOfXla) {
  const auto flags = [&](const std::string& preload, const std::string& settings) {
    const Outcome o = run_under(preload, "LD_LIBRARY_PATH='" VERNIER_FAKES ":" VERNIER_FAKES "/xla' " + settings,
                                "'" VERNIER_PROGRAM "' xla");
    const std::size_t begin = o.text.find('[') + 1;
    return o.text.substr(begin, o.text.find(']') - begin);
  };
  const std::string kept_out = "--xla_gpu_enable_command_buffer=-CUBLAS --xla_gpu_enable_command_buffer=-CUBLASLT";
  EXPECT_EQ(flags("", ""), "none");
  EXPECT_EQ(flags(VERNIER_PRELOAD, ""), kept_out);
  EXPECT_EQ(flags(VERNIER_PRELOAD, "XLA_FLAGS=--xla_dump_to=x "), "--xla_dump_to=x " + kept_out);
  for (const std::string said :
       {"--xla_gpu_enable_command_buffer=", "--xla_gpu_enable_command_buffer=CUBLAS", "a/file"})
    EXPECT_EQ(flags(VERNIER_PRELOAD, "XLA_FLAGS=" + said + " "), said);
  EXPECT_EQ(flags(VERNIER_PRELOAD, "VERNIER_CUDA_ENGINE=native "), "none");
}

TEST_F(CublasPreload, WhatIsPassedOnArrivesAsItWasAndIsCounted) {
  const Outcome outcome = run("", "products"), before = plain("products");
  for (const char* what : {"small", "slower", "pedantic", "strided with beta", "wrong ldc", "too wide", "captured",
                           "half", "typed pedantic"}) {
    std::string then = part(before.text, what), now = part(outcome.text, what);
    if (now.rfind("cublas: Dgemm ", 0) == 0) then = without_addresses(then), now = without_addresses(now);
    EXPECT_NE(now, "") << what;
    EXPECT_EQ(now, then) << what;
    EXPECT_TRUE(contains(outcome, std::string(what) + ": 42")) << outcome.text;
  }
  const Json& passed = outcome.report["passed_on"];
  EXPECT_EQ(passed["small"], 1) << passed;
  EXPECT_EQ(passed["native is faster"], 1) << passed;
  EXPECT_EQ(passed["invalid argument"], 1) << passed;
  EXPECT_EQ(passed["data too wide"], 1) << passed;
  EXPECT_EQ(passed["unsupported here"], 1) << passed;
  EXPECT_EQ(passed["other type, mode or form"], 4) << passed;
  EXPECT_EQ(outcome.report["taken"], 6) << outcome.report;
  EXPECT_EQ(outcome.report["library"], "vernier_cublas");
  EXPECT_EQ(outcome.report["symbols"]["cublasGemmEx"]["taken"], 1) << outcome.report;
  EXPECT_EQ(outcome.report["last_message"], "a stream that is being captured");
  EXPECT_EQ(outcome.report["largest_native"]["reason"], "the plan of this process") << outcome.report;
}

TEST_F(CublasPreload, Level3IsTakenAndCallsInsideACallGoStraightOn) {
  const Outcome outcome = run("", "level3");
  EXPECT_EQ(part(outcome.text, "trsm"), "vernier: trsm D stream 1 mode 0 R U T U 1500 1200 1201 1501 1\ntrsm: 0");
  EXPECT_TRUE(contains(outcome, "trsm device factors: 42")) << outcome.text;
  EXPECT_EQ(part(outcome.text, "syrk"), "vernier: syrk D stream 1 mode 0 L N 1100 512 1100 1101 1\nsyrk: 0");
  EXPECT_TRUE(contains(outcome, "cublas: Dsyrk 1 1 700 700")) << outcome.text;
  EXPECT_TRUE(contains(outcome, "syrk passed on: 42")) << outcome.text;
  EXPECT_FALSE(outcome.report["symbols"].contains("cublasDgemm_v2") &&
               outcome.report["symbols"]["cublasDgemm_v2"]["taken"] != 0)
      << outcome.report;
  EXPECT_EQ(outcome.report["passed_on"]["factors in device memory"], 1) << outcome.report;
}

TEST_F(CublasPreload, CallsLikeOneBeforeAreCountedForWhatTheyAre) {
  const Outcome outcome = run("", "known");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(without_addresses(outcome.text), without_addresses(plain("known").text));
  EXPECT_EQ(outcome.report["passed_on"],
            Json({{"native is faster", 100}, {"nothing to multiply", 3}, {"invalid argument", 2}}))
      << outcome.report;
}

TEST_F(CublasPreload, OtherFormsOfLevel3AreTakenOrCounted) {
  const Outcome outcome = run("", "forms"), before = plain("forms");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(part(outcome.text, "syrkx"), "vernier: syrkx D stream 1 mode 0 U N 1200 512 1200 1201 1202 1\nsyrkx: 0");
  EXPECT_EQ(part(outcome.text, "herkx"), "vernier: herkx Z stream 1 mode 0 L C 1200 512 512 513 1202 1\nherkx: 0");
  EXPECT_EQ(part(outcome.text, "syrkEx"), "vernier: syrk C stream 1 mode 0 L T 1200 512 512 1200 1\nsyrkEx: 0");
  for (const char* what : {"herkx transposed", "syrkEx of bytes", "batch of trsm", "Hgemm", "groups", "Xt"}) {
    EXPECT_EQ(part(outcome.text, what), part(before.text, what)) << what;
    EXPECT_TRUE(contains(outcome, std::string(what) + ": 42")) << outcome.text;
  }
  EXPECT_EQ(outcome.report["passed_on"]["invalid argument"], 1) << outcome.report;
  EXPECT_EQ(outcome.report["passed_on"]["other type, mode or form"], 5) << outcome.report;
}

TEST_F(CublasPreload, TheFirstInterfaceIsTakenOnTheDefaultStream) {
  const Outcome outcome = run("", "first");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text,
            "vernier: gemm D stream 0 mode 0 T T 600 601 602 602 603 604 1\n"
            "vernier: gemm Z stream 0 mode 0 N C 600 601 602 605 606 607 1\n"
            "vernier: trsm Z stream 0 mode 0 R U C U 1500 1200 1201 1501 1\n"
            "cublas: first Dgemm n n 100 100 100 2 100 100 3 100 1\n"
            "cublas: first Zgemm n x 600 601 602 2 3 605 606 4 5 607 1\n"
            "cublas: SetKernelStream 0\n"
            "default stream: 42\n"
            "vernier: gemm D stream 0 mode 0 N N 600 600 600 608 609 610 1\n"
            "cublas: SetKernelStream 1\n"
            "another stream: 42\n"
            "cublas: first Dgemm n n 600 600 600 2 608 609 3 610 1\n");
  EXPECT_EQ(outcome.report["taken"], 4) << outcome.report;
  EXPECT_EQ(outcome.report["passed_on"], Json({{"small", 1}, {"invalid argument", 1}, {"other type, mode or form", 1}}))
      << outcome.report;
}

TEST_F(CublasPreload, AWorkspaceOfTheProgramIsUsedWhereItSuffices) {
  const Outcome outcome = run("", "workspaces");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  for (const char* what : {"enough", "enough again", "batch of two", "one thread", "given again", "matmul with one"})
    EXPECT_NE(part(outcome.text, what).find(" workspace 2048 "), std::string::npos) << what << "\n" << outcome.text;
  for (const char* what :
       {"none", "larger", "another handle", "batch of three", "level 3", "after another stream", "too few bytes",
        "not aligned", "another thread", "after another thread", "handle of the same address"}) {
    EXPECT_EQ(part(outcome.text, what).find(" workspace "), std::string::npos) << what << "\n" << outcome.text;
    EXPECT_TRUE(contains(outcome, std::string(what) + ": 0")) << outcome.text;
  }
  EXPECT_EQ(outcome.report["workspaces"], Json({{"used", 6}, {"too_small", 5}})) << outcome.report;
}

TEST_F(CublasPreload, SettingsOfAHandleAloneMakeNoSummary) {
  const Outcome outcome = run("VERNIER_VERBOSE=1", "settings");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.report, nullptr) << outcome.report;
  EXPECT_EQ(outcome.text, plain("settings").text);
}

TEST_F(CublasPreload, FunctionsThatTheProgramLooksUpAreTaken) {
  for (const Outcome& outcome : {run("", "lookedup"), run_module("", "lookedup")}) {
    EXPECT_EQ(part(outcome.text, "looked up"),
              "vernier: gemm D stream 1 mode 0 T N 600 601 602 602 603 605 1\nlooked up: 0");
    EXPECT_TRUE(contains(outcome, "small and looked up: 42")) << outcome.text;
    EXPECT_TRUE(contains(outcome, "absent: 0")) << outcome.text;
    EXPECT_TRUE(contains(outcome, "looked up by libvernier: 42")) << outcome.text;
    EXPECT_EQ(outcome.report["taken"], 1) << outcome.report;
  }
}

// Looked up it is absent, as without; a reference to it that may stay open is closed by the preload, and is told.
TEST_F(CublasPreload, AFunctionThatThisCublasLacksIsAbsent) {
  const std::string absent = "by default: 0, told why\nin the program: 0, told why\n";
  EXPECT_EQ(plain("absent").text, absent + "linked: 0\n");
  const Outcome outcome = run("", "absent");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text, absent +
                              "linked: 1\nvernier_cublas: cublasHgemmBatched: no library underneath has this routine, "
                              "and Vernier does not take this call\nbatch of halves: 15\nonce more: 15\n");
}

// Calls with nothing underneath and no status to tell of it. Their products are libvernier's, whose data may be wide.
TEST_F(CublasPreload, AProgramWithoutACublasRunsAsWithoutOrIsTold) {
  const std::string command = "'" VERNIER_BARE "'", absent = "Dgemm: 0\nGemmEx: 0\nLtMatmul: 0\n";
  EXPECT_EQ(shell(command + " look").text, absent);
  for (const Outcome& outcome : {run_under(VERNIER_PRELOAD, fakes, command + " look"),
                                 shell("'" VERNIER_CLI "' run -q -- " + command + " look")}) {
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_EQ(outcome.text, absent);
  }
  EXPECT_EQ(shell(command + " call").text, "linked: 0\n");
  const Outcome called = run_under(VERNIER_PRELOAD, fakes, command + " call");
  EXPECT_EQ(called.code, 0) << called.text;
  EXPECT_EQ(called.text,
            "linked: 1\nvernier: gemm D stream 0 mode 0 N N 600 600 600 600 600 779 1\nfirst interface\n"
            "vernier_cublas: cublasDgemm_v2: no library underneath has this routine, and Vernier does not take this "
            "call\nwith a handle: 15\nsmall: 15\nstream: 15\n");
}

TEST_F(CublasPreload, ACublasOutOfTheGlobalScopeIsReachedAndIsTheOneCalled) {
  for (const char* what : {"products", "level3", "matmul"}) {
    const Outcome linked = run("", what), loaded = run_module("", what);
    EXPECT_EQ(loaded.code, 0) << loaded.text;
    EXPECT_EQ(loaded.report["taken"], linked.report["taken"]) << loaded.text;
    EXPECT_EQ(loaded.report["passed_on"], linked.report["passed_on"]) << loaded.text;
  }
}

// Each module of a program may be linked to a version of its own: what one has made is none of another's.
TEST_F(CublasPreload, HandlesOfASecondCublasStayWithItAndNothingOfThemIsTaken) {
  const std::string first = "'" VERNIER_MODULE "'", second = "'" VERNIER_MODULE_12 "'", host = "'" VERNIER_HOST "' ";
  const auto of = [](const Outcome& outcome, bool earlier) {
    const std::size_t middle = outcome.text.find("Lt destroy: 0\n") + 14;
    return without_addresses(earlier ? outcome.text.substr(0, middle) : outcome.text.substr(middle));
  };
  const Outcome taken = run_module("", "handles");
  EXPECT_EQ(taken.code, 0) << taken.text;
  EXPECT_EQ(taken.report["taken"], 5) << taken.report;
  for (const bool swapped : {false, true}) {
    const std::string command = host + (swapped ? second : first) + " handles " + (swapped ? first : second);
    const Outcome plain = shell(command), outcome = run_under(VERNIER_PRELOAD, fakes, command);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_EQ(of(outcome, !swapped), of(taken, true)) << outcome.text;
    EXPECT_EQ(of(outcome, swapped), of(plain, swapped));
    EXPECT_NE(of(outcome, swapped).find("\nlarge: 12\n"), std::string::npos) << outcome.text;
    EXPECT_NE(of(outcome, swapped).find("\nmatmul: 12\n"), std::string::npos) << outcome.text;
    EXPECT_EQ(outcome.report["taken"], 5) << outcome.report;
  }
  const Outcome linked =
      run_under(VERNIER_PRELOAD ":" VERNIER_FAKES "/libcublas.so.13", fakes, host + second + " handles");
  EXPECT_EQ(of(linked, true), of(shell(host + second + " handles"), true)) << "the program is linked to another";
  EXPECT_EQ(linked.report["taken"], 0) << linked.report;
}

TEST_F(CublasPreload, AfterDataThatWereTooWideAShapePausesForLongerEachTime) {
  const Outcome outcome = run("", "wide");
  for (const int call : {1, 6})  // with the program's own handle
    EXPECT_NE(outcome.text.find("call " + std::to_string(call) + " tried cublas:"), std::string::npos) << outcome.text;
  for (const int call : {2, 3, 4, 5, 7})
    EXPECT_NE(outcome.text.find("call " + std::to_string(call) + " cublas:"), std::string::npos) << outcome.text;
  EXPECT_TRUE(contains(outcome, "other data: 42")) << outcome.text;
  EXPECT_TRUE(contains(outcome, "another shape: 0")) << outcome.text;
  EXPECT_EQ(outcome.report["passed_on"]["data too wide"], 8) << outcome.report;
  EXPECT_EQ(outcome.report["largest_wide"]["m"], 600) << outcome.report;
  EXPECT_EQ(outcome.report["largest_wide"]["reason"], "the plan of the other contract") << outcome.report;
  // A contract that cuBLAS does not keep has each call tried.
  for (const Outcome& strict :
       {run("VERNIER_CONTRACT=fp64+no-fallback", "wide"), run("VERNIER_CONTRACT=fp64", "widefloats")})
    for (int call = 1; call <= 7; ++call)
      EXPECT_NE(strict.text.find("call " + std::to_string(call) + " tried cublas:"), std::string::npos) << strict.text;
}

TEST_F(CublasPreload, ThreadsDoNotMeet) {
  const Outcome outcome = run("", "threads");
  EXPECT_TRUE(contains(outcome, "not taken: 0")) << outcome.text;
  EXPECT_EQ(outcome.report["symbols"]["cublasDgemm_v2"]["taken"], 400) << outcome.report;
}

TEST_F(CublasPreload, InvalidSettingsEndTheProgramWithAMessage) {
  for (const char* setting : {"VERNIER_CONTRACT=fp65", "VERNIER_CUDA_ENGINE=abacus", "VERNIER_MIN_SIZE=-1"}) {
    const Outcome outcome = run(setting, "products");
    EXPECT_EQ(outcome.code, 2) << setting << outcome.text;
    const std::string name = std::string(setting).substr(0, std::string(setting).find('='));
    EXPECT_NE(outcome.text.find("vernier_cublas: " + name), std::string::npos) << outcome.text;
  }
}

TEST_F(CublasPreload, ProgramsWithoutCublasAreLeftAlone) {
  const Outcome outcome = shell("env LD_PRELOAD='" VERNIER_PRELOAD "' VERNIER_CONTRACT=fp65 true");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text, "");
}

TEST_F(CublasPreload, VernierRunSetsItUpAndTells) {
  const Outcome outcome = shell(std::string("'" VERNIER_CLI "' run -- env ") + fakes + "'" VERNIER_PROGRAM "' level3");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("cuBLAS"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("taken      2 calls"), std::string::npos) << outcome.text;
}

#ifdef VERNIER_CUBLAS
// Whatever cuBLAS exports of products and level 3 is taken over or counted.
TEST_F(CublasPreload, NoSymbolOfLevel3IsMissing) {
  const auto level3_of = [&](const std::string& library) {
    const Outcome names = shell("(nm -D --defined-only '" + library +
                                "' | sed -n 's/^.* T \\(cublas[A-Za-z0-9_]*\\).*/\\1/p' | grep -iE "
                                "'gemm|symm|hemm|syrk|herk|syr2k|her2k|trmm|trsm|spmm|SetWorkspace' | sort -u)");
    std::istringstream lines(names.text);
    std::set<std::string> all;
    for (std::string line; std::getline(lines, line);) all.insert(line);
    return all;
  };
  const std::set<std::string> theirs = level3_of(VERNIER_CUBLAS), ours = level3_of(VERNIER_PRELOAD);
  EXPECT_GT(theirs.size(), 150U);
  for (const std::string& name : theirs) EXPECT_TRUE(ours.contains(name)) << name;
}
#endif

}  // namespace
}  // namespace vernier::test::cublas_test
