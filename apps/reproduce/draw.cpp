// Figures by matplotlib, in a process of its own.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/program_folder.hpp"
#include "reproduce/run.hpp"

extern char** environ;

namespace vernier::reproduce {
namespace {

namespace fs = std::filesystem;

// In a build or as installed.
fs::path find_script() {
  return (cli::program_folder() / VERNIER_DATADIR_FROM_BIN / "vernier" / "draw_figures.py").lexically_normal();
}

// The exit code of a command, 127 where it cannot be started; its stdout and, if asked, its stderr go nowhere.
int execute(const std::vector<std::string>& words, bool silent) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
  if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// VERNIER_PYTHON, else the first that has matplotlib of python3 on the PATH and that of the system.
std::string find_python() {
  std::vector<std::string> candidates = {"python3", "/usr/bin/python3"};
  if (const char* chosen = std::getenv("VERNIER_PYTHON")) candidates = {chosen};
  for (const std::string& python : candidates)
    if (execute({python, "-c", "import matplotlib"}, true) == 0) return python;
  return "";
}

bool drawn(const Json& record, const fs::path& folder) {
  for (const std::string& name : figure_names(record))
    for (const char* extension : {".svg", ".png"})
      if (!fs::exists(folder / (name + extension))) return false;
  return record.at("reused").get<bool>();
}

}  // namespace

std::vector<std::string> figure_names(const Json& record) {
  std::vector<std::string> names;
  if (!record.contains("result")) return names;
  const std::size_t count = record["result"]["panels"].size();
  for (std::size_t i = 1; i <= count; ++i)
    names.push_back(record["name"].get<std::string>() + (count > 1 ? fmt::format("-{}", i) : ""));
  return names;
}

std::string draw(const Json& records, const std::string& out) {
  const fs::path folder = fs::path(out) / "figures";
  std::vector<std::string> files;
  for (const Json& record : records)
    if (!figure_names(record).empty() && !drawn(record, folder))
      files.push_back(fs::path(out) / "data" / (record["name"].get<std::string>() + ".json"));
  if (files.empty()) return "";
  const std::string python = find_python();
  if (python.empty())
    return "figures were not drawn: no python3 with matplotlib (package python3-matplotlib; VERNIER_PYTHON names "
           "another)";
  const fs::path script = find_script();
  if (!fs::exists(script)) return fmt::format("figures were not drawn: {} is not there", script.string());
  std::vector<std::string> command = {python, script, folder};
  command.insert(command.end(), files.begin(), files.end());
  const int code = execute(command, false);
  return code == 0 ? "" : fmt::format("figures were not drawn: {} ended with exit code {}", script.string(), code);
}

}  // namespace vernier::reproduce
