// vernier gemm from outside.
#include <cmath>
#include <nlohmann/json.hpp>

#include "matrix_file.hpp"
#include "program.hpp"

namespace vernier::cli::program_gemm_test {
namespace {

using namespace vernier::cli::testing;
using Json = nlohmann::json;

using ProgramGemm = Program;

// A B = 7 -1 / 16 -1
constexpr const char* product_mtx = "%%MatrixMarket matrix array real general\n2 2\n7\n16\n-1\n-1\n";

TEST_F(ProgramGemm, UnknownEngineNamesTheOthers) {
  const Outcome outcome = run("gemm A.npy B.npy --engine abacus -o C.npy");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("portable"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "C.npy"));
}

TEST_F(ProgramGemm, MultipliesFiles) {
  const Outcome outcome = run("gemm A.npy B.npy -o P.mtx --check");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("4 of 4 sampled entries"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("contract fp64"), std::string::npos) << outcome.out;
  EXPECT_EQ(contents(folder / "P.mtx"), product_mtx);
}

TEST_F(ProgramGemm, ReadsOneMatrixFromStdin) {
  const std::string program = "cd '" + folder / "" + "' && '" VERNIER_CLI "' gemm ";
  EXPECT_EQ(std::system((program + "- B.npy -q -o P.mtx < A.npy").c_str()), 0);
  EXPECT_EQ(contents(folder / "P.mtx"), product_mtx);
  EXPECT_EQ(std::system((program + "A.npy I.mtx -q -o - | '" VERNIER_CLI "' gemm - B.npy -q -o Q.mtx").c_str()), 0);
  EXPECT_EQ(contents(folder / "Q.mtx"), product_mtx);
  refuses(2, "gemm - -", "stdin holds one matrix");
  refuses(1, "gemm - B.npy", "stdin: ");
}

// As NumPy has it: the first factor is a row, the second a column, and the product is a vector.
TEST_F(ProgramGemm, VectorsAreRowsInFrontAndColumnsBehind) {
  folder.write("v.npy", npy(dictionary("<f8", "(3,)"), raw<double>({1, 0, 2})));
  folder.write("w.npy", npy(dictionary("<f8", "(2,)"), raw<double>({1, -1})));
  const auto product = [&](const std::string& factors) {
    const Outcome outcome = run("gemm " + factors + " -o P.npy");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Matrix p = read_npy(folder / "P.npy", Vectors::columns);
    EXPECT_TRUE(p.vector) << factors;
    return std::get<std::vector<double>>(p.entries);
  };
  EXPECT_EQ(product("A.npy v.npy"), (std::vector<double>{7, 16}));
  EXPECT_EQ(product("w.npy A.npy"), (std::vector<double>{-3, -3, -3}));
  EXPECT_EQ(product("v.npy v.npy"), (std::vector<double>{5}));
  EXPECT_EQ(product("A.npy v.npy --beta 1 --c-in w.npy"), (std::vector<double>{8, 15}));
  refuses(1, "gemm v.npy A.npy --transa T", "v.npy: is a vector, which has no transpose");
}

TEST_F(ProgramGemm, DataTooWideForTheIntegerSchemeAreToldOfExact) {
  folder.write("wide.mtx", "%%MatrixMarket matrix array real general\n1 2\n1e300\n1e-300\n");
  folder.write("tall.mtx", "%%MatrixMarket matrix array real general\n2 1\n1e-300\n1e300\n");
  refuses(1, "gemm wide.mtx tall.mtx --contract fp64+reproducible", "expected contract exact, which serves any data");
  EXPECT_EQ(run("gemm wide.mtx tall.mtx --contract exact -o P.mtx").code, 0);
}

TEST_F(ProgramGemm, ANameThatIsNearlyAnEnginesIsGuessed) {
  refuses(2, "gemm A.npy B.npy --engine portible", "did you mean 'portable'?");
  refuses(2, "explain -m 1 -n 1 -k 1 --engine Avx2_", "did you mean 'avx2'?");
}

TEST_F(ProgramGemm, ACheckThatComparesNothingFails) {
  folder.write("huge.mtx", "%%MatrixMarket matrix array real general\n1 2\n1e300\n1e300\n");
  folder.write("other.mtx", "%%MatrixMarket matrix array real general\n2 1\n1e300\n-1e300\n");
  const Outcome outcome = run("gemm huge.mtx other.mtx --check");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("the check failed: all of 1 sampled entries"), std::string::npos) << outcome.err;
}

