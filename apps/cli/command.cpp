#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <tuple>

#include "command_line.hpp"
#include "probe.hpp"
#include "reproduce.hpp"
#include "solve.hpp"

namespace vernier::cli {

FileFormat checked_output(const std::string& path, const Console& console) {
  if (path == "-" && console.json) throw UsageError("-o - and --json both want stdout");
  if (path == "-" && isatty(STDOUT_FILENO) != 0) throw UsageError("-o - writes binary data, and stdout is a terminal");
  if (path.empty()) return FileFormat::npy;
  if (const auto format = output_format(path)) return *format;
  throw UsageError(fmt::format("-o {}: the name must end in .npy or .mtx", path));
}
namespace {

const std::map<std::string, Op> op_names = {{"N", Op::none}, {"T", Op::transpose}, {"C", Op::conjugate_transpose},
                                            {"n", Op::none}, {"t", Op::transpose}, {"c", Op::conjugate_transpose}};

CLI::Validator contract_validator() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        try {
          Contract::parse(text);
          return {};
        } catch (const Error& error) {
          return error.what();
        }
      },
      "", "contract");
}

CLI::Validator transpose_validator() {
  return CLI::Validator(
      [](std::string& text) { return op_names.contains(text) ? "" : text + " is none of N, T and C"; }, "N|T|C",
      "transpose");
}

}  // namespace

CLI::Validator at_least(std::int64_t least) {
  const auto check = [least](std::string& text) -> std::string {
    std::int64_t value = 0;
    errno = 0;
    const bool is_number = CLI::detail::lexical_cast(text, value);
    if (errno == ERANGE) return fmt::format("'{}' is more than 64 bits hold", text);
    if (is_number && value >= least) return {};
    return fmt::format("'{}' is no whole number from {} on", text, least);
  };
  return CLI::Validator(check, "", "at_least");
}

CLI::Validator no_overflow() {
  const auto check = [](std::string& text) -> std::string {
    errno = 0;
    const bool beyond = std::isinf(std::strtod(text.c_str(), nullptr)) && errno == ERANGE;
    return beyond ? fmt::format("'{}' is more than a double holds", text) : "";
  };
  return CLI::Validator(check, "", "no_overflow");
}

CLI::Validator within_64_bits() {
  const auto check = [](std::string& text) -> std::string {
    errno = 0;
    std::strtoull(text.c_str(), nullptr, 0);
    return errno == ERANGE ? fmt::format("'{}' is more than 64 bits hold", text) : "";
  };
  return CLI::Validator(check, "", "within_64_bits");
}

void ProductOptions::add_to(CLI::App& command) {
  command
      .add_option("--contract", contract,
                  "fp64, fp64-normwise, fp32, bits(n) or exact, each with +reproducible and +no-fallback as wanted; "
                  "fp64 for double and fp32 for float if not given")
      ->check(contract_validator())
      ->type_name("CONTRACT");
  command.add_option(
      "--engine", engine,
      "int8 engine (see vernier info), model:NAME (see vernier probe --list) or native; chosen if not given");
  command.add_option("--threads", threads, "threads; 0 leaves it to OMP_NUM_THREADS")->check(at_least(0));
  command.add_option("--workspace-limit", workspace_limit, "most workspace in bytes, as in 512M; 0 is the default, 1G")
      ->transform(CLI::AsSizeValue(false))
      ->transform(within_64_bits());  // of two the later one comes first
}

void add_type(CLI::App& command, std::string& type) {
  const std::vector<std::string> names = {"double", "float", "complex_double", "complex_float"};
  command.add_option("--type", type, "double, float, complex_double or complex_float")->check(CLI::IsMember(names));
}

void Transposes::add_to(CLI::App& command) {
  for (auto [name, op, what] : {std::tuple{"--transa", &a, "op(A)"}, std::tuple{"--transb", &b, "op(B)"}}) {
    const auto store = [op = op](const std::string& text) { *op = op_names.at(text); };
    command
        .add_option_function<std::string>(name, store,
                                          fmt::format("{}: as it is, its transpose, or conjugate transpose", what))
        ->check(transpose_validator())
        ->type_name("N|T|C");
  }
}

void add_output_flags(CLI::App& command, Console& console) {
  command.add_flag("--json", console.json, "JSON on stdout");
  command.add_flag("--quiet,-q", console.quiet, "errors only on stderr");
}

void print_json(const Json& json) { fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

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

int parse_and_run(int argc, char** argv, Console& console) {
  CLI::App program("Matrix products of stated accuracy out of low-precision matrix engines.", "vernier");
  program.footer(examples);
  program.set_version_flag("--version", std::string("vernier ") + version());
  program.require_subcommand(0, 1);
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
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return program.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    const auto words = program.remaining();
    if (program.get_subcommands().empty() && !words.empty() && !words.front().starts_with('-'))
      throw UsageError(fmt::format("'{}' is no command: expected {}", words.front(), commands_of(program)));
    console.error(error.what());
    console.note("`vernier --help` and `vernier COMMAND --help` tell more.");
    return exit_usage;
  }
  if (!chosen) throw UsageError(fmt::format("a command is expected: {}", commands_of(program)));
  return chosen();
}

}  // namespace

int run_command_line(int argc, char** argv) {
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
