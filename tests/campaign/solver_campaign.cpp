// Random systems of all kinds through solve(), each verdict held against the true backward error; and how far classical
// refinement and GMRES reach in the condition number. JSON on stdout; exit code 1 if a verdict is wrong.
//
//     solver_campaign [--systems N] [--seed S] [--no-conditions] [--gpu]
//
// --gpu: the same systems in the memory of a GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "families.hpp"
#include "support/conditioned.hpp"
#include "true_error.hpp"
#include "vernier/lapack.hpp"

#if VERNIER_HAS_CUDA
#include "cuda/device.hpp"
#include "vernier/cuda_lapack.hpp"
#endif

namespace vernier::test::solver_campaign {
namespace {

using Json = nlohmann::ordered_json;

bool on_gpu = false;

#if VERNIER_HAS_CUDA
template <class T>
cuda::DeviceBuffer<T> to_device(const Matrix<T>& x) {
  cuda::DeviceBuffer<T> memory(static_cast<std::size_t>(x.rows() * x.columns()));
  cuda::copy_to_device(memory.data(), x.data(), memory.bytes());
  return memory;
}

template <class T>
SolveReport solve_on_gpu(Op op, const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& x, const SolveOptions& options) {
  const auto device_a = to_device(a), device_b = to_device(b), device_x = to_device(x);
  const std::int64_t n = a.rows();
  const SolveReport report =
      cuda::solve(op, n, b.columns(), device_a.data(), n, device_b.data(), n, device_x.data(), n, options);
  cuda::check(cudaMemcpy(x.data(), device_x.data(), device_x.bytes(), cudaMemcpyDeviceToHost), "to the host");
  return report;
}
#endif

// Matrices without padding.
template <class T>
SolveReport solve_system(Op op, const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& x, const SolveOptions& options) {
#if VERNIER_HAS_CUDA
  if (on_gpu) return solve_on_gpu(op, a, b, x, options);
#endif
  const std::int64_t n = a.rows();
  return solve<T>(op, n, b.columns(), a.data(), n, b.data(), n, x.data(), n, options);
}

struct Tally {
  std::int64_t systems = 0, ok = 0, above_tolerance = 0, above_after_fallback = 0, singular = 0, refused = 0,
               fallbacks = 0, gmres = 0;
  double largest_ratio = 0;  // true backward error over the tolerance, of columns called ok
  Json wrong = Json::array();

  Json json() const {
    return {{"systems", systems},
            {"ok", ok},
            {"above_tolerance", above_tolerance},
            {"above_after_fallback", above_after_fallback},
            {"singular", singular},
            {"refused", refused},
            {"fallbacks", fallbacks},
            {"gmres", gmres},
            {"largest_ratio", largest_ratio},
            {"wrong", wrong.size()}};
  }
};

struct Case {
  const Family& family;
  std::uint64_t seed;
  Op op;
  SolveOptions options;
};

// All columns are ok; the matrix may be singular to working precision.
bool met_tolerance(const SolveReport& report) {
  return report.verdict == Verdict::ok || report.verdict == Verdict::ill_conditioned;
}

// What is wrong with the verdict; "" if nothing.
template <class T>
std::string judge(const Case& c, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& x, const SolveReport& report,
                  Tally& tally) {
  if (c.family.nonfinite) return "a matrix that is not finite was not refused";
  if (c.family.singular != (report.verdict == Verdict::singular) &&
      (c.family.singular || c.family.largest_condition < infinite))
    return "singular or not";
  if (report.verdict == Verdict::singular) {
    ++tally.singular;
    for (std::int64_t j = 0; j < x.columns(); ++j)
      for (std::int64_t i = 0; i < x.rows(); ++i)
        if (bits_of(x(i, j)) != bits_of(poison<T>())) return "X was written";
    return "";
  }
  bool all = true;
  for (std::int64_t j = 0; j < b.columns(); ++j) {
    const SolveColumn& column = report.columns[static_cast<std::size_t>(j)];
    all = all && column.ok;
    if (!column.ok) continue;
    const Solution<T> solution(c.op, a, x, b, j);
    const double error = measured_error(solution);
    tally.largest_ratio = std::max(tally.largest_ratio, error / report.tolerance);
    // Long double decides all but the close cases.
    if (error > 0.99 * report.tolerance && !holds_exactly(solution, report.tolerance)) return "ok above the tolerance";
    if (error > 0.99 * column.backward_error && !holds_exactly(solution, column.backward_error)) {
      return "backward error understated";
    }
  }
  const bool met = met_tolerance(report);
  (met ? tally.ok : tally.above_tolerance) += 1;
  if (!met && report.factors == Factors::fp64) ++tally.above_after_fallback;
  return all == met ? "" : "columns and verdict differ";
}

template <class T>
void run_case(const Case& c, std::int64_t n, std::int64_t nrhs, Random& random, Tally& tally) {
  const auto wide = c.family.make(n, random);
  // Floats that overflow or vanish would make another matrix of it.
  const auto a = Matrix<T>::of(n, n, [&](auto i, auto j) { return static_cast<T>(wide(i, j)); });
  auto b = Matrix<T>::of(n, nrhs, [&](auto, auto) { return static_cast<T>(random.scattered(0.5)); });
  if (random.integer(0, 9) == 0)
    for (std::int64_t i = 0; i < n; ++i) b(i, 0) = 0;
  Matrix<T> x(n, nrhs);
  ++tally.systems;
  std::string wrong;
  try {
    const SolveReport report = solve_system(c.op, a, b, x, c.options);
    tally.fallbacks += report.fallback ? 1 : 0;
    tally.gmres += report.gmres ? 1 : 0;
    wrong = judge(c, a, b, x, report, tally);
  } catch (const Error& error) {
    ++tally.refused;
    const bool right = c.family.nonfinite && error.status() == Status::invalid_argument;
    wrong = right && bits_of(x(0, 0)) == bits_of(poison<T>()) ? "" : error.what();
  }
  if (wrong.empty() && x.broken_guard().empty()) return;
  tally.wrong.push_back({{"what", wrong}, {"seed", c.seed}, {"n", n}, {"factors", to_string(c.options.factors)}});
  std::fprintf(stderr, "wrong: %s, seed %llu, n %lld: %s\n", c.family.name, static_cast<unsigned long long>(c.seed),
               static_cast<long long>(n), wrong.c_str());
}

void run_random_system(const std::vector<Family>& all, std::uint64_t seed, std::map<std::string, Tally>& tallies) {
  Random random(seed);
  const Family& family = all[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(all.size()) - 1))];
  const std::int64_t kind = random.integer(0, 99);
  const std::int64_t n = kind < 40   ? random.integer(1, 12)
                         : kind < 95 ? random.integer(13, 70)
                                     : random.integer(71, 240);
  const std::int64_t nrhs = random.integer(0, 3) == 0 ? random.integer(2, 12) : 1;
  Case c{family, seed, random.integer(0, 1) == 0 ? Op::none : Op::transpose, {}};
  c.options.factors = static_cast<Factors>(random.integer(0, 4));  // automatic, bf16, fp16, fp32, fp64
  c.options.refinement = static_cast<Refinement>(random.integer(0, 2));
  c.options.fallback = random.integer(0, 3) != 0;
  c.options.products.threads = 1;
  // Without the fallback, coarse factors cannot tell singular from not.
  if (family.singular) c.options.fallback = true;
  const std::string name = family.name;
  const bool extreme = name == "tiny" || name == "huge" || name == "wildly graded";
  if (random.integer(0, 4) == 0 && !extreme)
    run_case<float>(
        {family.largest_condition < 1e4 ? family
                                        : Family{family.name, infinite, family.singular, family.nonfinite, family.make},
         seed, c.op, c.options},
        n, nrhs, random, tallies[name]);
  else
    run_case<double>(c, n, nrhs, random, tallies[name]);
}

