// vernier gemm: the product of two matrices from files.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <vernier/cuda.hpp>
#include <vernier/offload.hpp>
#include <vernier/slices.hpp>

#include "command.hpp"
#include "device_operands.hpp"
#include "exact_sample.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"
#include "quad.hpp"

namespace vernier::cli {
namespace {

constexpr std::int64_t check_samples = 1000;

struct GemmArguments {
  std::string a, b, output, c_in;
  double alpha = 1, beta = 0;
  bool check = false;
  std::string slices;          // "", "dp" or "cr"
  std::string rounding;        // "", or a direction of contract exact
  std::string type;            // "", or entries of dd (quad_matrix.hpp)
  std::string device = "cpu";  // or "cuda", or "auto"
  Transposes ops;
  ProductOptions product;
};

// Returns the format of the output.
FileFormat check_arguments(const GemmArguments& arguments, const Console& console) {
  if (arguments.beta != 0 && arguments.c_in.empty())
    throw UsageError("--beta needs a matrix to scale: give it by --c-in");
  if (!arguments.slices.empty() && !arguments.product.contract.empty())
    throw UsageError("--slices dp or cr says what is promised: --contract is for products by residues");
  if (!arguments.slices.empty() && arguments.device == "auto")
    throw UsageError("--slices: --device cpu or cuda says where");
  check_inputs({arguments.a, arguments.b, arguments.c_in});
  return checked_output(arguments.output, console);
}

Matrix read_input(const std::string& path, Vectors vectors, const Console& console, Json& inputs) {
  Matrix matrix = read_matrix(path, vectors);
  const NonFinite count = count_nonfinite(matrix);
  if (count.nans > 0)
    console.warning(fmt::format("{}: {} of {} entries are NaN", path, count.nans, matrix.rows * matrix.columns));
  if (count.infinities > 0) console.warning(fmt::format("{}: {} entries are infinite", path, count.infinities));
  inputs.push_back({{"path", path},
                    {"rows", matrix.rows},
                    {"columns", matrix.columns},
                    {"type", matrix.type()},
                    {"nan", count.nans},
                    {"infinite", count.infinities}});
  return matrix;
}

struct Problem {
  Matrix a, b;
  std::optional<Matrix> c0;
  Op opa, opb;
  std::int64_t m, n, k;

