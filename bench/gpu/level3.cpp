// vernier-level3-bench: level 3, LU, Cholesky and solutions with matrices in pageable memory of the host, by the BLAS
// underneath or by a LAPACK, by Vernier on the CPU and by Vernier on the GPU, in one process and in turns. One JSON
// object a line: medians of seconds, and the largest difference between GPU and CPU relative to the largest entry.
//
//     vernier-level3-bench --n 4096,8192 --runs 5 --threads 16 --lapack libopenblas.so.0
//     vernier-level3-bench --lapack libscipy_openblas64_.so --prefix scipy_ --suffix _64_
#include <dlfcn.h>

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

#include "program.hpp"
#include "timing.hpp"
#include "vernier/lapack.hpp"
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
constexpr std::int64_t right_hand_sides = 64;

// Threads of whoever multiplied last may still be spinning.
void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

double seconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// With a dominant diagonal, so that triangles of it are easily solved and its lower triangle is that of a positive
// definite matrix.
Matrix random_matrix(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Matrix x(static_cast<std::size_t>(n * n));
  for (double& e : x) e = uniform(random);
  for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i * (n + 1))] += static_cast<double>(n);
  return x;
}

// LAPACK's Fortran routines in a library. Integers are passed as 64 bits, whose lower half is what 32 bits would hold;
// pivots have room for both.
class Lapack {
 public:
  Lapack(const std::string& library, std::string prefix, std::string suffix)
      : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)),
        prefix_(std::move(prefix)),
        suffix_(std::move(suffix)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }

  void getrf(std::int64_t n, double* a) const {
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    call<void(const std::int64_t*, const std::int64_t*, double*, const std::int64_t*, std::int64_t*, std::int64_t*)>(
        "dgetrf", &n, &n, a, &n, pivots.data());
  }
  void potrf(std::int64_t n, double* a) const {
    call<void(const char*, const std::int64_t*, double*, const std::int64_t*, std::int64_t*)>("dpotrf", "L", &n, a, &n);
  }
  void gesv(std::int64_t n, double* a, double* b) const {
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    call<void(const std::int64_t*, const std::int64_t*, double*, const std::int64_t*, std::int64_t*, double*,
              const std::int64_t*, std::int64_t*)>("dgesv", &n, &right_hand_sides, a, &n, pivots.data(), b, &n);
  }

 private:
  template <class Function, class... Arguments>
  void call(const std::string& name, Arguments... arguments) const {
    const std::string symbol = prefix_ + name + suffix_;
    auto* function = reinterpret_cast<Function*>(dlsym(handle_, symbol.c_str()));
    if (function == nullptr) throw std::runtime_error(symbol + ": not found");
    std::int64_t info = 0;
    function(arguments..., &info);
    if (info != 0) throw std::runtime_error(symbol + ": info is not 0");
  }

  void* handle_;
  std::string prefix_, suffix_;
};

// A and B are read, C is what is judged. The library's routine: none where it is Vernier's with the BLAS underneath.
struct Routine {
  std::string name;
  std::function<std::string(const double* a, const double* b, double* c, const Options&)> vernier;  // the reason
  std::function<void(const double* a, const double* b, double* c)> library = {};
};

std::vector<Routine> level3_routines(std::int64_t n) {
  const auto reason = [](const vernier::Report& report) { return report.plan.reason; };
  return {
      {"syrk", [=](auto* a, auto*, auto* c,
                   auto& o) { return reason(vernier::syrk<double>(lower, none, n, n, 1, a, n, 0, c, n, o)); }},
      {"syr2k", [=](auto* a, auto* b, auto* c,
                    auto& o) { return reason(vernier::syr2k<double>(lower, none, n, n, 1, a, n, b, n, 0, c, n, o)); }},
      {"symm", [=](auto* a, auto* b, auto* c,
                   auto& o) { return reason(vernier::symm<double>(left, lower, n, n, 1, a, n, b, n, 0, c, n, o)); }},
      {"trmm",
       [=](auto* a, auto*, auto* c, auto& o) {
         return reason(vernier::trmm<double>(left, lower, none, non_unit, n, n, 1, a, n, c, n, o));
       }},
      {"trsm",
       [=](auto* a, auto*, auto* c, auto& o) {
         return reason(vernier::trsm<double>(left, lower, none, non_unit, n, n, 1, a, n, c, n, o));
       }},
  };
}

