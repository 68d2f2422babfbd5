// vernier solve from outside.
#include <limits>
#include <nlohmann/json.hpp>
#include <vernier/cuda.hpp>

#include "matrix_file.hpp"
#include "program.hpp"
#include "quad_matrix.hpp"

namespace vernier::cli::program_solve_test {
namespace {

using namespace vernier::cli::testing;
using Json = nlohmann::json;

class ProgramSolve : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    // 2 1 / 1 3 times (1, 2), and times (3, -1)
    folder.write("S.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({2, 1, 1, 3})));
    folder.write("U.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({2, 1, 0, 4})));  // 2 1 / 0 4
    folder.write("b.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({4, 5, 7, 0})));
  }

  std::vector<double> solution(const std::string& name) const {
    const Matrix x = read_matrix(folder / name, Vectors::columns);
    std::vector<double> out;
    for (std::int64_t j = 0; j < x.columns; ++j)
      for (std::int64_t i = 0; i < x.rows; ++i) out.push_back(x.at(i, j));
    return out;
  }
  void near(const std::vector<double>& x, const std::vector<double>& expected, double error) const {
    ASSERT_EQ(x.size(), expected.size());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], error);
  }
};

TEST_F(ProgramSolve, SolvesFilesWithEveryPrecision) {
  for (const char* factor : {"auto", "bf16", "fp16", "fp32", "fp64"}) {
    for (const char* out : {"X.npy", "X.mtx"}) {
      const Outcome outcome = run(std::string("solve S.npy b.npy --factor ") + factor + " -o " + out);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.err, "");
      EXPECT_NE(outcome.out.find("verdict    ok: 2 of 2 columns"), std::string::npos) << outcome.out;
      near(solution(out), {1, 2, 3, -1}, 1e-14);
    }
  }
}

TEST_F(ProgramSolve, SolvesOnAGpuOrSaysThatThereIsNone) {
  for (const char* factor : {"auto", "bf16", "fp16", "fp32", "fp64"}) {
    const Outcome outcome = run(std::string("solve S.npy b.npy --json --device cuda -o X.npy --factor ") + factor);
    if (outcome.code == 0) {
      const Json json = Json::parse(outcome.out);
      EXPECT_EQ(json["verdict"], "ok");
      EXPECT_EQ(json["device"], cuda::device_name());
      if (factor != std::string("auto")) {
        EXPECT_EQ(json["factors"], factor);
      }
      near(solution("X.npy"), {1, 2, 3, -1}, 1e-14);
    } else {
      EXPECT_EQ(outcome.code, 1);
      const bool told = outcome.err.find("CUDA") != std::string::npos ||
                        outcome.err.find("compute capability") != std::string::npos;  // of a GPU that is too old
      EXPECT_TRUE(told) << outcome.err;
      EXPECT_FALSE(std::filesystem::exists(folder / "X.npy"));
    }
  }
}

// A system that the GPU's memory does not hold is solved in pieces.
TEST_F(ProgramSolve, SolvesBeyondTheMemoryOfAGpu) {
  const Outcome outcome = run("solve S.npy b.npy --json --device cuda -o X.npy", "VERNIER_GPU_MEMORY=64");
  EXPECT_EQ(std::filesystem::exists(folder / "X.npy"), outcome.code == 0) << outcome.err;
  if (outcome.code == 0) near(solution("X.npy"), {1, 2, 3, -1}, 1e-14);
}

TEST_F(ProgramSolve, WritesQuadsAsNumPyDoes) {
  for (const char* type : {"dd", "longdouble", "quaddtype"}) {
    const Outcome outcome = run(std::string("solve S.npy b.npy --precision quad -o X.npy --type ") + type);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_quad_matrix(folder / "X.npy", Vectors::columns).entries,
              (std::vector<dd>{dd(1), dd(2), dd(3), dd(-1)}))
        << type;
  }
  EXPECT_EQ(run("solve S.npy b.npy --type quaddtype -o X.npy").code, 2);
  EXPECT_EQ(run("solve S.npy b.npy --precision quad --type float -o X.npy").code, 2);
  EXPECT_EQ(run("gemm S.npy S.npy --type longdouble -o X.npy").code, 0);
  EXPECT_EQ(read_quad_matrix(folder / "X.npy", Vectors::columns).entries[0], dd(5));
}

TEST_F(ProgramSolve, ProvesTheErrorOfAQuadSolution) {
  const Outcome outcome = run("solve S.npy b.npy --precision quad --verified --json -o X.npy");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_TRUE(json["verified"].get<bool>());
  EXPECT_LE(json["forward_error"].get<double>(), 0x1p-100);
  const std::vector<double> fibonacci = {8944394323791464, 5527939700884757, 5527939700884757, 3416454622906707};
  folder.write("F.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>(fibonacci)));  // determinant -1, condition 1e32
  folder.write("ones.npy", npy(dictionary("<f8", "(2, 1)"), raw<double>(std::vector<double>(2, 1))));
  EXPECT_EQ(run("solve F.npy ones.npy --precision quad -o X.npy").code, 0);
  refuses(1, "solve F.npy ones.npy --precision quad --verified -o Y.npy", "not verified");
  EXPECT_FALSE(std::filesystem::exists(folder / "Y.npy"));
}

TEST_F(ProgramSolve, SolvesInQuadOnAGpuOrSaysThatThereIsNone) {
  const Outcome outcome = run("solve S.npy b.npy --precision quad --device cuda -o X.npy");
  EXPECT_EQ(std::filesystem::exists(folder / "X.npy"), outcome.code == 0) << outcome.err;
  if (outcome.code != 0) {
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("CUDA"), std::string::npos) << outcome.err;
  }
}