TEST_F(ProgramGemm, EveryOrderOfStorageGivesTheSameProduct) {
  folder.write("A_columns.npy", npy(dictionary("<f8", "(2, 3)", true), raw<double>({1, 4, 2, 5, 3, 6})));
  folder.write("At.npy", npy(dictionary("<f8", "(3, 2)"), raw<double>({1, 4, 2, 5, 3, 6})));
  folder.write("At_columns.npy", npy(dictionary("<f8", "(3, 2)", true), raw<double>({1, 2, 3, 4, 5, 6})));
  folder.write("B_rows.npy", npy(dictionary("<i4", "(3, 2)"), raw<std::int32_t>({1, 0, 0, 1, 2, -1})));
  folder.write("Bt.npy", npy(dictionary("|i1", "(2, 3)"), raw<std::int8_t>({1, 0, 2, 0, 1, -1})));
  for (const char* a : {"A.npy", "A_columns.npy", "At.npy --transa T", "At_columns.npy --transa C"}) {
    for (const char* b : {"B.npy", "B_rows.npy", "Bt.npy --transb T"}) {
      for (const char* out : {"P.npy", "P.mtx"}) {
        const std::string name = std::string(a).substr(0, std::string(a).find(' '));
        const std::string options = std::string(a).substr(name.size());
        const Outcome outcome = run("gemm " + name + " " + b + options + " --check --quiet -o " + out);
        ASSERT_EQ(outcome.code, 0) << a << " " << b << "\n" << outcome.err;
        EXPECT_EQ(outcome.err, "");
        const Matrix p = read_matrix(folder / out);
        EXPECT_EQ(std::vector<double>({p.at(0, 0), p.at(0, 1), p.at(1, 0), p.at(1, 1)}),
                  std::vector<double>({7, -1, 16, -1}))
            << a << " " << b << " " << out;
      }
    }
  }
}

TEST_F(ProgramGemm, MultipliesBySlices) {
  for (const char* mode : {"dp", "cr"})
    for (const char* engine : {"", " --engine volta-fp16-fp32"})
      for (const char* out : {"P.mtx", "P.npy"}) {
        const Outcome outcome =
            run(std::string("gemm A.npy B.npy --check --json --slices ") + mode + engine + " -o " + out);
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json["mode"], mode == std::string("cr") ? "CR" : "DP");
        EXPECT_EQ(json["products"], 1);  // small integers are one slice each
        EXPECT_EQ(json["check"]["error_max"], 0);
        const Matrix p = read_matrix(folder / out);
        EXPECT_EQ(p.at(1, 0), 16);
      }
  EXPECT_EQ(run("gemm A.npy B.npy --slices dp --contract fp64").code, 2);
  EXPECT_EQ(run("gemm A.npy B.npy --slices quick").code, 2);
  EXPECT_EQ(run("gemm A.npy B.npy --device tpu").code, 2);
}

TEST_F(ProgramGemm, MultipliesOnAGpuOrSaysThatThereIsNone) {
  for (const char* options : {"", " --slices cr"}) {
    const Outcome outcome = run(std::string("gemm A.npy B.npy --check --device cuda -o P.npy") + options);
    if (outcome.code == 0) {
      EXPECT_EQ(read_matrix(folder / "P.npy").at(1, 0), 16);
    } else {
      EXPECT_EQ(outcome.code, 1);
      EXPECT_NE(outcome.err.find("CUDA"), std::string::npos) << outcome.err;
    }
  }
}

