// The built program from outside: exit codes, what goes to stdout and stderr, and what becomes of files.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "files.hpp"

namespace vernier::cli::testing {

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Program : public ::testing::Test {
 protected:
  // `arguments` as in a shell, in the temporary folder.
  Outcome run(const std::string& arguments, const std::string& environment = "") const {
    const std::string command = "cd '" + folder / "" + "' && env -u VERNIER_ENGINE " + environment +
                                " '" VERNIER_CLI "' " + arguments + " > '" + logs / "out" + "' 2> '" + logs / "err" +
                                "' < /dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(logs / "out"), contents(logs / "err")};
  }

  // Fails with this code and message, and leaves stdout empty.
  void refuses(int code, const std::string& arguments, const std::string& message) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_NE(outcome.err.find("vernier: error: "), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << arguments << "\n" << outcome.err;
  }

  void SetUp() override {
    folder.write("A.npy", small_npy());  // 1 2 3 / 4 5 6
    folder.write("B.npy", npy(dictionary(">f8", "(3, 2)", true), raw<double>({1, 0, 2, 0, 1, -1}, true),
                              2));  // 1 0 / 0 1 / 2 -1
    folder.write("F.npy", npy(dictionary("<f4", "(2, 2)"), raw<float>({1, 2, 3, 4})));
    folder.write("I.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n");
    folder.write("C.mtx", "%%MatrixMarket matrix array real general\n2 2\n10\n20\n30\n40\n");
  }

  TemporaryFolder folder, logs;
};

}  // namespace vernier::cli::testing
