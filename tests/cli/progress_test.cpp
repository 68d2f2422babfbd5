// The bar of long work, on a terminal: the program runs on a pseudo-terminal of its own.
#include <pty.h>
#include <unistd.h>

#include <regex>
#include <set>
#include <sstream>

#include "program.hpp"

namespace vernier::cli::progress_test {
namespace {

using namespace vernier::cli::testing;

struct Screen {
  int code = -1;
  std::string text;  // all that was written to the terminal
};

// The program's stdout and stderr are the terminal. A bar is for work of more than a second, and the clock is one by
// which any work takes as long.
Screen run_on_terminal(const std::string& folder, const std::string& arguments) {
  std::istringstream text(arguments);
  std::vector<std::string> words{VERNIER_CLI};
  for (std::string word; text >> word;) words.push_back(word);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) throw std::runtime_error("no pseudo-terminal");
  if (child == 0) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    setenv("TERM", "xterm", 1);
    setenv("LD_PRELOAD", VERNIER_HURRIED_CLOCK, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);  // the clock comes before it, which does no harm
    unsetenv("VERNIER_ENGINE");
    if (chdir(folder.c_str()) == 0) execv(VERNIER_CLI, argv.data());
    _exit(127);
  }
  Screen screen;
  char bytes[4096];
  for (ssize_t count; (count = read(terminal, bytes, sizeof bytes)) > 0;)  // an error once the program has ended
    screen.text.append(bytes, static_cast<std::size_t>(count));
  int status = 0;
  if (waitpid(child, &status, 0) == child && WIFEXITED(status)) screen.code = WEXITSTATUS(status);
  close(terminal);
  return screen;
}

class ProgramProgress : public Program {
 protected:
  Screen long_product(const std::string& more = "") const {
    std::vector<double> x(200 * 200);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 89);
    folder.write("X.npy", npy(dictionary("<f8", "(200, 200)"), raw<double>(x)));
    return run_on_terminal(folder / "", "gemm X.npy X.npy --engine portable --threads 1" + more);
  }
};

TEST_F(ProgramProgress, ABarMovesOnATerminalAndIsClearedAtTheEnd) {
  const Screen screen = long_product();
  ASSERT_EQ(screen.code, 0) << screen.text;
  const std::regex bar(R"(\rgemm \[#* *\] +(\d+) %)");
  std::set<int> between;
  for (auto it = std::sregex_iterator(screen.text.begin(), screen.text.end(), bar); it != std::sregex_iterator(); ++it)
    if (const int percent = std::stoi((*it)[1]); percent > 0 && percent < 100) between.insert(percent);
  EXPECT_GE(between.size(), 2u) << screen.text;
  const std::size_t last = screen.text.rfind(" s left"), cleared = screen.text.rfind("\r\033[K");
  ASSERT_NE(last, std::string::npos);
  ASSERT_NE(cleared, std::string::npos);
  EXPECT_GT(cleared, last);
}

TEST_F(ProgramProgress, QuietShowsNone) {
  const Screen screen = long_product(" --quiet");
  EXPECT_EQ(screen.code, 0);
  EXPECT_EQ(screen.text, "");
}

}  // namespace
}  // namespace vernier::cli::progress_test