TEST_F(ProgramGemm, TakesAlphaBetaAndC0) {
  for (const char* c0 : {"C.mtx", "C_rows.npy"}) {
    folder.write("C_rows.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({10, 30, 20, 40})));
    const Outcome outcome = run(std::string("gemm A.npy B.npy --alpha -1 --beta 2 --check -o P.npy --c-in ") + c0);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Matrix p = read_npy(folder / "P.npy");
    EXPECT_EQ(p.order, Order::row_major);
    EXPECT_EQ(std::get<std::vector<double>>(p.entries), (std::vector<double>{13, 61, 24, 81}));
  }
}

TEST_F(ProgramGemm, FloatsStayFloatsUnlessADoubleIsAmongThem) {
  EXPECT_EQ(run("gemm F.npy F.npy -o P.npy").code, 0);
  const Matrix p = read_npy(folder / "P.npy");
  ASSERT_FALSE(p.is_double());
  EXPECT_EQ(std::get<std::vector<float>>(p.entries), (std::vector<float>{7, 10, 15, 22}));
  EXPECT_EQ(run("gemm F.npy A.npy -o P.npy").code, 0);
  EXPECT_TRUE(read_npy(folder / "P.npy").is_double());
  EXPECT_EQ(run("gemm F.npy F.npy --beta 1 --c-in C.mtx -o P.npy").code, 0);
  EXPECT_TRUE(read_npy(folder / "P.npy").is_double());
}

TEST_F(ProgramGemm, WritesDataAloneToStdout) {
  const Outcome outcome = run("gemm A.npy I.mtx -o -");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err, "");
  EXPECT_EQ(contents(folder.write("out.npy", outcome.out)).substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(std::get<std::vector<double>>(read_npy(folder / "out.npy").entries),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(ProgramGemm, ReportsAsJsonOnStdout) {
  const Outcome outcome = run("gemm A.npy B.npy --json --check -o P.npy");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["inputs"][0]["rows"], 2);
  EXPECT_EQ(json["inputs"][1]["type"], "double");
  EXPECT_EQ(json["output"], "P.npy");
  EXPECT_EQ(json["check"]["compared"], 4);
  EXPECT_EQ(json["check"]["error_max"], 0);
}

TEST_F(ProgramGemm, ReportsTheSizesOfTheProductWhateverTheStorage) {
  folder.write("B_rows.npy", npy(dictionary("<f8", "(3, 1)"), raw<double>({1, 1, 1})));
  for (const char* arguments : {"gemm A.npy B_rows.npy --json", "gemm A.npy B_rows.npy --json -o P.mtx"}) {
    const Json json = Json::parse(run(arguments).out);
    const Json& plan = json.contains("plan") ? json["plan"] : json;
    EXPECT_EQ(plan["m"], 2) << json;
    EXPECT_EQ(plan["n"], 1) << json;
    EXPECT_EQ(plan["k"], 3) << json;
  }
}

TEST_F(ProgramGemm, SpeaksOfTheProductInErrorsWhateverTheStorage) {
  folder.write("wide_A.npy", npy(dictionary("<f8", "(1, 2)"), raw<double>({0x1p500, 0x1p-500})));
  folder.write("wide_B.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({0x1p-400, 0x1p-400, 0x1p400, 0x1p400})));
  for (const char* out : {"P.npy", "P.mtx"}) {
    const std::string product = "gemm wide_A.npy wide_B.npy --contract fp64+reproducible -o " + std::string(out);
    for (const char* size : {" m = 1,", " n = 2,"}) refuses(1, product + " --workspace-limit 10", size);
    for (const char* span : {" 1000 in a row of op(A)", " 800 in a column of op(B)"}) refuses(1, product, span);
  }
}

TEST_F(ProgramGemm, WarnsOfNaNs) {
  folder.write("N.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({std::nan(""), 1, 2, std::nan("")})));
  const Outcome outcome = run("gemm N.npy N.npy -o P.npy --check");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning: N.npy: 2 of 4 entries are NaN"), std::string::npos) << outcome.err;
  EXPECT_TRUE(std::isnan(read_npy(folder / "P.npy").at(0, 0)));
  EXPECT_EQ(run("gemm N.npy N.npy --quiet").err, "");
  EXPECT_EQ(Json::parse(run("gemm N.npy N.npy --json").out)["inputs"][0]["nan"], 2);
}

TEST_F(ProgramGemm, AnEmptyProductIsWritten) {
  folder.write("tall.npy", npy(dictionary("<f8", "(2, 0)"), ""));
  folder.write("wide.npy", npy(dictionary("<f8", "(0, 3)"), ""));
  EXPECT_EQ(run("gemm tall.npy wide.npy -o P.npy --check").code, 0);
  EXPECT_EQ(std::get<std::vector<double>>(read_npy(folder / "P.npy").entries), std::vector<double>(6, 0.0));
  EXPECT_EQ(run("gemm wide.npy I.mtx -o P.npy").code, 0);
  EXPECT_EQ(read_npy(folder / "P.npy").columns, 3);
}

TEST_F(ProgramGemm, FailsWith1AndTouchesNothing) {
  folder.write("old.npy", "precious");
  folder.write("short.npy", small_npy().substr(0, 130));
  const auto before = folder.names();
  refuses(1, "gemm A.npy A.npy -o old.npy", "op(B) is 2 x 3 and cannot follow op(A), which is 2 x 3 (A.npy)");
  refuses(1, "gemm A.npy absent.npy -o old.npy", "absent.npy: No such file");
  refuses(1, "gemm short.npy B.npy -o old.npy", "short.npy: truncated");
  refuses(1, "gemm A.npy B.npy --beta 1 --c-in I.mtx -o old.npy", "I.mtx: is 3 x 3, the product is 2 x 2");
  refuses(1, "gemm A.npy B.npy -o absent/P.npy", "absent/P.npy: cannot be written");
  refuses(2, "gemm A.npy B.npy --engine abacus -o old.npy", "abacus");
  EXPECT_EQ(contents(folder / "old.npy"), "precious");
  EXPECT_EQ(folder.names(), before);
}

TEST_F(ProgramGemm, AReportOrAFileThatCannotBeWrittenLeavesTheOldFile) {
  folder.write("old.npy", "precious");
  folder.write("tall.npy", npy(dictionary("<f8", "(9, 0)"), ""));
  folder.write("wide.npy", npy(dictionary("<f8", "(0, 9)"), ""));
  const auto before = folder.names();
  const std::string program = "cd '" + folder / "" + "' && '" VERNIER_CLI "' ";
  for (const std::string& command :
       {program + "gemm A.npy B.npy -o old.npy --json > /dev/full", program + "gemm A.npy B.npy -o old.npy --json >&-",
        program + "gemm A.npy B.npy -o old.npy > /dev/full", program + "gemm A.npy B.npy -o old.npy >&-",
        program + "gemm A.npy B.npy -o old.npy --check > /dev/full",
        program + "gemm A.npy B.npy -o old.npy --slices dp > /dev/full",
        program + "gemm A.npy B.npy -o old.npy --type dd > /dev/full",
        program + "solve I.mtx B.npy -o old.npy > /dev/full", program + "solve I.mtx B.npy -o old.npy --verified >&-",
        program + "solve I.mtx B.npy -o old.npy --verified > /dev/full",
        "ulimit -f 1; " + program + "gemm tall.npy wide.npy -o old.npy -q"}) {
    const int status = std::system(("{ " + command + "; } 2> '" + logs / "err" + "'").c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << command;
    EXPECT_NE(contents(logs / "err").find("writing failed"), std::string::npos) << contents(logs / "err");
    EXPECT_EQ(contents(folder / "old.npy"), "precious") << command;
    EXPECT_EQ(folder.names(), before) << command;
  }
}

TEST_F(ProgramGemm, StderrThatTakesNothingDoesNotHinder) {
  ASSERT_EQ(run("gemm A.npy B.npy -o P.npy").code, 0);
  const std::string program = "cd '" + folder / "" + "' && '" VERNIER_CLI "' gemm A.npy ";
  for (const std::string stderr_is : {" 2>&-", " 2>&- <&-", " 2> /dev/full"}) {
    EXPECT_EQ(std::system((program + "B.npy -o Q.npy" + stderr_is).c_str()), 0) << stderr_is;
    EXPECT_EQ(contents(folder / "Q.npy"), contents(folder / "P.npy")) << stderr_is;
    EXPECT_EQ(WEXITSTATUS(std::system((program + "absent.npy" + stderr_is).c_str())), 1) << stderr_is;
  }
}

TEST_F(ProgramGemm, AReaderThatLeavesEndsNothingInTheMiddle) {
  folder.write("old.npy", "precious");
  ASSERT_EQ(run("gemm A.npy B.npy -o P.npy").code, 0);
  const auto run_without_reader = [&](const std::string& arguments) {
    const std::string program = "'" VERNIER_CLI "' gemm A.npy B.npy " + arguments;
    ASSERT_EQ(std::system(("cd '" + folder / "" + "' && { sleep 0.2; " + program + "; } | true").c_str()), 0);
  };
  run_without_reader("-q -o Q.npy 2>&1");
  EXPECT_EQ(contents(folder / "Q.npy"), contents(folder / "P.npy"));
  const auto before = folder.names();
  run_without_reader("-o old.npy 2>/dev/null");
  run_without_reader("-o old.npy --json 2>/dev/null");
  EXPECT_EQ(contents(folder / "old.npy"), "precious");
  EXPECT_EQ(folder.names(), before);
}

TEST_F(ProgramGemm, AnInputMayBeReplacedByTheOutput) {
  EXPECT_EQ(run("gemm A.npy I.mtx --alpha 2 -o A.npy").code, 0);
  EXPECT_EQ(std::get<std::vector<double>>(read_npy(folder / "A.npy").entries),
            (std::vector<double>{2, 4, 6, 8, 10, 12}));
}

}  // namespace
}  // namespace vernier::cli::program_gemm_test
