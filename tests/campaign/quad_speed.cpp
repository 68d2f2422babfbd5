// Times of quadruple products, of linear systems in dd and of proved ones, beside fp64 in the same process: medians, in
// turns. Writes one JSON object.
//
//     quad_speed --n 1024,2048 --threads 2 --output bench/results/quad_speed.json
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/cpu_features.hpp"
#include "blocked_dd.hpp"
#include "program.hpp"
#include "support/quad_values.hpp"
#include "vernier/lapack.hpp"
#include "vernier/verified.hpp"

namespace vernier::test::quad_speed {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::int64_t> sizes = {256};
  int threads = 1, repetitions = 3;
  std::size_t megabytes = 0;      // of planes of quadruple products; 0: the default
  std::vector<std::string> only;  // names of calls; none: all
  std::string output, commit;
};

template <class Call>
double seconds_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

// Median seconds of each call, in turns.
Json times_of(const std::vector<std::pair<const char*, std::function<void()>>>& calls, int repetitions) {
  std::vector<std::vector<double>> seconds(calls.size());
  for (int r = 0; r <= repetitions; ++r)
    for (std::size_t c = 0; c < calls.size(); ++c) {
      const double s = seconds_of(calls[c].second);
      if (r > 0) seconds[c].push_back(s);
    }
  Json json;
  for (std::size_t c = 0; c < calls.size(); ++c) json[calls[c].first] = median(seconds[c]);
  return json;
}

// Column by column, each by a generator of its own.
template <class T>
std::vector<T> random_matrix(std::int64_t n, std::uint64_t seed, int threads) {
  std::vector<T> x(static_cast<std::size_t>(n * n));
#pragma omp parallel for num_threads(threads)
  for (std::int64_t j = 0; j < n; ++j) {
    Random r(seed << 32 | static_cast<std::uint64_t>(j));
    for (std::int64_t i = 0; i < n; ++i)
      x[static_cast<std::size_t>(i + j * n)] = random_quad(r, 0.5, static_cast<const T*>(nullptr));
  }
  return x;
}

