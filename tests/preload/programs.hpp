// Runs programs under a preload, and reads what they and the preload say.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace vernier::test {

using Json = nlohmann::json;

struct Outcome {
  int code = -1;
  std::string text;  // stdout and stderr
  Json report;       // of the program's process; null if it made none
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

class Programs : public testing::Test {
 protected:
  Programs() : folder_(std::filesystem::temp_directory_path() / ("vernier-preload-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Programs() override { std::filesystem::remove_all(folder_); }

  Outcome shell(const std::string& command) {
    const auto out = folder_ / "out";
    const int status = std::system((command + " > '" + out.string() + "' 2>&1 < /dev/null").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), nullptr};
  }

  // command under the preload, with settings of the environment as the shell has them.
  Outcome run_under(const std::string& preload, const std::string& settings, const std::string& command) {
    const auto report = folder_ / "report";
    std::filesystem::remove(report);
    Outcome outcome =
        shell("env LD_PRELOAD='" + preload + "' VERNIER_REPORT='" + report.string() + "' " + settings + " " + command);
    const std::string line = contents(report);
    if (!line.empty()) outcome.report = Json::parse(line);
    return outcome;
  }

  std::filesystem::path folder_;
};

}  // namespace vernier::test
