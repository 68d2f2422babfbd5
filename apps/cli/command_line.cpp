#include "command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "command.hpp"
#include "manual.hpp"
#include "near_name.hpp"
#include "probe.hpp"
#include "reproduce.hpp"
#include "solve.hpp"

namespace vernier::cli {
namespace {

constexpr const char* examples = R"(Examples:
  vernier info
  vernier explain -m 4096 -n 4096 -k 512 --contract fp64
  vernier gemm A.npy B.mtx -o C.npy --contract fp64 --check
  vernier gemm A.npy B.npy --transa T --contract 'bits(60)+reproducible' --json
  vernier solve A.npy b.npy -o x.npy --forward-error
  vernier bench gemm --n 512,1024,2048 --baseline native --json
  vernier probe --engine hopper-wgmma-fp16-fp32
  vernier reproduce --quick
  vernier run -- python3 simulation.py

Exit codes: 0 done, 1 failed, 2 wrong usage; those of `run` are the program's. `vernier COMMAND --help` tells more.)";

// "info, explain, ... or run"
std::string commands_of(const CLI::App& program) {
  std::string text;
  const auto all = program.get_subcommands({});
  for (const CLI::App* command : all) {
    text += command == all.front() ? "" : command == all.back() ? " or " : ", ";
    text += command->get_name();
    for (const CLI::App* part : command->get_subcommands({})) text += " " + part->get_name();
  }
  return text;
}

std::vector<std::string> names_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// A standard stream that the caller has closed takes nothing; no file may get its number, and with it what is printed.
void occupy_closed_streams() {
  int descriptor = 0;
  do descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);  // closed again for a program that is run
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}

// As they are, but for `vernier` alone and `vernier help [COMMAND]`, which ask for help. Last first, as CLI11 wants
// them.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
  if (all.empty() || all == std::vector<std::string>{"help"}) all = {"--help"};
  if (all.front() == "help") all = {all[1], "--help"};
  std::reverse(all.begin(), all.end());
  return all;
}

class Help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string type = option->get_type_name();
    const auto at = text.find(type);
    return at == std::string::npos ? text : text.replace(at, type.size(), checked_type(*option));
  }
};

int parse_and_run(int argc, char** argv, Console& console) {
  CLI::App program("Matrix products of stated accuracy out of low-precision matrix engines.", "vernier");
  program.footer(examples);
  program.formatter(std::make_shared<Help>());
  program.set_version_flag("--version", std::string("vernier ") + version());
  program.require_subcommand(0, 1);
  program.option_defaults()->always_capture_default();  // help tells them
  add_output_flags(program, console);
  Work chosen;
  add_info(program, console, chosen);
  add_explain(program, console, chosen);
  add_gemm(program, console, chosen);
  add_solve(program, console, chosen);
  add_bench(program, console, chosen);
  add_probe(program, console, chosen);
  add_reproduce(program, console, chosen);
  add_run(program, console, chosen);
  add_manual(program, chosen);
  add_completion(program, chosen);
  try {
    program.parse(arguments_of(argc, argv));
  } catch (const CLI::Success& help_or_version) {
    return program.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    const auto words = program.remaining();
    if (program.get_subcommands().empty() && !words.empty() && !words.front().starts_with('-'))
      throw UsageError(fmt::format("'{}' is no command: expected {}{}", words.front(), commands_of(program),
                                   did_you_mean(words.front(), names_of(program))));
    console.error(error.what());
    console.note("`vernier --help` and `vernier COMMAND --help` tell more.");
    return exit_usage;
  }
  if (!chosen) throw UsageError(fmt::format("a command is expected: {}", commands_of(program)));
  return chosen();
}

}  // namespace

int run_command_line(int argc, char** argv) {
  occupy_closed_streams();
  Console console;
  try {
    const int code = parse_and_run(argc, argv, console);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    console.error("stdout: writing failed");
  } catch (const UsageError& error) {
    console.error(error.what());
    return exit_usage;
  } catch (const Error& error) {
    console.error(error.what());
    return error.status() == Status::invalid_argument ? exit_usage : exit_failed;
  } catch (const std::bad_alloc&) {
    console.error("out of memory");
  } catch (const std::exception& error) {
    console.error(error.what());
  }
  return exit_failed;
}

}  // namespace vernier::cli
