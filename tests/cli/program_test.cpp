// The program from outside: usage, info, explain and bench.
#include <nlohmann/json.hpp>
#include <sstream>
#include <vernier/cuda.hpp>
#include <vernier/offload.hpp>
#include <vernier/vernier.hpp>

#include "program.hpp"

namespace vernier::cli::program_test {
namespace {

using namespace vernier::cli::testing;
using Json = nlohmann::json;

TEST_F(Program, SaysVersionAndHelpOnStdout) {
  const Outcome version = run("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, std::string("vernier ") + vernier::version() + "\n");
  EXPECT_EQ(version.err, "");
  for (const char* command : {"", "info ", "explain ", "gemm ", "bench gemm ", "probe ", "reproduce "}) {
    const Outcome help = run(std::string(command) + "--help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_NE(help.out.find("Examples:"), std::string::npos) << command;
    EXPECT_EQ(help.err, "") << command;
  }
}

TEST_F(Program, AloneOrAskedForHelpSaysWhatItsOptionsSay) {
  const std::string all = run("--help").out, gemm = run("gemm --help").out;
  EXPECT_EQ(run("").out, all);
  EXPECT_EQ(run("help").out, all);
  EXPECT_EQ(run("help gemm").out, gemm);
  EXPECT_EQ(run("").code, 0);
}

TEST_F(Program, HelpNamesNoTypeTwiceAndNoEmptyDefault) {
  for (const char* command : {"gemm", "solve", "explain", "run", "manual", "reproduce", "completion"}) {
    const std::string help = run(std::string(command) + " --help").out;
    for (const char* ugly : {"TEXT:", "INT:", "FLOAT:", "TEXT=[]", "TEXT []", "=0 REQUIRED", "[0] REQUIRED"})
      EXPECT_EQ(help.find(ugly), std::string::npos) << ugly << " in " << help;
  }
}

TEST_F(Program, HelpTellsDefaults) {
  const auto tells = [&](const std::string& command, const std::string& value) {
    const std::string help = run(command + " --help").out;  // CLI11 2.3 says TEXT=cpu, 2.5 TEXT [cpu]
    EXPECT_TRUE(help.find("=" + value) != std::string::npos || help.find("[" + value + "]") != std::string::npos)
        << value << ": " << help;
  };
  tells("gemm", "cpu");
  tells("gemm", "1");
  tells("solve", "auto");
  tells("solve", "30");
}

TEST_F(Program, CommandsNearlyNamedAreGuessed) {
  refuses(2, "gem A.npy B.npy", "did you mean 'gemm'?");
  refuses(2, "slove A.npy B.npy", "did you mean 'solve'?");
}

TEST_F(Program, MissingFilesAreFailuresOfEveryCommand) {
  for (const char* command : {"gemm absent.npy B.npy", "gemm absent.mtx B.npy", "gemm absent B.npy",
                              "solve absent.npy B.npy", "probe --file absent.json"})
    refuses(1, command, "absent");
}

TEST_F(Program, ManualPagesAndCompletionsHoldEveryCommandAndOption) {
  const std::string program = run("manual").out, gemm = run("manual gemm").out;
  EXPECT_EQ(program.rfind(".TH vernier 1", 0), 0U);
  for (const char* part : {".SH SYNOPSIS", ".SH COMMANDS", "vernier\\-solve", "Exit codes"})
    EXPECT_NE(program.find(part), std::string::npos) << part;
  for (const char* part : {".TH vernier-gemm 1", "\\-\\-contract", "(default: cpu)", "\\fBA\\fR"})
    EXPECT_NE(gemm.find(part), std::string::npos) << part;
  EXPECT_EQ(run("manual bench gemm").out.rfind(".TH vernier-bench-gemm 1", 0), 0U);
  refuses(2, "manual multiply", "'multiply' is no command");
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run(std::string("completion ") + shell);
    EXPECT_EQ(outcome.code, 0);
    for (const char* part : {"gemm", "solve", "contract", "forward-error"})
      EXPECT_NE(outcome.out.find(part), std::string::npos) << shell << part;
  }
  refuses(2, "completion csh", "csh");
}

TEST_F(Program, BashCompletesCommandsAndTheirOptions) {
  const std::string source = "eval \"$('" VERNIER_CLI "' completion bash)\"; compopt() { :; }; ";
  const auto completed = [&](const std::string& words, int count) {
    folder.write("ask", source + "COMP_WORDS=(vernier " + words + "); COMP_CWORD=" + std::to_string(count) +
                            "; _vernier; echo \"${COMPREPLY[@]}\"\n");
    EXPECT_EQ(std::system(("bash '" + folder / "ask" + "' > '" + folder / "answer" + "'").c_str()), 0);
    return contents(folder / "answer");
  };
  EXPECT_EQ(completed("so", 1), "solve\n");
  EXPECT_EQ(completed("solve --forw", 2), "--forward-error\n");
  EXPECT_EQ(completed("bench gemm --bas", 3), "--baseline\n");
}

TEST_F(Program, RefusesWrongUsageWith2) {
  refuses(2, "bench", "a command is expected");
  refuses(2, "multiply", "'multiply' is no command: expected info, explain");
  refuses(2, "--fast", "--fast");
  refuses(2, "gemm A.npy", "B is required");
  refuses(2, "gemm A.npy B.npy --frobnicate", "--frobnicate");
  refuses(2, "gemm A.npy B.npy --contract fp65", "fp65");
  refuses(2, "gemm A.npy B.npy --transa X", "none of N, T and C");
  refuses(2, "gemm A.npy B.npy --threads -1", "--threads");
  refuses(2, "gemm A.npy B.npy --workspace-limit 12Q", "--workspace-limit");
  refuses(2, "gemm A.npy B.npy -o C.txt", "must end in .npy or .mtx");
  refuses(2, "gemm A.npy B.npy -o ''", "'' is no name of a file");
  refuses(2, "gemm A.npy B.npy --beta 2", "--c-in");
  refuses(2, "gemm A.npy B.npy --c-in C.mtx", "--beta");
  refuses(2, "gemm A.npy B.npy -o - --json", "stdout");
  refuses(2, "gemm A.npy B.npy --engine abacus", "abacus");
  refuses(2, "explain -m 1 -n 1 -k -1", "'-1' is no whole number from 0 on");
  refuses(2, "explain -m 1 -n 1 -k 1 --type half", "half");
  refuses(2, "bench gemm --n 0", "'0' is no whole number from 1 on");
  refuses(2, "bench gemm --device tpu", "tpu");
  refuses(2, "bench gemm --shape 3x4", "'3x4' is no shape");
  refuses(2, "bench gemm --n 8 --repeats 3 --seconds 1", "--seconds");
  for (const char* seconds : {"0", "-1", "nan", "inf"})
    refuses(2, std::string("bench gemm --n 8 --seconds ") + seconds, "is no finite number above 0");
  refuses(2, "gemm A.npy B.npy --alpha 1x", "--alpha: '1x' is no number");
  for (const char* option :
       {"explain -m 1 -n 1 -k 1 --workspace-limit ", "bench gemm --n 8 --seed ", "reproduce --list --seed "})
    for (const char* value : {"-1", "x"})
      refuses(2, std::string(option) + value, std::string("'") + value + "' is no whole number from 0 on");
}

TEST_F(Program, RefusesNumbersThatDoNotFit) {
  const std::string integer = "99999999999999999999", real = "1e400";
  for (const std::string command : {"explain -n 1 -k 1 -m ", "explain -m 1 -n 1 -k 1 --workspace-limit ",
                                    "explain -m 1 -n 1 -k 1 --threads ", "bench gemm --n ", "bench gemm --n 8 --seed "})
    refuses(2, command + integer, integer + "' is more than 64 bits hold");
  refuses(2, "explain -m 1 -n 1 -k 1 --workspace-limit " + integer + "K", "is more than 64 bits hold");
  for (const std::string command : {"gemm A.npy B.npy --alpha ", "gemm A.npy B.npy --c-in C.mtx --beta "})
    refuses(2, command + real, real + "' is more than a double holds");
  refuses(2, "gemm A.npy B.npy --alpha ''", "--alpha: '' is no number");
  EXPECT_EQ(run("gemm A.npy B.npy --alpha inf").code, 0);
  EXPECT_EQ(run("gemm A.npy B.npy --alpha 1e-320").code, 0);
  EXPECT_EQ(run("explain -m 1 -n 1 -k 1 --workspace-limit 18446744073709551615").code, 0);
}

TEST_F(Program, EveryCommandTakesQuiet) {
  for (const char* command : {"info", "explain -m 1 -n 1 -k 1", "gemm A.npy B.npy", "bench gemm --n 8 --repeats 1",
                              "probe --list", "reproduce --list", "solve F.npy F.npy"})
    for (const char* flag : {" --quiet ", " -q "}) {
      const std::string arguments = command;
      const std::string name = arguments.substr(0, arguments.starts_with("bench") ? 10 : arguments.find(' '));
      const Outcome outcome = run(name + flag + arguments.substr(name.size()));
      EXPECT_EQ(outcome.code, 0) << arguments << flag << outcome.err;
      EXPECT_EQ(outcome.err, "") << arguments << flag;
    }
  refuses(2, "run -q", "program is required");
}

TEST_F(Program, BenchRefusesBeforeItPrints) {
  refuses(2, "bench gemm --n 8,16 --engine bogus", "bogus");
  refuses(1, "bench gemm --n 8 --shape 2x3x1099511627777", "2 x 1099511627777 entries");
  refuses(1, "bench gemm --n 8,10000000", "10000000 x 10000000 entries");
  refuses(1, "bench gemm --n 8 --contract fp64+reproducible --workspace-limit 10", "too few");
}

TEST_F(Program, InfoTellsTheEngines) {
  const Outcome text = run("info");
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  const Json json = Json::parse(run("info --json").out);
  EXPECT_EQ(json["version"], vernier::version());
  EXPECT_EQ(json["cuda"], cuda_compiled());
  for (const auto& [key, list] : {std::pair{"engines", engines()}, {"part_engines", part_engines()}}) {
    ASSERT_EQ(json[key].size(), list.size());
    for (std::size_t e = 0; e < list.size(); ++e) {
      EXPECT_EQ(json[key][e]["name"], list[e].name);
      EXPECT_EQ(json[key][e]["supported"], list[e].supported);
      EXPECT_EQ(json[key][e]["missing"], list[e].missing);
      EXPECT_NE(text.out.find("  " + list[e].name + " "), std::string::npos) << text.out;
    }
  }
  const Json forced = Json::parse(run("--json info", "VERNIER_ENGINE=portable").out);
  EXPECT_EQ(forced["default_engine"], "portable");
  EXPECT_EQ(forced["environment"]["VERNIER_ENGINE"], "portable");
}

TEST_F(Program, InfoMeasuresRatesThatExplainThenNames) {
  const std::string here = "OMP_NUM_THREADS=1 VERNIER_RATES=rates.json";
  const std::string plan = "explain -m 500 -n 500 -k 500";
  EXPECT_NE(run(plan, here).out.find("tabled rates"), std::string::npos);
  const Outcome measured = run("info --measure --json", here);
  ASSERT_EQ(measured.code, 0) << measured.err;
  EXPECT_NE(measured.err.find("rates.json"), std::string::npos);
  EXPECT_EQ(Json::parse(measured.out)["estimates"].get<std::string>().rfind("rates measured here on 20", 0), 0U);
  EXPECT_NE(run(plan, here).out.find("rates measured here on 20"), std::string::npos);
  EXPECT_NE(run(plan, "OMP_NUM_THREADS=1 VERNIER_RATES=none").out.find("tabled rates"), std::string::npos);
  const Outcome nowhere = run("info --measure", "VERNIER_RATES=none");
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.out, "");
  EXPECT_NE(nowhere.err.find("VERNIER_RATES"), std::string::npos) << nowhere.err;
}

// As a container's bind mount makes them of a missing file.
TEST_F(Program, AFolderInPlaceOfTheRatesIsNone) {
  std::filesystem::create_directories(folder / "cache/vernier/rates.json");
  const Outcome outcome = run("run -q -- echo started", "env -u VERNIER_RATES XDG_CACHE_HOME=cache");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "started\n");
}

TEST_F(Program, InfoFailsWhereTheEnvironmentNamesNoEngine) {
  const Outcome outcome = run("info --json", "VERNIER_ENGINE=abacus");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Json::parse(outcome.out)["default_engine"].is_null());
  EXPECT_NE(outcome.err.find("abacus"), std::string::npos);
}