// C begins as a copy that is factored, or as right-hand sides; a copy of A is part of a solution's time everywhere.
std::vector<Routine> factor_routines(std::int64_t n, const Lapack& lapack) {
  const auto expect = [](std::int64_t info) {
    return info == 0 ? std::string{} : throw std::runtime_error("info is not 0");
  };
  const auto solve = [=](const double* a, const double*, double* c, const Options& o) {
    return vernier::solve<double>(none, n, right_hand_sides, a, n, c, n, c, n, {.products = o}).reason;
  };
  return {
      {"getrf",
       [=](auto*, auto*, auto* c, auto& o) {
         std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
         return expect(vernier::getrf<double>(n, n, c, n, pivots.data(), o));
       },
       [=, &lapack](auto*, auto*, auto* c) { lapack.getrf(n, c); }},
      {"potrf", [=](auto*, auto*, auto* c, auto& o) { return expect(vernier::potrf<double>(lower, n, c, n, o)); },
       [=, &lapack](auto*, auto*, auto* c) { lapack.potrf(n, c); }},
      {"solve", solve,
       [=, &lapack](auto* a, auto*, auto* c) {
         Matrix factors(a, a + n * n);
         lapack.gesv(n, factors.data(), c);
       }},
  };
}

void measure(const Routine& routine, std::int64_t n, int runs, int threads) {
  const Matrix a = random_matrix(n, 1), b = random_matrix(n, 2), start = random_matrix(n, 3);
  std::vector<std::pair<std::string, Options>> ways(3);
  ways[0] = {"native", {.engine = "native", .threads = threads}};
  ways[1] = {"cpu", {.threads = threads, .device = vernier::Device::cpu}};
  ways[2] = {"gpu", {.threads = threads, .device = vernier::Device::cuda}};
  nlohmann::ordered_json line{{"routine", routine.name}, {"n", n}, {"threads", threads}};
  std::vector<Matrix> results;
  std::vector<std::vector<double>> seconds(ways.size());
  for (int run = 0; run <= runs; ++run)  // the first one warms up
    for (std::size_t w = 0; w < ways.size(); ++w) {
      Matrix c = start;
      std::string reason;
      rest();
      const double taken = seconds_of([&] {
        if (w == 0 && routine.library)
          routine.library(a.data(), b.data(), c.data());
        else
          reason = routine.vernier(a.data(), b.data(), c.data(), ways[w].second);
      });
      if (run > 0) seconds[w].push_back(taken);
      if (run == 0) results.push_back(std::move(c)), line[ways[w].first + "_reason"] = reason;
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

int main(int argc, char** argv) {
  std::vector<std::int64_t> sizes{2048, 4096, 8192};
  int runs = 5;
  std::int64_t threads = 0;
  std::string library = "libopenblas.so.0", prefix, suffix = "_";
  std::vector<std::string> only;
  const std::vector<vernier::bench::ProgramOption> options = {{"--n", &sizes},         {"--runs", &runs},
                                                              {"--threads", &threads},  // 0: all
                                                              {"--routines", &only},    // syrk, getrf, ...; none: all
                                                              {"--lapack", &library},   // factors and solves
                                                              {"--prefix", &prefix},    // before its symbols
                                                              {"--suffix", &suffix}};   // behind them
  return vernier::bench::program("vernier-level3-bench", argc, argv, options, [&] {
    const Lapack lapack(library, prefix, suffix);
    for (const std::int64_t n : sizes) {
      std::vector<Routine> routines = level3_routines(n);
      for (Routine& routine : factor_routines(n, lapack)) routines.push_back(std::move(routine));
      for (const Routine& routine : routines)
        if (only.empty() || std::find(only.begin(), only.end(), routine.name) != only.end())
          measure(routine, n, runs, static_cast<int>(threads));
    }
  });
}
