// vernier run: a program under libvernier_blas and libvernier_cublas, and what became of its calls.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "command.hpp"
#include "temporary_name.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cli {
namespace {

constexpr const char* library_names[] = {"libvernier_blas.so", "libvernier_cublas.so"};
constexpr int exit_cannot_run = 126, exit_not_found = 127, exit_by_signal = 128;  // as a shell has it

struct RunOptions {
  std::string contract, engine, cuda_engine, min_size, report, blas;
  int verbose = 0;
  std::vector<std::string> program;
};

// Beside this program, in a build or as installed.
std::string find_library(const char* name) {
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* folder : {VERNIER_LIBDIR_FROM_BIN, "../lib"}) {
    const std::filesystem::path candidate = (bin / folder / name).lexically_normal();
    if (std::filesystem::exists(candidate)) return candidate;
  }
  throw std::runtime_error(fmt::format("{} is not beside this program in {}", name, bin.string()));
}

std::string preloads() {
  std::string list;
  for (const char* name : library_names) list += (list.empty() ? "" : ":") + find_library(name);
  return list;
}

// Each set only where an option asks; what the environment has stays otherwise.
void set(const char* name, const std::string& value) {
  if (!value.empty()) setenv(name, value.c_str(), 1);
}

std::string asked_or_set(const std::string& option, const char* variable) {
  const char* value = std::getenv(variable);
  return !option.empty() ? option : value != nullptr ? value : "";
}

void check_cuda_engine(const std::string& name) {
  if (name.empty() || name == "native") return;
  std::string names = "native";
  for (const EngineInfo& engine : cuda::engines()) {
    names += ", " + engine.name;
    if (engine.name != name) continue;
    if (engine.supported) return;
    throw Error(Status::unsupported, fmt::format("GPU engine \"{}\" does not run here: {}", name, engine.missing));
  }
  throw Error(Status::invalid_argument, fmt::format("GPU engine \"{}\": expected one of {}", name, names));
}

// A wrong value is told now, not by the program's first product.
void check(const RunOptions& options) {
  Options asked;
  if (const std::string contract = asked_or_set(options.contract, "VERNIER_CONTRACT"); !contract.empty())
    asked.contract = Contract::parse(contract);
  bool for_floats = false;
  for (const EngineInfo& engine : part_engines()) for_floats = for_floats || options.engine == engine.name;
  asked.engine = for_floats ? "portable" : options.engine;
  if (options.engine != "native") explain<double>(Op::none, Op::none, 1, 1, 1, asked);
  if (for_floats) explain<float>(Op::none, Op::none, 1, 1, 1, {.contract = Contract::fp32(), .engine = options.engine});
  check_cuda_engine(asked_or_set(options.cuda_engine, "VERNIER_CUDA_ENGINE"));
}

class TemporaryReport {
 public:
  TemporaryReport() {
    const int file = mkstemp(path_.data());
    if (file < 0) throw std::runtime_error(fmt::format("{}: {}", path_, std::strerror(errno)));
    close(file);
  }
  ~TemporaryReport() { unlink(path_.c_str()); }
  TemporaryReport(const TemporaryReport&) = delete;
  TemporaryReport& operator=(const TemporaryReport&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = temporary_name(std::filesystem::temp_directory_path() / "vernier-run");
};

// What exec says where there is no such program: over a pipe that a program which starts closes.
class ExecFailure {
 public:
  ExecFailure() {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  }
  ~ExecFailure() {
    for (const int end : ends_)
      if (end >= 0) close(end);
  }
  ExecFailure(const ExecFailure&) = delete;
  ExecFailure& operator=(const ExecFailure&) = delete;

  void tell(int why) const {
    if (write(ends_[1], &why, sizeof why) != sizeof why) _exit(exit_cannot_run);
  }
  int wait() {  // 0: the program has started
    close(std::exchange(ends_[1], -1));
    int why = 0;
    while (read(ends_[0], &why, sizeof why) < 0 && errno == EINTR) {
    }
    return why;
  }