// ---- reach in the condition number ---------------------------------------------------------------------------------

// wrong: rises where a run says ok above its tolerance.
Json conditions(std::int64_t n, std::size_t& wrong) {
  Json rows = Json::array();
  for (const auto& [spectrum, name] : {std::pair{Spectrum::geometric, "geometric"}, {Spectrum::one_small, "one small"}})
    for (int exponent = 1; exponent <= 14; ++exponent) {
      const auto a = conditioned_matrix(n, std::pow(10.0, exponent), spectrum, 11);
      Random random(12);
      const auto b = Matrix<double>::of(n, 1, [&](auto, auto) { return random.normal(); });
      for (const Factors factors : {Factors::bf16, Factors::fp16, Factors::fp32})
        for (const Refinement refinement : {Refinement::classical, Refinement::gmres, Refinement::automatic}) {
          Matrix<double> x(n, 1);
          SolveOptions options;
          options.factors = factors;
          options.refinement = refinement;
          const SolveReport report = solve_system(Op::none, a, b, x, options);
          const SolveColumn& column = report.columns[0];
          const double error = measured_error(Solution<double>(Op::none, a, x, b, 0));
          if (met_tolerance(report) && error > report.tolerance) ++wrong;
          rows.push_back({{"spectrum", name},
                          {"factors", to_string(factors)},
                          {"refinement", to_string(refinement)},
                          {"log10_condition", exponent},
                          {"verdict", to_string(report.verdict)},
                          {"fallback", report.fallback},
                          {"gmres", report.gmres},
                          {"corrections", column.corrections},
                          {"gmres_steps", column.gmres_steps},
                          {"backward_error", column.backward_error},
                          {"true_backward_error", error}});
        }
    }
  return rows;
}

int run(int argc, char** argv) {
  std::int64_t systems = 12000;
  std::uint64_t seed = 1;
  bool with_conditions = true;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--systems") == 0 && has_value)
      systems = std::atoll(argv[++i]);
    else if (std::strcmp(argv[i], "--seed") == 0 && has_value)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--no-conditions") == 0)
      with_conditions = false;
    else if (std::strcmp(argv[i], "--gpu") == 0)
      on_gpu = true;
    else
      return std::fprintf(stderr, "usage: solver_campaign [--systems N] [--seed S] [--no-conditions] [--gpu]\n"), 2;
  }
#if !VERNIER_HAS_CUDA
  if (on_gpu) return std::fprintf(stderr, "solver_campaign: --gpu: built without CUDA\n"), 2;
#endif
  const std::vector<Family> all = families();
  std::map<std::string, Tally> tallies;
  for (std::int64_t i = 0; i < systems; ++i)
    run_random_system(all, seed * 1000003 + static_cast<std::uint64_t>(i), tallies);
  Json out = {{"program", "solver_campaign"}, {"version", version()}, {"native_blas", native_blas()}, {"seed", seed}};
  std::size_t wrong = 0;
  for (const auto& [name, tally] : tallies) {
    out["families"][name] = tally.json();
    wrong += tally.wrong.size();
  }
  out["systems"] = systems;
  out["gpu"] = on_gpu;
  if (with_conditions) {
    const std::int64_t n = on_gpu ? 512 : 200;
    out["conditions"] = {{"n", n}, {"rows", conditions(n, wrong)}};
  }
  out["wrong"] = wrong;
  std::printf("%s\n", out.dump(1).c_str());
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace vernier::test::solver_campaign

int main(int argc, char** argv) { return vernier::test::solver_campaign::run(argc, argv); }
