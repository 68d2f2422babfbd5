// vernier bench gemm: speed and error of the product and of the native one, in one run on random data.
#include <fmt/format.h>
#include <omp.h>

#include <charconv>
#include <memory>

#include "command.hpp"
#include "measure.hpp"
#include "native.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cli {
namespace {

struct BenchArguments {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> shapes;
  std::string type = "double", baseline = "native", device = "cpu";
  bool pin = false;
  Trial trial;
  Transposes ops;
  ProductOptions product;
};

struct Shape {
  std::int64_t m, n, k;
};

// "4096x4096x512" is m x n x k. Empty where it is none.
std::optional<Shape> parse_shape(const std::string& text) {
  std::int64_t values[3] = {};
  const char* next = text.data();
  const char* const end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (next == end || *next++ != 'x')) return std::nullopt;
    const auto [after, error] = std::from_chars(next, end, values[i]);
    if (error != std::errc() || values[i] <= 0) return std::nullopt;
    next = after;
  }
  if (next != end) return std::nullopt;
  return Shape{values[0], values[1], values[2]};
}

std::vector<Shape> shapes_of(const BenchArguments& arguments) {
  std::vector<Shape> shapes;
  for (std::int64_t n : arguments.sizes) shapes.push_back({n, n, n});
  for (const std::string& text : arguments.shapes) shapes.push_back(*parse_shape(text));
  if (shapes.empty()) shapes = {{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}};
  return shapes;
}

// A complex multiplication and addition are eight real operations.
double gflops(const std::string& type, const Trial& t, double seconds) {
  const double operations = type.starts_with("complex") ? 8 : 2;
  return 1e-9 * operations * static_cast<double>(t.m) * static_cast<double>(t.n) * static_cast<double>(t.k) / seconds;
}

const char* letter(Op op) { return op == Op::none ? "N" : op == Op::transpose ? "T" : "C"; }

// The product by the plan is the call of this very baseline.
bool same_call(const Plan& plan, const Baseline& baseline) {
  return plan.scheme == "native" && baseline.name() == "native";
}

// The keys baseline_* and ratio* are those of the fastest; `baselines` has all.
void add_baselines(const BenchArguments& arguments, const Trial& trial, const TrialResult& result, Json& json) {
  double fastest = 0;
  for (std::size_t i = 0; i < result.baselines.size(); ++i) {
    const BaselineResult& other = result.baselines[i];
    const Baseline& baseline = trial.baselines[i];
    const auto [least, most] = std::minmax_element(other.ratios.begin(), other.ratios.end());
    const Json one = {{"baseline", baseline.name()},
                      {"baseline_blas", trial.on_gpu ? "cuBLAS" : baseline.blas()},
                      {"baseline_is_the_product", !trial.on_gpu && same_call(result.report.plan, baseline)},
                      {"baseline_seconds", other.measured.seconds},
                      {"baseline_gflops", gflops(arguments.type, trial, other.measured.seconds)},
                      {"baseline_error_mean", other.measured.error.mean},
                      {"baseline_error_max", other.measured.error.max},
                      {"ratio", other.measured.seconds / result.product.seconds},
                      {"ratio_min", *least},
                      {"ratio_max", *most}};
    json["baselines"].push_back(one);
    if (fastest != 0 && other.measured.seconds >= fastest) continue;
    fastest = other.measured.seconds;
    json.update(one);
  }
}

Json describe(const BenchArguments& arguments, const Trial& trial, const TrialResult& result) {
  const Report& report = result.report;
  const Plan& plan = report.plan;
  Json json = {{"routine", "gemm"},
               {"type", arguments.type},
               {"contract", plan.contract.text()},
               {"scheme", plan.scheme},
               {"engine", plan.engine},
               {"m", trial.m},
               {"n", trial.n},
               {"k", trial.k},
               {"transa", letter(trial.opa)},
               {"transb", letter(trial.opb)},
               {"moduli", plan.moduli},
               {"fallback", report.fallback},
               {"seconds", result.product.seconds},
               {"gflops", gflops(arguments.type, trial, result.product.seconds)},
               {"error_mean", result.product.error.mean},
               {"error_max", result.product.error.max}};
  json["baseline"] = "none";
  add_baselines(arguments, trial, result, json);
  json["stage_seconds"] = {{"statistics", report.seconds_statistics},
                           {"residues", report.seconds_residues},
                           {"products", report.seconds_products},
                           {"recombine", report.seconds_recombine}};
  if (plan.contract.kind == Contract::Kind::exact) {
    json["undecided"] = report.undecided;
    json["accumulated"] = report.accumulated;
    json["stage_seconds"]["undecided"] = report.seconds_undecided;
  }
  json["phi"] = trial.phi;
  json["seed"] = trial.seed;
  json["samples"] = result.product.error.compared;
  json["repeats"] = result.repeats;
  json["threads"] = plan.threads;
  json["pinned"] = arguments.pin;
  json["log2_bound"] = plan.log2_bound;
  json["reason"] = plan.reason;
  json["version"] = version();
  json["cpu"] = cpu_model();
  json["blas"] = trial.on_gpu ? "cuBLAS" : native_blas();
  json["device"] = trial.on_gpu ? cuda::device_name() : "cpu";
  return json;
}