TEST_F(ProgramSolve, TransposesAndOrdersOfStorage) {
  folder.write("U_columns.npy", npy(dictionary("<f8", "(2, 2)", true), raw<double>({2, 0, 1, 4})));
  folder.write("c.npy", npy(dictionary("<f8", "(2, 1)"), raw<double>({2, 9})));  // U^T (1, 2)
  for (const char* a : {"U.npy", "U_columns.npy"}) {
    EXPECT_EQ(run(std::string("solve --op T -q -o X.npy c.npy ").insert(6, std::string(a) + " ")).code, 0);
    near(solution("X.npy"), {1, 2}, 1e-14);
  }
}

TEST_F(ProgramSolve, AVectorIsOneColumnAndGivesAVector) {
  folder.write("v.npy", npy(dictionary("<f8", "(2,)"), raw<double>({4, 7})));
  EXPECT_EQ(run("solve S.npy v.npy -o X.npy").code, 0);
  near(solution("X.npy"), {1, 2}, 1e-14);
  EXPECT_TRUE(read_npy(folder / "X.npy", Vectors::columns).vector);
  const std::string program = "cd '" + folder / "" + "' && '" VERNIER_CLI "' solve S.npy - -q -o - ";
  EXPECT_EQ(std::system((program + "< v.npy > Z.npy").c_str()), 0);
  EXPECT_EQ(contents(folder / "Z.npy"), contents(folder / "X.npy"));
  refuses(1, "solve v.npy v.npy -o Y.npy", "v.npy: is a vector of 2 entries");
}

TEST_F(ProgramSolve, FloatsStayFloats) {
  folder.write("Fb.npy", npy(dictionary("<f4", "(2, 1)"), raw<float>({5, 11})));  // F (1, 2)
  EXPECT_EQ(run("solve F.npy Fb.npy -o X.npy").code, 0);
  EXPECT_FALSE(read_matrix(folder / "X.npy").is_double());
  near(solution("X.npy"), {1, 2}, 1e-5);
}

TEST_F(ProgramSolve, JsonHoldsTheCertificate) {
  const Outcome outcome = run("solve S.npy b.npy --json -q --condition --componentwise --forward-error");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["verdict"], "ok");
  EXPECT_EQ(json["columns"].size(), 2u);
  EXPECT_LE(json["backward_error"].get<double>(), json["tolerance"].get<double>());
  EXPECT_GE(json["columns"][1]["componentwise_error"].get<double>(), 0);
  EXPECT_LE(json["columns"][1]["forward_error"].get<double>(), 1e-13);
  EXPECT_NEAR(json["condition"].get<double>(), 4 * 0.8, 1e-10);
  EXPECT_TRUE(json["output"].is_null());
}

// [1 1; 1 1 + 2^-52] has the condition 2^54.
TEST_F(ProgramSolve, AMatrixThatIsSingularToWorkingPrecisionIsWarnedOf) {
  folder.write("nearly.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({1, 1, 1, std::nextafter(1, 2)})));
  folder.write("ones.npy", npy(dictionary("<f8", "(2,)"), raw<double>({1, 2})));
  const Outcome outcome = run("solve nearly.npy ones.npy -o X.npy");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning:"), std::string::npos);
  EXPECT_NE(outcome.err.find("singular to working precision"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out.find("ok"), std::string::npos) << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "X.npy"));
}

TEST_F(ProgramSolve, WhatCannotBeSolvedGetsAMessageAndNoFile) {
  folder.write("zero.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({1, 2, 2, 4})));
  folder.write("nan.npy", npy(dictionary("<f8", "(2, 2)"), raw<double>({1, 2, std::nan(""), 4})));
  folder.write("inf.npy", npy(dictionary("<f8", "(2, 1)"), raw<double>({1, std::numeric_limits<double>::infinity()})));
  refuses(1, "solve zero.npy b.npy -o X.npy", "zero.npy: is singular: U(2, 2) of its LU factors is exactly zero");
  refuses(1, "solve A.npy b.npy -o X.npy", "A.npy: is 2 x 3, not square");
  refuses(1, "solve I.mtx b.npy -o X.npy", "b.npy: has 2 rows, and A has 3 (I.mtx)");
  refuses(1, "solve nan.npy b.npy -o X.npy", "nan.npy: 1 NaN and 0 infinite entries of 4");
  refuses(1, "solve S.npy inf.npy -o X.npy", "inf.npy: 0 NaN and 1 infinite entries of 2");
  refuses(1, "solve S.npy b.npy -o X.npy --tolerance 1e-32", "above the tolerance 1.00e-32: nothing was written");
  refuses(1, "solve S.npy missing.npy -o X.npy", "missing.npy");
  refuses(2, "solve S.npy b.npy -o X.txt", "must end in .npy or .mtx");
  refuses(2, "solve S.npy b.npy -o X.npy --factor fp8", "fp8");
  refuses(2, "solve S.npy b.npy -o X.npy --engine abacus", "abacus");
  refuses(2, "solve S.npy b.npy -o X.npy --contract fp65", "fp65");
  refuses(2, "solve S.npy b.npy -o X.npy --device tpu", "tpu");
  EXPECT_FALSE(std::filesystem::exists(folder / "X.npy"));
}

}  // namespace
}  // namespace vernier::cli::program_solve_test
