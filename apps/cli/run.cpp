// vernier run: a program under libvernier_blas, _cublas and _scalapack, and what became of its calls.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "command.hpp"
#include "program_folder.hpp"
#include "run_folder.hpp"
#include "run_signals.hpp"
#include "run_summary.hpp"
#include "stolen_time.hpp"
#include "vernier/cuda.hpp"
#include "vernier/offload.hpp"
#include "vernier/rates.hpp"
#include "whole_number.hpp"

namespace vernier::cli {
namespace {

constexpr const char* library_names[] = {"libvernier_blas.so", "libvernier_cublas.so", "libvernier_scalapack.so"};
constexpr int exit_cannot_run = 126, exit_not_found = 127, exit_by_signal = 128;  // as a shell has it

struct RunOptions {
  std::string contract, engine, cuda_engine, device, min_size, report, blas;
  int verbose = 0;
  std::vector<std::string> program;
};

// Beside this program, in a build or as installed.
std::string find_library(const char* name) {
  const std::filesystem::path bin = program_folder();
  for (const char* folder : {VERNIER_LIBDIR_FROM_BIN, "../lib"}) {
    const std::filesystem::path candidate = (bin / folder / name).lexically_normal();
    if (std::filesystem::exists(candidate)) return candidate;
  }
  throw std::runtime_error(fmt::format("{} is not beside this program in {}", name, bin.string()));
}

std::string preloads(const RunFolder& folder) {
  std::string list;
  for (const char* name : library_names) list += (list.empty() ? "" : ":") + folder.preloadable(find_library(name));
  const char* before = std::getenv("LD_PRELOAD");
  return before != nullptr && *before != '\0' ? list + ":" + before : list;
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

void check_number(const char* name, long most) {
  const std::string value = asked_or_set("", name);
  if (!value.empty() && !interpose::whole_number(value, most))
    throw Error(Status::invalid_argument, interpose::no_whole_number(name, value, most));
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
  if (const std::string device = asked_or_set(options.device, "VERNIER_DEVICE"); !device.empty()) parse_device(device);
  check_cuda_engine(asked_or_set(options.cuda_engine, "VERNIER_CUDA_ENGINE"));
  if (options.min_size.empty()) check_number("VERNIER_MIN_SIZE", interpose::largest_min_size);
  if (options.verbose == 0) check_number("VERNIER_VERBOSE", interpose::most_verbose);
}

// A FIFO would keep the program waiting for a reader.
void check_report(const std::string& path) {
  using std::filesystem::file_type;
  if (path.empty()) return;
  std::error_code unknown;  // of a link to itself, say
  const file_type type = std::filesystem::status(path, unknown).type();
  if (type != file_type::not_found && type != file_type::regular && type != file_type::character)
    throw Error(Status::invalid_argument, fmt::format("report {}: expected a regular file, or none yet", path));
  const std::filesystem::path place =
      type == file_type::not_found ? std::filesystem::absolute(path).parent_path() : std::filesystem::path(path);
  if (access(place.c_str(), W_OK) != 0)
    throw Error(Status::invalid_argument, fmt::format("report {}: cannot be written: {}", path, std::strerror(errno)));
}

// What exec says where there is no such program: over a pipe that a program which starts closes.
class ExecFailure {
 public:
  ExecFailure() {
    if (pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;  // no file may be opened: told by the exit code alone
  }
  ~ExecFailure() {
    for (const int end : ends_)
      if (end >= 0) close(end);
  }
  ExecFailure(const ExecFailure&) = delete;
  ExecFailure& operator=(const ExecFailure&) = delete;

  [[noreturn]] void tell(int why) const {
    const bool told = write(ends_[1], &why, sizeof why) == sizeof why;
    _exit(!told && why == ENOENT ? exit_not_found : exit_cannot_run);
  }
  int wait() {  // 0: the program has started, or it is not known
    if (ends_[1] < 0) return 0;
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
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(fmt::format("waitpid: {}", std::strerror(errno)));
  return status;
}

// The program's exit code, or its end by a signal, without a second core file.
int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::fflush(nullptr);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return exit_by_signal + WTERMSIG(status);
}

std::string set_environment(const RunOptions& options, const RunFolder& folder) {
  set("VERNIER_CONTRACT", options.contract);
  set("VERNIER_ENGINE", options.engine);
  set("VERNIER_CUDA_ENGINE", options.cuda_engine);
  set("VERNIER_DEVICE", options.device);
  set("VERNIER_MIN_SIZE", options.min_size);
  set("VERNIER_BLAS", options.blas);
  // OpenBLAS's threads spin for a tenth of a second after each call, on processors that Vernier's products need: for
  // half a millisecond instead. On a host that other machines share, a processor that sleeps is late to wake: 8 ms.
  constexpr double much = 0.01;
  const bool shared = stolen_share() > much;
  setenv("OPENBLAS_THREAD_TIMEOUT", shared ? "24" : "20", 0);
  // Those of GNU's OpenMP spin for 300 000 rounds, 3 to 20 ms, after a product too, on processors that the BLAS needs:
  // for 0.1 to 0.5 ms instead, but for such a host.
  if (!shared && std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "8000", 0);
  if (options.verbose > 0)
    set("VERNIER_VERBOSE", std::to_string(std::min<long>(options.verbose + 1L, interpose::most_verbose)));
  std::string report = asked_or_set(options.report, "VERNIER_REPORT");
  if (!report.empty()) report = std::filesystem::absolute(report);
  set("VERNIER_REPORT", report);
  set("VERNIER_COUNTERS", folder.counters());
  return report;
}

// Where the choice between methods is the plan's, and this machine has not been measured: now, since a running program
// is not to be kept waiting by it.
void measure_before(const RunOptions& options, const Console& console) {
  if (!asked_or_set(options.engine, "VERNIER_ENGINE").empty()) return;
  const std::string file = measure_missing_rates();
  if (!file.empty() && options.verbose > 0) console.note(fmt::format("rates of this machine are in {}", file));
}

void warn_without_cuda(const RunOptions& options, const Console& console) {
  const std::string device = asked_or_set(options.device, "VERNIER_DEVICE");
  if (!cuda_compiled() && !device.empty() && parse_device(device) != Device::cpu)
    console.warning(
        fmt::format("--device {}: this build has no CUDA part, so that all products stay on the CPU", device));
}

int run_program(const RunOptions& options, const Console& console) {
  RunSignals signals;
  check(options);
  warn_without_cuda(options, console);
  check_report(asked_or_set(options.report, "VERNIER_REPORT"));
  measure_before(options, console);
  const std::string outer = asked_or_set("", "VERNIER_COUNTERS");  // of a `vernier run` that this one runs under
  int status = 0;
  {
    const RunFolder folder;
    const std::string preload = preloads(folder), report = set_environment(options, folder);
    std::fflush(nullptr);
    signals.hold();
    ExecFailure failure;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
    if (child == 0) {
      signals.restore_in_program();
      become(options, preload, failure);
    }
    signals.hand_on_to(child);
    const int why = failure.wait();
    status = wait_for(child);
    signals.stop();
    if (why != 0) {
      console.error(fmt::format("{}: {}", options.program.front(), std::strerror(why)));
      return why == ENOENT ? exit_not_found : exit_cannot_run;
    }
    if (const interpose::Board* board = folder.board(); board != nullptr) {
      if (!report.empty()) complete_report(*board, report, console);
      show_summary(*board, options.program.front(), console);
      if (!outer.empty()) interpose::add_records(*board, outer.c_str());
    } else {
      console.note(fmt::format("vernier run: calls were not counted: {}", folder.why_not()));
    }
  }
  return end_as(status);
}

}  // namespace

void add_run(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command = program.add_subcommand("run", "Run a program whose BLAS and cuBLAS calls Vernier takes over.");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("--contract", options->contract, "as for gemm; default: fp32 for single, fp64 for double");
  command->add_option("--engine", options->engine, "int8 engine, or native");
  command->add_option("--cuda-engine", options->cuda_engine, "engine of the GPU, or native");
  command->add_option("--device", options->device,
                      "where products of BLAS calls are made: cpu, cuda, or auto: GPUs where they are faster");
  command->add_option("--min-size", options->min_size, "calls with a smaller (m n k)^(1/3) are passed on; default 256")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("--report", options->report, "append a line of JSON for each process to this file");
  command->add_option("--blas", options->blas, "library for calls that are passed on; default: the program's own");
  command->add_flag("-v,--verbose", options->verbose, "tell each call of size on stderr");
  command->add_option("program", options->program, "the program and its arguments, after --")
      ->required()
      ->default_str("");
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
