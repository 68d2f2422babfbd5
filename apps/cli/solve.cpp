// vernier solve: linear systems from files, and the certificate of the answer.
#include "solve.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <vernier/cuda.hpp>
#include <vernier/cuda_lapack.hpp>
#include <vernier/offload.hpp>

#include "device.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"
#include "quad.hpp"

namespace vernier::cli {
namespace {

const std::map<std::string, Factors> factor_names = {{"auto", Factors::automatic},
                                                     {"bf16", Factors::bf16},
                                                     {"fp16", Factors::fp16},
                                                     {"fp32", Factors::fp32},
                                                     {"fp64", Factors::fp64}};
const std::map<std::string, Refinement> refinement_names = {
    {"auto", Refinement::automatic}, {"classical", Refinement::classical}, {"gmres", Refinement::gmres}};
const std::map<std::string, Op> solve_ops = {{"N", Op::none}, {"T", Op::transpose}};

struct SolveArguments {
  std::string a, b, output, contract;
  std::string factors = "auto", refinement = "auto", op = "N";
  std::string device = "cpu";  // or "cuda"
  std::string precision;       // "", or "quad"
  std::string type = "dd";     // of the entries of that X (quad_matrix.hpp)
  bool verified = false;
  SolveOptions options;
  bool no_fallback = false;
};

Matrix read_finite(const std::string& path, Vectors vectors) {
  Matrix matrix = read_matrix(path, vectors);
  const NonFinite count = count_nonfinite(matrix);
  if (count.nans + count.infinities > 0) {
    throw FileError(path, fmt::format("{} NaN and {} infinite entries of {}: a system needs finite numbers", count.nans,
                                      count.infinities, matrix.rows * matrix.columns));
  }
  return matrix;
}

struct Problem {
  Matrix a, b;
};

Problem read_problem(const SolveArguments& arguments) {
  Matrix a = read_finite(arguments.a, Vectors::refused), b = read_finite(arguments.b, Vectors::columns);
  if (a.rows != a.columns) throw FileError(arguments.a, fmt::format("is {} x {}, not square", a.rows, a.columns));
  if (b.rows != a.rows) {
    throw FileError(arguments.b, fmt::format("has {} rows, and A has {} ({})", b.rows, a.rows, arguments.a));
  }
  return {std::move(a), std::move(b)};
}

template <class T>
std::vector<T> entries_as(const Matrix& matrix) {
  return std::visit([](const auto& x) { return std::vector<T>(x.begin(), x.end()); }, matrix.entries);
}

bool is_solved(const SolveReport& report) {
  return report.verdict == Verdict::ok || report.verdict == Verdict::ill_conditioned;
}

// A failure that leaves no file behind.
void judge(const SolveReport& report, const SolveArguments& arguments, const Console& console) {
  if (report.verdict == Verdict::ill_conditioned)
    console.warning(
        fmt::format("{} is singular to working precision (condition {:.1e}, estimated): the forward error "
                    "is inf, no digit of X need be right",
                    arguments.a, report.condition));
  if (report.verdict == Verdict::singular) {
    throw FileError(arguments.a,
                    fmt::format("is singular: U({0}, {0}) of its LU factors is exactly zero", report.info));
  }
  if (report.verdict == Verdict::above_tolerance) {
    throw std::runtime_error(
        fmt::format("the backward error is {:.2e}, above the tolerance {:.2e}: nothing was written "
                    "(--tolerance accepts more)",
                    report.largest_backward_error(), report.tolerance));
  }
}

SolveOptions options_of(const SolveArguments& arguments) {
  SolveOptions options = arguments.options;
  options.factors = factor_names.at(arguments.factors);
  options.refinement = refinement_names.at(arguments.refinement);
  options.fallback = !arguments.no_fallback;
  if (!arguments.contract.empty()) options.contract = Contract::parse(arguments.contract);
  return options;
}

// In the GPU's memory, with factors of it in two types and copies that the solver makes.
template <class T>
bool fits_on_gpu(const std::vector<T>& a, const std::vector<T>& b) {
  constexpr std::size_t copies = 5;
  return copies * sizeof(T) * (a.size() + b.size()) <= host_link().free_bytes;
}

// x, of as many numbers as b, is written as the solver does.
template <class T>
SolveReport solve_on_gpu(Op op, std::int64_t n, std::int64_t nrhs, const std::vector<T>& a, std::int64_t ld,
                         const std::vector<T>& b, std::vector<T>& x, const SolveOptions& options) {
  const DeviceArray<T> device_a(a), device_b(b), device_x(static_cast<std::int64_t>(x.size()));
  const SolveReport report =
      cuda::solve<T>(op, n, nrhs, device_a.data(), ld, device_b.data(), ld, device_x.data(), ld, options);
  x = device_x.values();
  return report;
}

template <class T>
int run(const Problem& problem, const SolveArguments& arguments, FileFormat format, const Console& console) {
  std::optional<OutputFile> file;
  if (!arguments.output.empty()) file.emplace(arguments.output);  // found unwritable now rather than after the work
  SolveOptions options = options_of(arguments);
  const std::vector<T> a = entries_as<T>(problem.a), b = entries_as<T>(in_order(problem.b, Order::column_major));
  const std::int64_t n = problem.a.rows, nrhs = problem.b.columns, ld = problem.a.leading_dimension();
  std::vector<T> x(b.size());
  // A matrix by rows is its transpose by columns.
  const bool transposed = (problem.a.order == Order::row_major) != (solve_ops.at(arguments.op) == Op::transpose);
  const Op op = transposed ? Op::transpose : Op::none;
  const bool on_gpu = arguments.device == "cuda";
  Progress progress(console, "solve");
  options.products.progress = progress.callback();
  std::string device = on_gpu ? cuda::device_name() : "cpu";  // throws where there is none
  const bool whole = on_gpu && fits_on_gpu(a, b);
  if (on_gpu && !whole) {
    options.products.device = Device::cuda;
    device += ", in pieces: its memory does not hold the system";
  }
  const SolveReport report = whole ? solve_on_gpu(op, n, nrhs, a, ld, b, x, options)
                                   : solve<T>(op, n, nrhs, a.data(), ld, b.data(), ld, x.data(), ld, options);
  if (file && is_solved(report))
    write_matrix(*file, format, Matrix{n, nrhs, Order::column_major, std::move(x), problem.b.vector},
                 Order::column_major);
  if (console.json) {
    Json json = Json::parse(report.json());
    json["device"] = device;
    json["output"] = arguments.output.empty() || !is_solved(report) ? Json() : Json(arguments.output);
    print_json(json);
  } else {
    const std::string text = report.text() + (on_gpu ? "  device     " + device : "");
    is_solved(report) ? console.report(text, arguments.output) : console.note(text);
  }
  judge(report, arguments, console);
  if (file) file->commit();
  return exit_ok;
}

int solve_files(const SolveArguments& arguments, const Console& console) {
  if (!arguments.precision.empty() || arguments.verified) {
    if (arguments.op != "N") throw UsageError("--precision quad and --verified are for op(A) = A");
    QuadArguments quad{.a = arguments.a, .b = arguments.b, .output = arguments.output};
    quad.device = arguments.device, quad.entries = arguments.type;
    quad.engine = arguments.options.products.engine, quad.threads = arguments.options.products.threads;
    quad.verified = arguments.verified;
    return arguments.precision.empty() ? solve_verified(quad, console) : solve_quad(quad, console);
  }
  const FileFormat format = checked_output(arguments.output, console);
  check_inputs({arguments.a, arguments.b});
  if (arguments.device == "cuda") cuda::device_name();  // throws where there is none
  const Problem problem = read_problem(arguments);
  return problem.a.is_double() || problem.b.is_double() ? run<double>(problem, arguments, format, console)
                                                        : run<float>(problem, arguments, format, console);
}

template <class Map>
CLI::IsMember one_of(const Map& names) {
  std::vector<std::string> keys;
  for (const auto& [name, value] : names) keys.push_back(name);
  return CLI::IsMember(keys);
}

}  // namespace

void add_solve(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command = program.add_subcommand("solve", "op(A) X = B of matrices in .npy or .mtx files.");
  auto arguments = std::make_shared<SolveArguments>();
  SolveOptions& options = arguments->options;
  command->add_option("A", arguments->a, "square matrix: .npy or .mtx; - is .npy on stdin")->required();
  command->add_option("B", arguments->b, "right-hand sides, as columns; of a vector X is a vector")->required();
  command->add_option("-o,--output", arguments->output, "file for X: .npy or .mtx; - is .npy on stdout; none: a report")
      ->check(file_name());
  command->add_option("--factor", arguments->factors, "precision of the LU factors: auto, bf16, fp16, fp32 or fp64")
      ->check(one_of(factor_names));
  command->add_option("--refine", arguments->refinement, "auto, classical or gmres")->check(one_of(refinement_names));
  command->add_option("--op", arguments->op, "N: A as it is; T: its transpose")->check(one_of(solve_ops));
  command->add_option("--tolerance", options.tolerance, "of the backward error; 0: max(4, sqrt(n)) u")
      ->check(CLI::Range(0.0, 0.999));
  command->add_option("--max-iterations", options.max_iterations, "corrections of one right-hand side")
      ->check(CLI::Range(0, 100000));
  command->add_flag("--no-fallback", arguments->no_fallback, "no fp64 factors where coarser ones fail");
  command->add_flag("--condition", options.condition, "estimate the condition number");
  command->add_flag("--componentwise", options.componentwise_error, "measure the componentwise backward error, too");
  command->add_flag("--forward-error", options.forward_error, "estimate the forward error, too");
  command->add_option("--contract", arguments->contract,
                      "of the products in the factorisation: see vernier gemm --help");
  command->add_option("--precision", arguments->precision, "quad: X in double-double, every digit of it refined")
      ->check(CLI::IsMember({"quad"}));
  command
      ->add_option("--type", arguments->type,
                   "of that X in .npy: dd, a structure of hi and lo, or longdouble or quaddtype, as NumPy writes these")
      ->check(CLI::IsMember({"dd", "longdouble", "quaddtype"}))
      ->needs("--precision");
  command->add_flag(
      "--verified", arguments->verified,
      "an interval that is proved for each entry of X: the output has two columns, low and high, for each of "
      "B's; with --precision quad X and a proved bound of its error; or a failure that says not verified");
  command->add_option("--device", arguments->device, "cpu, or cuda: the current GPU")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--engine", options.products.engine, "int8 engine (see vernier info), or native");
  command->add_option("--threads", options.products.threads, "threads on a CPU; 0 leaves it to OMP_NUM_THREADS")
      ->check(at_least(0));
  add_output_flags(*command, console);
  command->footer(
      "Two float matrices are solved in float, any others in double. X is written only where every backward error is\n"
      "measured to be at most the tolerance; on any failure a file of that name is left as it was.\n\n"
      "Examples:\n  vernier solve A.npy b.npy -o x.npy\n"
      "  vernier solve A.mtx B.npy -o X.npy --factor fp16 --forward-error\n"
      "  vernier solve A.npy b.npy -o x.npy --device cuda --factor bf16\n"
      "  vernier solve A.npy b.npy --json | jq .backward_error");
  command->callback(
      [arguments, &console, &chosen] { chosen = [arguments, &console] { return solve_files(*arguments, console); }; });
}

}  // namespace vernier::cli
