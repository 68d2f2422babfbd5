// Times of solve(), gesv() and potrf() beside LAPACK's routines in the BLAS underneath, on random matrices, uniform in
// [-1, 1). JSON on stdout; the best of several runs each, taken in turns.
//
//     solver_speed [--repeats R] [--threads T] N...
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "vernier/lapack.hpp"

namespace vernier::test::solver_speed {
namespace {

using Json = nlohmann::ordered_json;
using Gesv = void (*)(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
using Potrf = void (*)(const char*, const int*, double*, const int*, int*);

struct System {
  std::int64_t n;
  std::vector<double> a, definite, b;

  explicit System(std::int64_t order) : n(order), a(static_cast<std::size_t>(n * n)), b(static_cast<std::size_t>(n)) {
    Random random(1);
    for (double& x : a) x = 2 * random.uniform() - 1;
    for (double& x : b) x = 2 * random.uniform() - 1;
    definite = a;  // diagonally dominant
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) definite[index(i, j)] = definite[index(j, i)];
      definite[index(j, j)] = static_cast<double>(n);
    }
  }
  std::size_t index(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i + j * n); }

  // max |b - A x| / (|A| max |x| + max |b|), in long double.
  double backward_error(const std::vector<double>& x) const {
    std::vector<long double> r(b.begin(), b.end()), rows(b.size());
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const auto p = static_cast<std::size_t>(i);
        r[p] -= static_cast<long double>(a[index(i, j)]) * x[static_cast<std::size_t>(j)];
        rows[p] += std::abs(a[index(i, j)]);
      }
    const auto largest = [](const auto& v) {
      long double most = 0;
      for (const auto e : v) most = std::max(most, std::abs(static_cast<long double>(e)));
      return most;
    };
    return static_cast<double>(largest(r) / (largest(rows) * largest(x) + largest(b)));
  }
};

double seconds_of(const std::function<void()>& work) {
  // Threads of the library before fall asleep first.
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Contender {
  std::string name;
  std::function<Json(std::vector<double>& matrix, std::vector<double>& x)> run;  // what else there is to tell
  bool definite = false;
};

Json measure(const System& system, const Contender& contender, int repeats) {
  double best = std::numeric_limits<double>::infinity();
  Json details;
  std::vector<double> x;
  for (int r = 0; r < repeats; ++r) {
    std::vector<double> matrix = contender.definite ? system.definite : system.a;
    x = system.b;
    best = std::min(best, seconds_of([&] { details = contender.run(matrix, x); }));
  }
  Json out = {{"routine", contender.name}, {"n", system.n}, {"seconds", best}};
  if (!contender.definite) out["backward_error"] = system.backward_error(x);
  if (!details.is_null()) out["report"] = details;
  return out;
}

template <class Function>
Function symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

std::vector<Contender> contenders(std::int64_t n, int threads) {
  std::vector<Contender> all;
  if (const auto dgesv = symbol<Gesv>("dgesv_"))
    all.push_back({"dgesv of the BLAS underneath", [=](auto& a, auto& x) {
                     const int order = static_cast<int>(n), one = 1;
                     int info = 0;
                     std::vector<int> pivots(x.size());
                     dgesv(&order, &one, a.data(), &order, pivots.data(), x.data(), &order, &info);
                     return Json();
                   }});
  Options fp64;
  fp64.threads = threads;
  all.push_back({"gesv, fp64", [=](auto& a, auto& x) {
                   std::vector<std::int64_t> pivots(x.size());
                   (void)gesv<double>(n, 1, a.data(), n, pivots.data(), x.data(), n, fp64);
                   return Json();
                 }});
  for (const Factors factors : {Factors::automatic, Factors::fp32, Factors::fp16})
    all.push_back({std::string("solve, factors ") + to_string(factors), [=](auto& a, auto& x) {
                     SolveOptions options;
                     options.factors = factors;
                     options.products.threads = threads;
                     return Json::parse(
                         solve<double>(Op::none, n, 1, a.data(), n, x.data(), n, x.data(), n, options).json());
                   }});
  if (const auto dpotrf = symbol<Potrf>("dpotrf_"))
    all.push_back({"dpotrf of the BLAS underneath",
                   [=](auto& a, auto&) {
                     const int order = static_cast<int>(n);
                     int info = 0;
                     dpotrf("L", &order, a.data(), &order, &info);
                     return Json();
                   },
                   true});
  all.push_back({"potrf, fp64",
                 [=](auto& a, auto&) {
                   (void)potrf<double>(Uplo::lower, n, a.data(), n, fp64);
                   return Json();
                 },
                 true});
  return all;
}

int run(int argc, char** argv) {
  int repeats = 3, threads = 0;
  std::vector<std::int64_t> orders;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc)
      repeats = std::max(1, std::atoi(argv[++i]));
    else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
      threads = std::max(0, std::atoi(argv[++i]));
    else if (const std::int64_t n = std::atoll(argv[i]); n > 0 && n < (1 << 20))
      orders.push_back(n);
    else
      return std::fprintf(stderr, "usage: solver_speed [--repeats R] [--threads T] N...\n"), 2;
  }
  Json out = {{"program", "solver_speed"},
              {"version", version()},
              {"native_blas", native_blas()},
              {"engine", default_engine()},
              {"runs", Json::array()}};
  for (const std::int64_t n : orders) {
    const System system(n);
    for (const Contender& contender : contenders(n, threads))
      out["runs"].push_back(measure(system, contender, repeats));
  }
  std::printf("%s\n", out.dump(1).c_str());
  return 0;
}

}  // namespace
}  // namespace vernier::test::solver_speed

int main(int argc, char** argv) { return vernier::test::solver_speed::run(argc, argv); }