void print_heading(const BenchArguments& arguments, const Console& console) {
  const double phi = arguments.trial.phi;
  fmt::print("gemm, {}, op(A) op(B) = {}{}, a_ij = (rand - 0.5) exp({} randn), seed {}{}\n", arguments.type,
             letter(arguments.ops.a), letter(arguments.ops.b), phi, arguments.trial.seed,
             arguments.pin ? ", pinned" : "");
  if (arguments.trial.on_gpu)
    fmt::print("gpu {}\nblas cuBLAS\n", cuda::device_name());
  else
    fmt::print("cpu {}\nblas {}\n", cpu_model(), native_blas());
  fmt::print("errors relative to |A||B|{}; medians of all calls\n\n",
             arguments.type.starts_with("complex") ? ", of real and imaginary parts one by one" : "");
  const std::string head = fmt::format("{:>6} {:>6} {:>6}  {:<18} {:<21} {:>3} {:>10} {:>9} {:>9} {:>9}", "m", "n", "k",
                                       "contract", "scheme/engine", "mod", "time s", "GFLOP/s", "err mean", "err max");
  const std::string rest =
      fmt::format(" | {:>12} {:>9} {:>9} | {:>6} {:>13}", "base GFLOP/s", "err mean", "err max", "ratio", "min-max");
  fmt::print("{}\n", console.strong(arguments.baseline == "none" ? head : head + rest));
}

// The same numbers as the JSON: this reads nothing else.
void print_row(const Json& j) {
  const auto real = [&](const char* key) { return j[key].get<double>(); };
  fmt::print("{:>6} {:>6} {:>6}  {:<18} {:<21} {:>3} {:>10.3e} {:>9.1f} {:>9.2e} {:>9.2e}", j["m"].get<std::int64_t>(),
             j["n"].get<std::int64_t>(), j["k"].get<std::int64_t>(), j["contract"].get<std::string>(),
             j["scheme"].get<std::string>() + "/" + j["engine"].get<std::string>(), j["moduli"].get<int>(),
             real("seconds"), real("gflops"), real("error_mean"), real("error_max"));
  if (!j.contains("baselines")) fmt::print("\n");
  for (const Json& b : j.value("baselines", Json::array())) {
    const auto of = [&](const char* key) { return b[key].get<double>(); };
    if (&b != &j["baselines"].front()) fmt::print("{:>102}", "");
    fmt::print(" | {:>12.1f} {:>9.2e} {:>9.2e} | {:>6.2f} {:>6.2f}-{:<6.2f} {}{}\n", of("baseline_gflops"),
               of("baseline_error_mean"), of("baseline_error_max"), of("ratio"), of("ratio_min"), of("ratio_max"),
               b["baseline"].get<std::string>(), b["baseline_is_the_product"].get<bool>() ? ", the same call" : "");
  }
}

template <class T>
void run_trial(const BenchArguments& arguments, const Shape& shape, const Console& console) {
  Trial trial = arguments.trial;
  trial.m = shape.m, trial.n = shape.n, trial.k = shape.k;
  trial.opa = arguments.ops.a, trial.opb = arguments.ops.b;
  trial.options = arguments.product.options<T>();
  TrialResult result;
  {
    Progress progress(console, fmt::format("{} x {} x {}", shape.m, shape.n, shape.k));
    result = measure<T>(trial, progress.callback());
  }
  const Json json = describe(arguments, trial, result);
  if (console.json) {
    print_json(json);
  } else {
    print_row(json);
  }
  std::fflush(stdout);
  std::int64_t unwritten = result.product.unwritten;
  for (const BaselineResult& other : result.baselines) unwritten += other.measured.unwritten;
  if (unwritten > 0) throw std::runtime_error(fmt::format("{} entries of C were never written", unwritten));
}

// What refuses one of the products does so before the first of them.
template <class T>
void check_trial(const BenchArguments& arguments, const Shape& s) {
  checked_bytes("op(A)", s.m, s.k, sizeof(T));
  checked_bytes("op(B)", s.k, s.n, sizeof(T));
  checked_bytes("C", s.m, s.n, sizeof(T));
  const auto& [opa, opb] = arguments.ops;
  const Options options = arguments.product.options<T>();
  if (arguments.trial.on_gpu)
    cuda::explain<T>(
        opa, opb, s.m, s.n, s.k,
        {.contract = options.contract, .engine = options.engine, .workspace_limit = options.workspace_limit});
  else
    explain<T>(opa, opb, s.m, s.n, s.k, options);
}