Json measure(std::int64_t n, const Arguments& arguments) {
  const bool wide_ones =
      arguments.only.empty() || std::any_of(arguments.only.begin(), arguments.only.end(),
                                            [](const auto& name) { return name.starts_with("dd_"); });
  const auto doubles_of = [&](std::uint64_t seed) { return random_matrix<double>(n, seed, arguments.threads); };
  const auto wide_of = [&](std::uint64_t seed) {
    return random_matrix<dd>(wide_ones ? n : 0, seed, arguments.threads);
  };
  const std::vector<double> a = doubles_of(1), b = doubles_of(2);
  const std::vector<dd> wa = wide_of(3), wb = wide_of(4);
  std::vector<double> c(a.size()), low(b.size()), high(b.size());
  std::vector<dd> wc(a.size()), x(b.size());
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  QuadOptions quad;
  quad.threads = arguments.threads;
  quad.workspace_limit = arguments.megabytes << 20;
  const auto product = [&](const char* contract, const char* engine) {
    Options options{.contract = Contract::parse(contract), .engine = engine, .threads = arguments.threads};
    gemm<double>(Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n, options);
  };
  QuadReport doubles, wide;
  QuadSolveReport solved;
  VerifiedReport proved;
  Options plain{.contract = Contract::fp64(), .threads = arguments.threads};
  std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"native_fp64", [&] { product("fp64", "native"); }},
      {"fp64_reproducible", [&] { product("fp64+reproducible", ""); }},
      {"exact", [&] { product("exact", ""); }},
      {"exact_down", [&] { product("exact+down", ""); }},
      {"double_double_to_dd",
       [&] { doubles = quad_gemm(Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, 0, wc.data(), n, quad); }},
      {"dd_dd_to_dd",
       [&] { wide = quad_gemm(Op::none, Op::none, n, n, n, 1, wa.data(), n, wb.data(), n, 0, wc.data(), n, quad); }},
      {"dd_dd_by_blocked_dd_arithmetic", [&] { blocked_dd_product(n, wa, wb, wc, arguments.threads); }},
      {"dd_dd_by_blocked_dd_avx2", [&] { blocked_dd_product(n, wa, wb, wc, arguments.threads, true); }},
      {"gesv_fp64_native",
       [&] {
         std::vector<double> factors = a, right(b.begin(), b.begin() + n);
         Options native = plain;
         native.engine = "native";
         (void)gesv<double>(n, 1, factors.data(), n, pivots.data(), right.data(), n, native);
       }},
      {"quad_solve", [&] { solved = quad_solve(n, 1, a.data(), n, b.data(), n, x.data(), n, quad); }},
      {"quad_solve_verified",
       [&] {
         QuadOptions with_proof = quad;
         with_proof.verified = true;
         solved = quad_solve(n, 1, a.data(), n, b.data(), n, x.data(), n, with_proof);
       }},
      {"verified_solve",
       [&] { proved = verified_solve(n, 1, a.data(), n, b.data(), n, low.data(), high.data(), n, plain); }}};
  if (!arguments.only.empty())
    std::erase_if(calls, [&](const auto& call) {
      return std::find(arguments.only.begin(), arguments.only.end(), call.first) == arguments.only.end();
    });
  Json json = times_of(calls, arguments.repetitions);
  json["n"] = n;
  if (json.contains("dd_dd_to_dd")) {
    const double own = json["dd_dd_to_dd"];
    for (const char* peer : {"dd_dd_by_blocked_dd_arithmetic", "dd_dd_by_blocked_dd_avx2"})
      if (json.contains(peer)) json[std::string(peer) + "_to_own"] = json[peer].get<double>() / own;
    json["dd_gflops"] = 2e-9 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / own;
    json["moduli_of_doubles"] = doubles.moduli;
    json["moduli_of_dd"] = wide.moduli;
    json["looked_at_dd"] = wide.looked_at;
    json["summed_dd"] = wide.summed;
  }
  if (json.contains("gesv_fp64_native") && json.contains("verified_solve") && json.contains("quad_solve")) {
    const auto seconds = [&](const char* name) { return json[name].get<double>(); };
    json["quad_to_gesv"] = seconds("quad_solve") / seconds("gesv_fp64_native");
    json["verified_to_gesv"] = seconds("verified_solve") / seconds("gesv_fp64_native");
    json["quad_solve_ok"] = solved.ok;
    json["quad_solve_corrections"] = solved.corrections;
    json["verified"] = proved.verified;
  }
  return json;
}

void write_times(const Arguments& arguments) {
  Json json = {{"processor", processor_name()},
               {"engine", default_engine()},
               {"blas", native_blas()},
               {"version", version()},
               {"commit", arguments.commit},
               {"threads", arguments.threads},
               {"megabytes_of_planes", arguments.megabytes},
               {"unit", "seconds, medians in turns"}};
  for (const std::int64_t n : arguments.sizes) json["sizes"].push_back(measure(n, arguments));
  if (arguments.output.empty())
    std::cout << json.dump(1) << '\n';
  else
    std::ofstream(arguments.output) << json.dump(1) << '\n';
}

}  // namespace
}  // namespace vernier::test::quad_speed

int main(int count, char** words) {
  vernier::test::quad_speed::Arguments x;
  return vernier::bench::program("quad_speed", count, words,
                                 {{"--n", &x.sizes},
                                  {"--threads", &x.threads},
                                  {"--repetitions", &x.repetitions},
                                  {"--megabytes", &x.megabytes},
                                  {"--only", &x.only},
                                  {"--output", &x.output},  // none: stdout
                                  {"--commit", &x.commit}},
                                 [&] { vernier::test::quad_speed::write_times(x); });
}
