// vernier-level3-bench: level 3 with matrices in pageable memory of the host, by the BLAS underneath, by Vernier on the
// CPU and by Vernier on the GPU, in one process and in turns. One JSON object a line: medians of seconds, and the
// largest difference between GPU and CPU relative to the largest entry.
//
//     vernier-level3-bench --n 4096,8192 --runs 5 --threads 16
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "timing.hpp"
#include "vernier/level3.hpp"
#include "vernier/offload.hpp"

namespace {

using bench::median;
using vernier::Diag, vernier::Op, vernier::Options, vernier::Side, vernier::Uplo;
using Matrix = std::vector<double>;

constexpr Side left = Side::left;
constexpr Uplo lower = Uplo::lower;
constexpr Op none = Op::none;
constexpr Diag non_unit = Diag::non_unit;

// Threads of whoever multiplied last may still be spinning.
void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

double seconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// With a dominant diagonal, so that triangles of it are easily solved.
Matrix random_matrix(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Matrix x(static_cast<std::size_t>(n * n));
  for (double& e : x) e = uniform(random);
  for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i * (n + 1))] += static_cast<double>(n);
  return x;
}

using Routine = std::function<vernier::Report(const double* a, const double* b, double* c, const Options&)>;

std::vector<std::pair<std::string, Routine>> routines(std::int64_t n) {
  return {
      {"syrk",
       [=](auto* a, auto*, auto* c, auto& o) { return vernier::syrk<double>(lower, none, n, n, 1, a, n, 0, c, n, o); }},
      {"syr2k", [=](auto* a, auto* b, auto* c,
                    auto& o) { return vernier::syr2k<double>(lower, none, n, n, 1, a, n, b, n, 0, c, n, o); }},
      {"symm", [=](auto* a, auto* b, auto* c,
                   auto& o) { return vernier::symm<double>(left, lower, n, n, 1, a, n, b, n, 0, c, n, o); }},
      {"trmm", [=](auto* a, auto*, auto* c,
                   auto& o) { return vernier::trmm<double>(left, lower, none, non_unit, n, n, 1, a, n, c, n, o); }},
      {"trsm", [=](auto* a, auto*, auto* c,
                   auto& o) { return vernier::trsm<double>(left, lower, none, non_unit, n, n, 1, a, n, c, n, o); }},
  };
}

void measure(const std::string& name, const Routine& routine, std::int64_t n, int runs, int threads) {
  const Matrix a = random_matrix(n, 1), b = random_matrix(n, 2), start = random_matrix(n, 3);
  std::vector<std::pair<std::string, Options>> ways(3);
  ways[0] = {"native", {.engine = "native", .threads = threads}};
  ways[1] = {"cpu", {.threads = threads, .device = vernier::Device::cpu}};
  ways[2] = {"gpu", {.threads = threads, .device = vernier::Device::cuda}};
  nlohmann::ordered_json line{{"routine", name}, {"n", n}, {"threads", threads}};
  std::vector<Matrix> results;
  std::vector<std::vector<double>> seconds(ways.size());
  for (int run = 0; run <= runs; ++run)  // the first one warms up
    for (std::size_t w = 0; w < ways.size(); ++w) {
      Matrix c = start;
      vernier::Report report;
      rest();
      const double taken = seconds_of([&] { report = routine(a.data(), b.data(), c.data(), ways[w].second); });
      if (run > 0) seconds[w].push_back(taken);
      if (run == 0) results.push_back(std::move(c)), line[ways[w].first + "_reason"] = report.plan.reason;
    }
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    largest = std::max(largest, std::abs(results[1][i]));
    difference = std::max(difference, std::abs(results[1][i] - results[2][i]));
  }
  for (std::size_t w = 0; w < ways.size(); ++w) line[ways[w].first + "_seconds"] = median(seconds[w]);
  line["difference"] = difference / largest;
  std::cout << line.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::int64_t> sizes{2048, 4096, 8192};
  int runs = 5, threads = 0;
  CLI::App app{"Level 3 with matrices of the host, on the CPU and on the GPU."};
  app.add_option("--n", sizes, "Orders.")->delimiter(',')->capture_default_str();
  app.add_option("--runs", runs, "Calls of each.")->capture_default_str();
  app.add_option("--threads", threads, "0: all.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (const std::int64_t n : sizes)
    for (const auto& [name, routine] : routines(n)) measure(name, routine, n, runs, threads);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "vernier-level3-bench: " << error.what() << '\n';
  return 1;
}