TEST_F(Program, ExplainPrintsThePlan) {
  const std::string sizes = "explain -m 300 -n 200 -k 100 --contract 'bits(40)' --engine portable --transa t";
  const Outcome text = run(sizes);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("portable"), std::string::npos) << text.out;
  const Json plan = Json::parse(run(sizes + " --json").out);
  EXPECT_EQ(plan["m"], 300);
  EXPECT_EQ(plan["n"], 200);
  EXPECT_EQ(plan["k"], 100);
}

TEST_F(Program, FailsWhereStdoutTakesNoMore) {
  for (const char* arguments : {"info > /dev/full; exit $?", "gemm A.npy B.npy -o - > /dev/full; exit $?"}) {
    const std::string command = "cd '" + folder / "" + "' && '" VERNIER_CLI "' " + std::string(arguments);
    const int status = std::system(("(" + command + ") 2> '" + logs / "err" + "'").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << arguments;
    EXPECT_NE(contents(logs / "err").find("stdout: writing failed"), std::string::npos) << contents(logs / "err");
  }
}

TEST_F(Program, PlainTextWhereThereIsNoTerminal) {
  for (const char* arguments : {"info", "gemm A.npy B.npy", "gemm A.npy A.npy", "bench gemm --n 16 --repeats 1"}) {
    const Outcome outcome = run(arguments, "TERM=xterm");
    EXPECT_EQ((outcome.out + outcome.err).find('\033'), std::string::npos) << arguments;
  }
}

TEST_F(Program, SaysWhyNoGpuIsTaken) {
  const HostLink link = host_link();
  const Outcome plan = run("explain -m 500 -n 500 -k 500 --device auto");
  EXPECT_EQ(plan.err, link.devices == 0 ? "warning: --device auto: " + link.missing + "\n" : "");
  const std::string warning = "warning: --device auto: this build has no CUDA part";
  EXPECT_EQ(run("run --device auto -- true").err.starts_with(warning), !cuda_compiled());
  EXPECT_EQ(run("run -- true", "VERNIER_DEVICE=auto").err.starts_with(warning), !cuda_compiled());
  EXPECT_FALSE(run("run --device cpu -- true").err.starts_with(warning));
}

TEST_F(Program, BenchPrintsOneObjectALine) {
  const Outcome outcome =
      run("bench gemm --n 16,32 --shape 20x30x40 --repeats 2 --samples 50 --json --transa T --phi 1 --seed 5");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::istringstream lines(outcome.out);
  std::vector<Json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  ASSERT_EQ(rows.size(), 3u);
  for (const Json& row : rows) {
    for (const char* key : {"routine",
                            "type",
                            "contract",
                            "scheme",
                            "engine",
                            "m",
                            "n",
                            "k",
                            "moduli",
                            "seconds",
                            "gflops",
                            "error_mean",
                            "error_max",
                            "baseline",
                            "baseline_seconds",
                            "baseline_gflops",
                            "baseline_error_mean",
                            "baseline_error_max",
                            "ratio",
                            "ratio_min",
                            "ratio_max",
                            "phi",
                            "seed",
                            "repeats",
                            "threads",
                            "cpu",
                            "blas"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
    EXPECT_EQ(row["repeats"], 2);
    EXPECT_DOUBLE_EQ(row["ratio"], row["baseline_seconds"].get<double>() / row["seconds"].get<double>());
    EXPECT_LE(row["error_mean"], row["error_max"]);
    EXPECT_LT(row["error_max"], (row["k"].get<double>() + 2) * 0x1p-53);
    EXPECT_LT(row["baseline_error_max"], (row["k"].get<double>() + 2) * 0x1p-53);
  }
  EXPECT_EQ(rows[1]["k"], 32);
  EXPECT_EQ(rows[2]["m"], 20);
  EXPECT_EQ(rows[2]["n"], 30);
  EXPECT_EQ(rows[2]["k"], 40);
}

TEST_F(Program, BenchWithoutABaselineHasNoRatio) {
  const Json row = Json::parse(
      run("bench gemm --n 20 --type float --baseline none --repeats 1 --engine portable --threads 1 --json").out);
  EXPECT_EQ(row["baseline"], "none");
  EXPECT_FALSE(row.contains("ratio"));
  EXPECT_EQ(row["type"], "float");
  EXPECT_EQ(row["contract"], "fp32");
  EXPECT_EQ(row["engine"], "portable");
  EXPECT_EQ(row["threads"], 1);
}

TEST_F(Program, BenchMultipliesComplexMatrices) {
  for (const auto& [type, contract, u] :
       {std::tuple{"complex_double", "fp64", 0x1p-53}, std::tuple{"complex_float", "fp32", 0x1p-24}}) {
    for (const char* options : {"", " --transa C --transb T", " --transb C --engine portable"}) {
      const Json row = Json::parse(
          run(std::string("bench gemm --shape 20x30x40 --repeats 2 --samples 600 --json --type ") + type + options)
              .out);
      EXPECT_EQ(row["type"], type);
      EXPECT_EQ(row["contract"], contract);
      EXPECT_EQ(row["samples"], 2 * 600);
      EXPECT_NEAR(row["gflops"].get<double>() * row["seconds"].get<double>(), 8e-9 * 20 * 30 * 40, 1e-9);
      EXPECT_GT(row["error_max"], 0);
      EXPECT_LT(row["error_max"], (2 * 40 + 2) * u) << options;
      EXPECT_GT(row["baseline_error_max"], 0);
      EXPECT_LT(row["baseline_error_max"], (2 * 40 + 2) * u) << options;
    }
  }
}

TEST_F(Program, ExplainNamesComplexTypes) {
  const Json plan = Json::parse(run("explain -m 64 -n 48 -k 32 --type complex_float --json").out);
  EXPECT_EQ(plan["type"], "complex float");
  EXPECT_EQ(plan["m"], 64);
  EXPECT_EQ(plan["contract"], "fp32");
  refuses(2, "bench gemm --type complex", "complex_double");
}

TEST_F(Program, BenchOnAGpuNamesItOrSaysWhyNot) {
  const Outcome outcome = run("bench gemm --device cuda --n 32 --repeats 2 --samples 50 --json");
  std::string gpu;
  try {
    gpu = cuda::device_name();
  } catch (const vernier::Error& error) {
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(error.what()), std::string::npos) << outcome.err;
    return;
  }
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json row = Json::parse(outcome.out);
  EXPECT_EQ(row["device"], gpu);
  EXPECT_LT(row["error_max"], 34 * 0x1p-53);
  EXPECT_LT(row["baseline_error_max"], 34 * 0x1p-53);
}

TEST_F(Program, BenchErrorsFollowTheSeedAlone) {
  const std::string bench = "bench gemm --n 24 --repeats 1 --json --contract fp64+reproducible --baseline none --seed ";
  const Json first = Json::parse(run(bench + "3").out), again = Json::parse(run(bench + "3 --threads 2").out);
  const Json other = Json::parse(run(bench + "4").out);
  EXPECT_EQ(first["error_mean"], again["error_mean"]);
  EXPECT_NE(first["error_mean"], other["error_mean"]);
}

TEST_F(Program, BenchTableHasARowForEverySize) {
  const Outcome outcome = run("bench gemm --n 16,48 --repeats 1");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"GFLOP/s", "ratio", "\n    16     16     16", "\n    48     48     48"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

}  // namespace
}  // namespace vernier::cli::program_test
