#include "command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "input_file.hpp"
#include "near_name.hpp"
#include "vernier/cuda.hpp"
#include "vernier/model.hpp"
#include "vernier/quad.hpp"

namespace vernier::cli {

FileFormat checked_output(const std::string& path, const Console& console) {
  if (path == "-" && console.json) throw UsageError("-o - and --json both want stdout");
  if (path == "-" && isatty(STDOUT_FILENO) != 0) throw UsageError("-o - writes binary data, and stdout is a terminal");
  const bool prints = console.json || !console.quiet || path == "-";
  if (prints && (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
    throw FileError("stdout", "writing failed: it is closed; -q prints no report");
  if (path.empty()) return FileFormat::npy;
  if (const auto format = output_format(path)) return *format;
  throw UsageError(fmt::format("-o {}: the name must end in .npy or .mtx", path));
}

void check_inputs(const std::vector<std::string>& paths) {
  const auto count = std::count(paths.begin(), paths.end(), "-");
  if (count > 1) throw UsageError("stdin holds one matrix: expected one - among the inputs");
  if (count == 1 && isatty(STDIN_FILENO) != 0) throw UsageError("- reads a .npy file, and stdin is a terminal");
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
          try {
            QuadContract::parse(text);  // of --type dd
            return {};
          } catch (const Error&) {
            return error.what();
          }
        }
      },
      "", "contract");
}

// A name that is none, but near one; others are left to the library, which knows what serves the call.
CLI::Validator engine_validator() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        std::vector<std::string> names = {"native", "blas", "cublas-fp16", "cublas-bf16", "cublas-int8"};
        for (const auto& list : {engines(), part_engines(), cuda::engines()})
          for (const EngineInfo& engine : list) names.push_back(engine.name);
        for (const model::NamedEngine& engine : model::engines()) {
          names.push_back("model:" + engine.name);
          names.push_back(engine.name);  // by slices
        }
        if (std::find(names.begin(), names.end(), text) != names.end()) return {};
        const std::string near = near_name(text, names);
        return near.empty() ? "" : fmt::format("'{}' is the name of no engine; did you mean '{}'?", text, near);
      },
      "", "engine");
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

CLI::Validator real_number() {
  const auto check = [](std::string& text) -> std::string {
    char* end = nullptr;
    errno = 0;
    const bool beyond = std::isinf(std::strtod(text.c_str(), &end)) && errno == ERANGE;
    if (end == text.c_str() || *end != '\0') return fmt::format("'{}' is no number", text);
    return beyond ? fmt::format("'{}' is more than a double holds", text) : "";
  };
  return CLI::Validator(check, "", "real_number");
}

CLI::Validator file_name() {
  const auto check = [](std::string& text) -> std::string { return text.empty() ? "'' is no name of a file" : ""; };
  return CLI::Validator(check, "", "file_name");
}

CLI::Validator positive() {
  const auto check = [](std::string& text) -> std::string {
    const double value = std::strtod(text.c_str(), nullptr);
    return value > 0 && std::isfinite(value) ? "" : fmt::format("'{}' is no finite number above 0", text);
  };
  return CLI::Validator(check, "", "positive");
}

CLI::Validator unsigned_number() {
  const auto check = [](std::string& text) -> std::string {
    errno = 0;
    char* end = nullptr;
    std::strtoull(text.c_str(), &end, 0);
    if (end == text.c_str() || text.find('-') != std::string::npos)
      return fmt::format("'{}' is no whole number from 0 on", text);
    return errno == ERANGE ? fmt::format("'{}' is more than 64 bits hold", text) : "";
  };
  return CLI::Validator(check, "", "unsigned_number");
}

void ProductOptions::round(const std::string& direction) {
  if (contract.empty()) contract = "exact";
  if (direction != "nearest") contract += "+" + direction;
}

void ProductOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--contract", contract,
          "fp64, fp64-normwise, fp32, bits(n) or exact, each with +reproducible and +no-fallback as wanted, exact "
          "with +down, +up or +toward-zero; "
          "fp64 for double and fp32 for float if not given")
      ->check(contract_validator())
      ->type_name("CONTRACT");
  command
      .add_option(
          "--engine", engine,
          "int8 engine (see vernier info), model:NAME (see vernier probe --list) or native; chosen if not given")
      ->check(engine_validator());
  command.add_option("--threads", threads, "threads; 0 leaves it to OMP_NUM_THREADS")->check(at_least(0));
  command.add_option("--workspace-limit", workspace_limit, "most workspace in bytes, as in 512M; 0 is the default, 1G")
      ->transform(CLI::AsSizeValue(false))
      ->transform(unsigned_number());  // of two the later one comes first
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

void print_json(const Json& json) { print_at_once(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"); }

}  // namespace vernier::cli