 private:
  int ends_[2] = {-1, -1};
};

[[noreturn]] void become(const RunOptions& options, const std::string& preload, const ExecFailure& failure) {
  set("LD_PRELOAD", preload);
  std::vector<char*> arguments;
  for (const std::string& argument : options.program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  failure.tell(errno);
  _exit(exit_cannot_run);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(fmt::format("waitpid: {}", std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_by_signal + WTERMSIG(status);
}

std::string passed_text(const Json& passed) {
  std::string text;
  for (const auto& [reason, count] : passed.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<std::uint64_t>(), reason);
  return text.empty() ? "none" : text;
}

void show(const Json& json, const Console& console) {
  const bool gpu = json["library"] == "vernier_cublas";
  console.note(fmt::format("vernier run: {} of {} (process {})", gpu ? "cuBLAS" : "BLAS",
                           json["program"].get<std::string>(), json["pid"].get<int>()));
  console.note(fmt::format(
      "  taken      {} calls, {:.3f} s{}", json["taken"].get<std::uint64_t>(), json["seconds"].get<double>(),
      json["engine"].get<std::string>().empty() ? "" : fmt::format(", engine {}", json["engine"].get<std::string>())));
  console.note(fmt::format("  passed on  {}", passed_text(json["passed_on"])));
  if (json.contains("last_message"))
    console.note(fmt::format("  last said  {}", json["last_message"].get<std::string>()));
  if (json["taken"] == 0) return;
  console.note(fmt::format("  data       largest span 2^{}, {} fallbacks to the native product",
                           json["largest_span"].get<int>(), json["fallbacks"].get<std::uint64_t>()));
  if (json.contains("workspaces"))
    console.note(fmt::format("  workspaces of the program: used for {} calls, too small for {}",
                             json["workspaces"]["used"].get<std::uint64_t>(),
                             json["workspaces"]["too_small"].get<std::uint64_t>()));
  for (const Json& s : json["slowest"])
    console.note(fmt::format("  {:<9}  {} x {} x {}: {} calls, {:.3f} s", s["routine"].get<std::string>(),
                             s["m"].get<std::int64_t>(), s["n"].get<std::int64_t>(), s["k"].get<std::int64_t>(),
                             s["calls"].get<std::uint64_t>(), s["seconds"].get<double>()));
}

// The lines that this run has added to the report.
void show_report(const std::string& path, std::uintmax_t from, const Console& console) {
  std::ifstream file(path);
  file.seekg(static_cast<std::streamoff>(from));
  bool any = false;
  for (std::string line; std::getline(file, line); any = true) show(Json::parse(line), console);
  if (!any)
    console.note("vernier run: no level-3 call of BLAS, CBLAS or cuBLAS was seen (see `vernier info`: preload)");
}

int run_program(const RunOptions& options, const Console& console) {
  check(options);
  const std::string libraries = preloads();
  const char* before = std::getenv("LD_PRELOAD");
  const std::string preload = before != nullptr && *before != '\0' ? libraries + ":" + before : libraries;
  set("VERNIER_CONTRACT", options.contract);
  set("VERNIER_ENGINE", options.engine);
  set("VERNIER_CUDA_ENGINE", options.cuda_engine);
  set("VERNIER_MIN_SIZE", options.min_size);
  set("VERNIER_BLAS", options.blas);
  if (options.verbose > 0) set("VERNIER_VERBOSE", std::to_string(options.verbose + 1));
  std::optional<TemporaryReport> temporary;
  const char* asked = std::getenv("VERNIER_REPORT");
  std::string report = !options.report.empty() ? options.report : asked != nullptr ? asked : "";
  if (report.empty()) report = temporary.emplace().path();
  report = std::filesystem::absolute(report);
  set("VERNIER_REPORT", report);
  std::error_code none_yet;
  const std::uintmax_t size = std::filesystem::file_size(report, none_yet);
  std::fflush(nullptr);
  ExecFailure failure;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) become(options, preload, failure);
  const int why = failure.wait(), code = wait_for(child);
  if (why != 0) {
    console.error(fmt::format("{}: {}", options.program.front(), std::strerror(why)));
    return why == ENOENT ? exit_not_found : exit_cannot_run;
  }
  show_report(report, none_yet ? 0 : size, console);
  return code;
}

}  // namespace

void add_run(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command = program.add_subcommand("run", "Run a program whose BLAS and cuBLAS calls Vernier takes over.");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("--contract", options->contract, "as for gemm; default: fp32 for single, fp64 for double");
  command->add_option("--engine", options->engine, "int8 engine, or native");
  command->add_option("--cuda-engine", options->cuda_engine, "engine of the GPU, or native");
  command->add_option("--min-size", options->min_size, "calls with a smaller (m n k)^(1/3) are passed on; default 256")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("--report", options->report, "append a line of JSON for each process to this file");
  command->add_option("--blas", options->blas, "library for calls that are passed on; default: the program's own");
  command->add_flag("-v,--verbose", options->verbose, "tell each call of size on stderr");
  command->add_option("program", options->program, "the program and its arguments, after --")->required();
  command->add_flag("--quiet,-q", console.quiet, "no summary");
  command->positionals_at_end();
  command->footer(
      "Calls go to Vernier where its plan says that it is faster, to the program's own BLAS or cuBLAS otherwise; a\n"
      "reproducible contract takes all from --min-size on.\n\n"
      "Examples:\n  vernier run -- ./simulation input.dat\n"
      "  vernier run --contract fp64+reproducible --min-size 0 -- python3 script.py");
  command->callback(
      [&console, &chosen, options] { chosen = [&console, options] { return run_program(*options, console); }; });
}

}  // namespace vernier::cli
