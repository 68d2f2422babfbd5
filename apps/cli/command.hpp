// The commands of the program, and the options that several of them share.
#pragma once

#include <CLI/CLI.hpp>
#include <complex>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vernier/vernier.hpp>

#include "matrix_file.hpp"
#include "terminal.hpp"

namespace vernier::cli {

using Json = nlohmann::ordered_json;

// Exit codes: scripts tell a wrong call from a failed one.
inline constexpr int exit_ok = 0, exit_failed = 1, exit_usage = 2;

// Options that contradict each other in a way the parser does not see.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The format of what `-o PATH` asks for.
FileFormat checked_output(const std::string& path, const Console& console);

// Of matrices to be read one may be "-".
void check_inputs(const std::vector<std::string>& paths);

// Each adds a subcommand to the program, which sets `chosen` to its work when it is the one on the command line.
using Work = std::function<int()>;
void add_info(CLI::App& program, Console& console, Work& chosen);
void add_explain(CLI::App& program, Console& console, Work& chosen);
void add_gemm(CLI::App& program, Console& console, Work& chosen);
void add_bench(CLI::App& program, Console& console, Work& chosen);
void add_run(CLI::App& program, Console& console, Work& chosen);

// --contract, --engine, --threads and --workspace-limit.
struct ProductOptions {
  std::string contract;  // empty: default_contract of the type
  std::string engine;
  int threads = 0;
  std::uint64_t workspace_limit = 0;

  void add_to(CLI::App& command);
  void round(const std::string& direction);  // by a contract that is exact where none is named
  template <class T>
  Options options() const {
    Options result;
    result.contract = contract.empty() ? default_contract<T>() : Contract::parse(contract);
    result.engine = engine;
    result.threads = threads;
    result.workspace_limit = workspace_limit;
    return result;
  }
};

// --type: double, float, complex_double or complex_float.
void add_type(CLI::App& command, std::string& type);

// call(T{}) for the type of that name.
template <class Call>
auto with_type(const std::string& name, const Call& call) {
  if (name == "float") return call(float{});
  if (name == "complex_float") return call(std::complex<float>{});
  if (name == "complex_double") return call(std::complex<double>{});
  return call(double{});
}

// --transa and --transb.
struct Transposes {
  Op a = Op::none, b = Op::none;
  void add_to(CLI::App& command);
};

// A whole number from `least` on.
CLI::Validator at_least(std::int64_t least);

// Numbers within the reach of double, or of 64 bits without sign: the parser would take infinity, and 2^64 - 1 also for
// -1. What follows an unsigned number, as a unit of bytes, is left to the parser.
CLI::Validator real_number();
CLI::Validator unsigned_number();
CLI::Validator positive();
CLI::Validator file_name();  // of an output: none at all is none given

void add_output_flags(CLI::App& command, Console& console);  // --json and --quiet

void print_json(const Json& json);  // one object on one line of stdout

}  // namespace vernier::cli