// Both libraries get their threads before any is pinned: those of the BLAS should inherit the whole mask.
void prepare_threads(const BenchArguments& arguments, const Console& console) {
  if (arguments.trial.on_gpu) return;
  const int threads = arguments.product.threads;
  set_native_threads(threads);
  for (const Baseline& baseline : arguments.trial.baselines) {
    if (!baseline.set_threads(threads))
      console.warning(fmt::format("{} takes no number of threads from its caller: it uses its own", baseline.name()));
    const double one = 1;
    double c = 0;
    baseline.gemm<double>({Op::none, Op::none, 1, 1, 1, &one, 1, &one, 1, &c, 1});
  }
  if (arguments.pin) pin_threads(threads > 0 ? threads : omp_get_max_threads());
}

int bench_gemm(BenchArguments& arguments, const Console& console) {
  arguments.trial.on_gpu = arguments.device == "cuda";
  if (arguments.trial.on_gpu) cuda::device_name();  // throws where there is none
  arguments.trial.baselines = baselines_of(arguments.baseline);
  if (arguments.trial.on_gpu && arguments.baseline != "native" && arguments.baseline != "none")
    throw Error(Status::invalid_argument, "--baseline with --device cuda: expected native (cuBLAS) or none");
  const std::vector<Shape> shapes = shapes_of(arguments);
  for (const Shape& shape : shapes)
    with_type(arguments.type, [&](auto t) { check_trial<decltype(t)>(arguments, shape); });
  prepare_threads(arguments, console);
  if (!console.json) print_heading(arguments, console);
  for (const Shape& shape : shapes) {
    with_type(arguments.type, [&](auto t) { run_trial<decltype(t)>(arguments, shape, console); });
  }
  return exit_ok;
}

void add_trial_options(CLI::App& command, BenchArguments& arguments) {
  const auto is_shape = [](const std::string& text) {
    return parse_shape(text) ? std::string()
                             : fmt::format("'{}' is no shape: MxNxK with sizes from 1 on is expected", text);
  };
  command.add_option("--n", arguments.sizes, "square sizes, as in 512,1024")->delimiter(',')->check(at_least(1));
  command.add_option("--shape", arguments.shapes, "m x n x k, as in 4096x4096x512")->delimiter(',')->check(is_shape);
  add_type(command, arguments.type);
  command.add_option("--device", arguments.device, "cpu, or cuda: matrices in the memory of a GPU, cuBLAS beside them")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command.add_option("--baseline", arguments.baseline,
                     "libraries to measure against, as in native,mkl,openblas=/path/libopenblas.so: native (the BLAS "
                     "underneath), mkl, openblas, blis, any path, or none");
  command.add_option("--phi", arguments.trial.phi, "width of the exponents")->check(CLI::Range(0.0, 100.0));
  command.add_option("--seed", arguments.trial.seed, "seed of the data and of the samples")->check(unsigned_number());
  command.add_option("--samples", arguments.trial.samples, "entries compared with the exact product")
      ->check(at_least(1));
  CLI::Option* repeats =
      command.add_option("--repeats", arguments.trial.repeats, "timed calls of each")->check(at_least(1));
  command.add_option("--seconds", arguments.trial.seconds, "time for both at each size; at least 5 calls are timed")
      ->check(real_number())
      ->check(positive())
      ->excludes(repeats);
  command.add_flag("--pin", arguments.pin, "pin OpenMP thread t to the t-th processor of this process");
}

}  // namespace

void add_bench(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* bench = program.add_subcommand("bench", "Speed and error on random data, against the native product.");
  bench->require_subcommand(0, 1);
  bench->footer("`vernier bench gemm --help` tells more.");
  CLI::App* command = bench->add_subcommand("gemm", "C = op(A) op(B).");
  auto arguments = std::make_shared<BenchArguments>();
  add_trial_options(*command, *arguments);
  arguments->ops.add_to(*command);
  arguments->product.add_to(*command);
  add_output_flags(*command, console);
  command->footer(
      "Seconds are medians; ratio is baseline over own, and ratio_min, ratio_max are over rounds of groups of calls\n"
      "taken in turns. Of several baselines the keys baseline_* and ratio are those of the fastest.\n\n"
      "Examples:\n  vernier bench gemm --contract fp64 --n 512,1024,2048,4096 --baseline native --json\n"
      "  vernier bench gemm --type float --shape 4096x4096x512 --repeats 11\n"
      "  vernier bench gemm --device cuda --type float --n 4096,8192\n"
      "  vernier bench gemm --type complex_double --n 2048\n"
      "  vernier bench gemm --contract fp64+reproducible --engine portable --n 512 --phi 2");
  command->callback(
      [arguments, &console, &chosen] { chosen = [arguments, &console] { return bench_gemm(*arguments, console); }; });
}

}  // namespace vernier::cli