  bool is_vector() const { return a.vector || b.vector; }
};

// A is a row then, B a column, as NumPy has it.
void refuse_turned_vector(const Matrix& x, Op op, const std::string& path) {
  if (x.vector && op != Op::none) throw FileError(path, "is a vector, which has no transpose");
}

std::int64_t rows_of(const Matrix& x, Op op) { return op == Op::none ? x.rows : x.columns; }
std::int64_t columns_of(const Matrix& x, Op op) { return op == Op::none ? x.columns : x.rows; }

Problem read_problem(const GemmArguments& arguments, const Console& console, Json& inputs) {
  Matrix a = read_input(arguments.a, Vectors::rows, console, inputs),
         b = read_input(arguments.b, Vectors::columns, console, inputs);
  refuse_turned_vector(a, arguments.ops.a, arguments.a);
  refuse_turned_vector(b, arguments.ops.b, arguments.b);
  const Op opa = arguments.ops.a, opb = arguments.ops.b;
  const std::int64_t m = rows_of(a, opa), k = columns_of(a, opa), n = columns_of(b, opb);
  if (rows_of(b, opb) != k) {
    throw FileError(arguments.b, fmt::format("op(B) is {} x {} and cannot follow op(A), which is {} x {} ({})",
                                             rows_of(b, opb), n, m, k, arguments.a));
  }
  std::optional<Matrix> c0;
  if (!arguments.c_in.empty()) {
    c0 = read_input(arguments.c_in, m == 1 ? Vectors::rows : Vectors::columns, console, inputs);
    if (c0->rows != m || c0->columns != n) {
      throw FileError(arguments.c_in, fmt::format("is {} x {}, the product is {} x {}", c0->rows, c0->columns, m, n));
    }
  }
  checked_bytes("the product", m, n, sizeof(double));
  return {std::move(a), std::move(b), std::move(c0), opa, opb, m, n, k};
}

// The entries in type T; the conversion is exact, as double is taken wherever one of the matrices is double.
template <class T>
const std::vector<T>& entries_as(Matrix& matrix) {
  if (!std::holds_alternative<std::vector<T>>(matrix.entries)) {
    matrix.entries = std::visit([](const auto& x) { return std::vector<T>(x.begin(), x.end()); }, matrix.entries);
  }
  return std::get<std::vector<T>>(matrix.entries);
}

template <class T>
View<T> view(const Matrix& x, Op op) {
  const T* data = std::get<std::vector<T>>(x.entries).data();
  const bool by_rows = (x.order == Order::row_major) != (op != Op::none);
  return {data, by_rows ? x.leading_dimension() : 1, by_rows ? 1 : x.leading_dimension()};
}

// An operand as the library takes it: a matrix by rows is its transpose by columns.
template <class T>
struct Operand {
  Op op;
  const T* data;
  std::int64_t ld;
};

template <class T>
Operand<T> by_columns(const Matrix& x, Op asked) {
  const bool turned = (asked != Op::none) != (x.order == Order::row_major);
  return {turned ? Op::transpose : Op::none, std::get<std::vector<T>>(x.entries).data(), x.leading_dimension()};
}

// What the library is called with.
template <class T>
struct Call {
  Operand<T> a, b;
  T alpha, beta;
  T* c;
  std::int64_t ldc;
};

// The report of the product: on_cpu(call), or on_gpu(call) with the matrices in the memory of the GPU.
template <class T, class OnCpu, class OnGpu>
auto call_library(const Problem& p, const GemmArguments& arguments, Matrix& c, const OnCpu& on_cpu,
                  const OnGpu& on_gpu) {
  std::vector<T>& out = std::get<std::vector<T>>(c.entries);
  Call<T> call{by_columns<T>(p.a, p.opa),
               by_columns<T>(p.b, p.opb),
               static_cast<T>(arguments.alpha),
               static_cast<T>(arguments.beta),
               out.data(),
               c.leading_dimension()};
  if (arguments.device != "cuda") return on_cpu(call);
  const OnDevice<T> x(std::get<std::vector<T>>(p.a.entries), std::get<std::vector<T>>(p.b.entries), out);
  call.a.data = x.a(), call.b.data = x.b(), call.c = x.c();
  const auto report = on_gpu(call);
  x.fetch();
  return report;
}

// All at once in the memory of the GPU: products too small for blocks, and engines of the GPU by name.
bool lies_on_the_gpu(const Problem& p, const GemmArguments& arguments) {
  constexpr double small = 1e6;
  const double products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  return !arguments.slices.empty() || !arguments.product.engine.empty() || products < small;
}

template <class T>
Report multiply(const Problem& p, const GemmArguments& given, Matrix& c, const Console& console) {
  const bool in_blocks = given.device != "cpu" && !(given.device == "cuda" && lies_on_the_gpu(p, given));
  const DeviceScope scope(in_blocks ? parse_device(given.device) : Device::cpu);
  GemmArguments arguments = given;
  if (in_blocks) arguments.device = "cpu";  // whose routine it is
  Progress progress(console, "gemm");
  Options options = arguments.product.options<T>();
  options.progress = progress.callback();
  const cuda::Options on_gpu{
      .contract = options.contract, .engine = options.engine, .workspace_limit = options.workspace_limit};
  return call_library<T>(
      p, arguments, c,
      [&](const Call<T>& x) {
        return gemm<T>(x.a.op, x.b.op, p.m, p.n, p.k, x.alpha, x.a.data, x.a.ld, x.b.data, x.b.ld, x.beta, x.c, x.ldc,
                       options);
      },
      [&](const Call<T>& x) {
        return cuda::gemm<T>(x.a.op, x.b.op, p.m, p.n, p.k, &x.alpha, x.a.data, x.a.ld, x.b.data, x.b.ld, &x.beta, x.c,
                             x.ldc, on_gpu);
      });
}

template <class T>
SliceReport multiply_slices(const Problem& p, const GemmArguments& arguments, Matrix& c) {
  SliceOptions options;
  options.mode = arguments.slices == "cr" ? SliceMode::correctly_rounded : SliceMode::working_precision;
  if (!arguments.product.engine.empty()) options.engine = arguments.product.engine;
  return call_library<T>(
      p, arguments, c,
      [&](const Call<T>& x) {
        return gemm_by_slices<T>(x.a.op, x.b.op, p.m, p.n, p.k, x.alpha, x.a.data, x.a.ld, x.b.data, x.b.ld, x.beta,
                                 x.c, x.ldc, options);
      },
      [&](const Call<T>& x) {
        return cuda::gemm_by_slices<T>(x.a.op, x.b.op, p.m, p.n, p.k, x.alpha, x.a.data, x.a.ld, x.b.data, x.b.ld,
                                       x.beta, x.c, x.ldc, options);
      });
}

std::string text_of(const SliceReport& r) {
  return fmt::format(
      "gemm by slices, mode {}, engine {}\n"
      "  slices     {} of op(A), {} of op(B), {} bits each; {} products{}\n"
      "  products   {} of blocks; {} of zeros left out\n"
      "  time       {:.3g} s: split {:.3g}, products {:.3g}, sum {:.3g}\n",
      r.mode, r.engine, r.slices_a, r.slices_b, r.bits, r.products, r.fast ? " (fast mode)" : "", r.multiplied,
      r.skipped, r.seconds, r.seconds_split, r.seconds_products, r.seconds_sum);
}

// C0 by columns, or zeros.
template <class T>
Matrix prepare_output(Problem& p) {
  entries_as<T>(p.a);
  entries_as<T>(p.b);
  if (!p.c0) return {p.m, p.n, Order::column_major, std::vector<T>(static_cast<std::size_t>(p.m * p.n))};
  entries_as<T>(*p.c0);
  return in_order(*p.c0, Order::column_major);
}

template <class T>
SampledError check(const Problem& p, const GemmArguments& arguments, const Matrix& c) {
  Product<T> product{p.m, p.n, p.k, view<T>(p.a, p.opa), view<T>(p.b, p.opb)};
  product.alpha = static_cast<T>(arguments.alpha);
  product.beta = static_cast<T>(arguments.beta);
  if (p.c0) product.c0 = view<T>(*p.c0, Op::none);
  return ExactSample<T>(product, check_samples, 1).errors(view<T>(c, Op::none));
}

// The promise about T, and the roundings of the output type, of alpha and of beta on top. A normwise promise is not one
// about |A||B|, and a fallback has left the promise; of those, only that special values are in place is checked here.
template <class T>
void judge(const SampledError& error, const Report& report) {
  constexpr double u = std::numeric_limits<T>::epsilon() / 2;
  const bool componentwise = report.plan.contract.kind != Contract::Kind::normwise && !report.fallback;
  const double allowed = componentwise ? std::exp2(report.plan.log2_bound) + 4 * u : std::numeric_limits<double>::max();
  if (error.samples > 0 && error.compared + error.special == 0)
    throw std::runtime_error(
        fmt::format("the check failed: all of {} sampled entries may over- or underflow, so that none has an error "
                    "relative to |A||B|; scale the matrices",
                    error.samples));
  if (error.max <= allowed) return;
  throw std::runtime_error(
      fmt::format("the check failed: largest sampled error {:.3e} |A||B|, promised {:.3e}", error.max, allowed));
}

void print_report(const std::string& text, Json json, const Json& inputs, const GemmArguments& arguments,
                  const std::optional<SampledError>& error, const Console& console) {
  if (!console.json) {
    console.report(text, arguments.output);
    if (error) {
      console.report(
          fmt::format("check: {} of {} sampled entries compared with the exact product: error mean {:.2e}, max {:.2e}, "
                      "relative to |A||B|; {} are NaN or infinite, as they should be",
                      error->compared, error->samples, error->mean, error->max, error->special),
          arguments.output);
    }
    return;
  }
  json["inputs"] = inputs;
  json["output"] = arguments.output.empty() ? Json() : Json(arguments.output);
  if (error) {
    json["check"] = {{"samples", error->samples},
                     {"compared", error->compared},
                     {"special", error->special},
                     {"error_mean", error->mean},
                     {"error_max", error->max}};
  }
  print_json(json);
}

template <class T>
int run(Problem& problem, const GemmArguments& arguments, FileFormat format, const Json& inputs,
        const Console& console) {
  std::optional<OutputFile> file;
  if (!arguments.output.empty()) file.emplace(arguments.output);  // found unwritable now rather than after the work
  Matrix c = prepare_output<T>(problem);
  std::optional<SampledError> error;
  std::string text;
  Json json;
  if (arguments.slices.empty()) {
    const Report report = multiply<T>(problem, arguments, c, console);
    if (arguments.check) {
      error = check<T>(problem, arguments, c);
      judge<T>(*error, report);
    }
    text = report.text();
    json = Json::parse(report.json());
  } else {
    const SliceReport report = multiply_slices<T>(problem, arguments, c);
    if (arguments.check) error = check<T>(problem, arguments, c);
    text = text_of(report);
    json = Json::parse(report.json());
  }
  if (file) {
    const bool by_columns = problem.a.order == Order::column_major && problem.b.order == Order::column_major;
    c.vector = problem.is_vector();
    write_matrix(*file, format, c, by_columns ? Order::column_major : Order::row_major);
  }
  print_report(text, std::move(json), inputs, arguments, error, console);
  if (file) file->commit();
  return exit_ok;
}

void add_rounding(GemmArguments& arguments) {
  if (arguments.rounding.empty()) return;
  if (!arguments.slices.empty())
    throw UsageError("--rounding is for products by residues; --slices cr rounds to nearest");
  const std::string& contract = arguments.product.contract;
  if (!contract.empty() && Contract::parse(contract).kind != Contract::Kind::exact)
    throw UsageError(fmt::format("--rounding {}: only contract exact rounds in a direction; got --contract {}",
                                 arguments.rounding, contract));
  arguments.product.round(arguments.rounding);
  Contract::parse(contract);
}

int multiply_in_quad(GemmArguments arguments, const Console& console) {
  if (!arguments.slices.empty() || arguments.device == "auto" || arguments.check)
    throw UsageError("--type: --slices, --check and --device auto are for products of doubles");
  ProductOptions& product = arguments.product;
  if (!arguments.rounding.empty()) product.round(arguments.rounding);
  return multiply_quad({arguments.a, arguments.b, arguments.c_in, arguments.output, product.contract, product.engine,
                        arguments.device, arguments.alpha, arguments.beta, arguments.ops.a, arguments.ops.b,
                        product.threads, product.workspace_limit, arguments.type},
                       console);
}

int multiply_files(GemmArguments arguments, const Console& console) {
  if (!arguments.type.empty()) return multiply_in_quad(arguments, console);
  add_rounding(arguments);
  const FileFormat format = check_arguments(arguments, console);
  if (arguments.device == "cuda") cuda::device_name();  // throws where there is none
  Json inputs = Json::array();
  Problem problem = read_problem(arguments, console, inputs);
  const bool any_double = problem.a.is_double() || problem.b.is_double() || (problem.c0 && problem.c0->is_double());
  return any_double ? run<double>(problem, arguments, format, inputs, console)
                    : run<float>(problem, arguments, format, inputs, console);
}

}  // namespace

void add_gemm(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command =
      program.add_subcommand("gemm", "C = alpha op(A) op(B) + beta C0 of matrices in .npy or .mtx files.");
  auto arguments = std::make_shared<GemmArguments>();
  command->add_option("A", arguments->a, "first matrix: .npy or .mtx; - is .npy on stdin; a vector is a row")
      ->required();
  command->add_option("B", arguments->b, "second matrix; a vector is a column")->required();
  command->add_option("-o,--output", arguments->output, "file for C: .npy or .mtx; - is .npy on stdout; none: a report")
      ->check(file_name());
  command->add_option("--alpha", arguments->alpha, "factor of the product (rounded to float for float matrices)")
      ->check(real_number());
  CLI::Option* beta = command->add_option("--beta", arguments->beta, "factor of C0")->check(real_number());
  command->add_option("--c-in", arguments->c_in, "C0: .npy or .mtx")->needs(beta);
  command->add_flag("--check", arguments->check,
                    "compare sampled entries with the exact product; fail beyond the promised bound");
  command
      ->add_option("--slices", arguments->slices,
                   "multiply by slices (Ozaki scheme I): dp, to the type's own precision, or cr, correctly rounded; "
                   "--engine names an engine of the model, or blas; on a GPU cublas-fp16, cublas-bf16, cublas-int8 or "
                   "blas")
      ->check(CLI::IsMember({"dp", "cr"}));
  command
      ->add_option("--type", arguments->type,
                   "dd: C, and A and B where their files have more than doubles, in double-double (a .npy structure of "
                   "hi and lo; "
                   "longdouble, quaddtype: written as NumPy writes these); contracts dd, bits(n) up to 226, exact")
      ->check(CLI::IsMember({"dd", "longdouble", "quaddtype"}));
  command
      ->add_option(
          "--rounding", arguments->rounding,
          "of contract exact, which it makes the default: nearest, down, up or toward-zero; down and up enclose "
          "the exact product")
      ->check(CLI::IsMember({"nearest", "down", "up", "toward-zero"}));
  command
      ->add_option("--device", arguments->device,
                   "cpu, cuda, or auto: GPUs where they are faster; matrices move in blocks and may be larger than its "
                   "memory")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}));
  arguments->ops.add_to(*command);
  arguments->product.add_to(*command);
  add_output_flags(*command, console);
  command->footer(
      "Two float matrices are multiplied in float, any others in double. C is written after the work is done and\n"
      "replaces a file of that name at once; on any failure that file is left as it was.\n\n"
      "Examples:\n  vernier gemm A.npy B.npy -o C.npy\n"
      "  vernier gemm A.mtx B.npy --transa T -o C.mtx --contract 'bits(40)' --check\n"
      "  vernier gemm A.npy B.npy --alpha -1 --beta 1 --c-in C.npy -o C.npy --workspace-limit 512M\n"
      "  vernier gemm A.npy B.npy --json | jq .seconds");
  command->callback([arguments, &console, &chosen] {
    chosen = [arguments, &console] { return multiply_files(*arguments, console); };
  });
}

}  // namespace vernier::cli
