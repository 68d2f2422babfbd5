// What a program meets when memory fails, when threads multiply side by side, and when it forks: counted, as JSON.
//
//   reliability [--seconds S] [--forks N]
//
// 1. Memory is refused at every site of every routine and type of the C interface, and of what C++ has beyond it. The
//    output is as it was with an error, or complete with success.
// 2. Eight threads multiply for S seconds: one hash.
// 3. Meanwhile the process forks N times, at moments that nothing chooses; each child multiplies: the same hash.
//
// A child that takes 60 seconds has hung, and so has a parent whose next child takes 180; it says where and exits
// with 3.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "refused_calls.hpp"
#include "support/refused_memory.hpp"
#include "vernier/vernier.h"

#if VERNIER_REFUSES_MEMORY

namespace vernier::test::reliability {
namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::vector<unsigned char>;

constexpr std::int64_t order = 72;  // more than one block on the diagonal

// Small integers in place of real and imaginary parts.
template <class R>
Bytes matrix(std::int64_t parts, unsigned seed) {
  Bytes bytes(static_cast<std::size_t>(order * order * parts) * sizeof(R));
  unsigned state = seed;
  for (std::size_t i = 0; i < bytes.size() / sizeof(R); ++i) {
    state = state * 1664525u + 1013904223u;
    const R x = static_cast<R>(static_cast<int>(state >> 28) - 8);
    std::memcpy(bytes.data() + i * sizeof(R), &x, sizeof(R));
  }
  return bytes;
}

Bytes matrix_of(vernier_type type, unsigned seed) {
  switch (type) {
    case VERNIER_S:
      return matrix<float>(1, seed);
    case VERNIER_C:
      return matrix<float>(2, seed);
    case VERNIER_Z:
      return matrix<double>(2, seed);
    default:
      return matrix<double>(1, seed);
  }
}

struct Arguments {
  vernier_handle handle;
  vernier_type type;
  const void *one, *a, *b;
  void* c;
};

struct Routine {
  const char* name;
  std::function<vernier_status(const Arguments&)> run;
};

constexpr auto n = order;
constexpr auto none = static_cast<vernier_op>('N');
constexpr auto left = static_cast<vernier_side>('L');
constexpr auto lower = static_cast<vernier_uplo>('L');
constexpr auto unit = static_cast<vernier_diag>('U');

std::vector<Routine> routines() {
  return {
      {"gemm",
       [](const Arguments& x) {
         return vernier_gemm(x.handle, x.type, none, none, n, n, n, x.one, x.a, n, x.b, n, x.one, x.c, n);
       }},
      {"symm",
       [](const Arguments& x) {
         return vernier_symm(x.handle, x.type, left, lower, n, n, x.one, x.a, n, x.b, n, x.one, x.c, n);
       }},
      {"hemm",
       [](const Arguments& x) {
         return vernier_hemm(x.handle, x.type, left, lower, n, n, x.one, x.a, n, x.b, n, x.one, x.c, n);
       }},
      {"gemmt",
       [](const Arguments& x) {
         return vernier_gemmt(x.handle, x.type, lower, none, none, n, n, x.one, x.a, n, x.b, n, x.one, x.c, n);
       }},
      {"syrk",
       [](const Arguments& x) {
         return vernier_syrk(x.handle, x.type, lower, none, n, n, x.one, x.a, n, x.one, x.c, n);
       }},
      {"herk",
       [](const Arguments& x) {
         return vernier_herk(x.handle, x.type, lower, none, n, n, x.one, x.a, n, x.one, x.c, n);
       }},
      {"syr2k",
       [](const Arguments& x) {
         return vernier_syr2k(x.handle, x.type, lower, none, n, n, x.one, x.a, n, x.b, n, x.one, x.c, n);
       }},
      {"her2k",
       [](const Arguments& x) {
         return vernier_her2k(x.handle, x.type, lower, none, n, n, x.one, x.a, n, x.b, n, x.one, x.c, n);
       }},
      {"trmm",
       [](const Arguments& x) {
         return vernier_trmm(x.handle, x.type, left, lower, none, unit, n, n, x.one, x.a, n, x.c, n);
       }},
      {"trsm",
       [](const Arguments& x) {
         return vernier_trsm(x.handle, x.type, left, lower, none, unit, n, n, x.one, x.a, n, x.c, n);
       }},
  };
}

constexpr double one_and_nothing[] = {1, 0};
constexpr float float_one_and_nothing[] = {1, 0};

struct Failures {
  std::int64_t refused = 0, untouched = 0, complete = 0, wrong = 0;
};

void refuse_in(const Routine& routine, vernier_type type, Failures& counts) {
  const bool single = type == VERNIER_S || type == VERNIER_C;
  const Bytes a = matrix_of(type, 1), b = matrix_of(type, 2), before = matrix_of(type, 3);
  Bytes c = before, expected = before;
  vernier_handle handle = nullptr;
  if (vernier_create(&handle) != VERNIER_SUCCESS ||
      vernier_set_contract(handle, single ? "fp32+reproducible" : "fp64+reproducible") != VERNIER_SUCCESS)
    throw std::runtime_error("no handle");
  const void* one = single ? static_cast<const void*>(float_one_and_nothing) : one_and_nothing;
  if (routine.run({handle, type, one, a.data(), b.data(), expected.data()}) != VERNIER_SUCCESS)
    throw std::runtime_error(std::string(routine.name) + ": " + vernier_last_error(handle));
  const auto call = [&] {
    const vernier_status status = routine.run({handle, type, one, a.data(), b.data(), c.data()});
    if (status == VERNIER_OUT_OF_MEMORY) throw std::bad_alloc();
    if (status != VERNIER_SUCCESS) ++counts.wrong;
  };
  const int sites = refuse_every_site([&] { c = before; }, call,
                                      [&](bool done) {
                                        ++(done ? counts.complete : counts.untouched);
                                        if (c != (done ? expected : before)) ++counts.wrong;
                                      });
  counts.refused += sites;
  vernier_destroy(handle);
}

// Which of the parts of an output are neither as they were nor complete.
std::int64_t wrong_parts(const std::vector<double>& out, const std::vector<double>& before,
                         const std::vector<double>& complete, std::size_t parts) {
  const std::size_t bytes = out.size() / parts * sizeof(double);
  std::int64_t wrong = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t first = p * out.size() / parts;
    const auto same = [&](const std::vector<double>& x) { return std::memcmp(&out[first], &x[first], bytes) == 0; };
    wrong += same(before) || same(complete) ? 0 : 1;
  }
  return wrong;
}

void refuse_in(const RefusedCall& call, Failures& counts) {
  const Bytes integers = matrix_of(VERNIER_D, 3);
  std::vector<double> before(refused_doubles);
  for (std::size_t i = 0; i < before.size(); ++i)
    std::memcpy(&before[i], integers.data() + i % (order * order) * sizeof(double), sizeof(double));
  for (std::int64_t i = 0; i < order; ++i) before[static_cast<std::size_t>(2 * i * (order + 1))] = 4096;
  std::vector<double> out = before, complete = before;
  vernier_handle handle = nullptr;
  if (vernier_create(&handle) != VERNIER_SUCCESS || vernier_set_threads(handle, 2) != VERNIER_SUCCESS ||
      vernier_set_contract(handle, "fp64+reproducible") != VERNIER_SUCCESS)
    throw std::runtime_error("no handle");
  if (call.run(handle, complete.data()) != VERNIER_SUCCESS)
    throw std::runtime_error(std::string(call.name) + ": " + vernier_last_error(handle));
  const std::int64_t wrong_before = counts.wrong;
  const auto body = [&] {
    const vernier_status status = call.run(handle, out.data());
    if (status == VERNIER_OUT_OF_MEMORY) throw std::bad_alloc();
    if (status != VERNIER_SUCCESS) ++counts.wrong;
  };
  const auto judge = [&](bool done) {
    ++(done ? counts.complete : counts.untouched);
    const bool good = done ? wrong_parts(out, complete, complete, 1) == 0
                           : wrong_parts(out, before, call.parts == 1 ? before : complete, call.parts) == 0;
    counts.wrong += good ? 0 : 1;
  };
  const int sites = refuse_every_site([&] { out = before; }, body, judge);
  counts.refused += sites;
  if (counts.wrong > wrong_before)
    std::fprintf(stderr, "reliability: %s: %lld of %d refusals left something between\n", call.name,
                 static_cast<long long>(counts.wrong - wrong_before), sites);
  vernier_destroy(handle);
}

Json allocation_failures() {
  Failures counts;
  for (const RefusedCall& call : refused_calls()) refuse_in(call, counts);
  for (const vernier_type type : {VERNIER_S, VERNIER_D, VERNIER_C, VERNIER_Z})
    for (const Routine& routine : routines()) refuse_in(routine, type, counts);
  return {{"refused", counts.refused},
          {"untouched with an error", counts.untouched},
          {"complete with success", counts.complete},
          {"neither", counts.wrong}};
}

std::size_t hash_of_a_product(int threads) {
  const Bytes a = matrix_of(VERNIER_D, 1), b = matrix_of(VERNIER_D, 2);
  std::vector<double> c(static_cast<std::size_t>(n * n));
  Options options{.contract = Contract::parse("fp64+reproducible"), .threads = threads};
  gemm(Op::none, Op::none, n, n, n, 1.0, reinterpret_cast<const double*>(a.data()), n,
       reinterpret_cast<const double*>(b.data()), n, 0.0, c.data(), n, options);
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(c.data()), c.size() * sizeof(double)});
}

constexpr unsigned child_seconds = 60, parent_seconds = 180;

volatile std::sig_atomic_t current_fork = 0;

// From here on the parent must call again within parent_seconds, or the campaign ends.
void watch_parent() {
  std::signal(SIGALRM, [](int) {
    char message[80];
    const int bytes =
        std::snprintf(message, sizeof message, "reliability: hung at fork %d\n", static_cast<int>(current_fork));
    if (write(STDERR_FILENO, message, static_cast<std::size_t>(bytes)) < 0) _exit(4);
    _exit(3);
  });
  alarm(parent_seconds);
}

struct Children {
  std::int64_t right = 0, hung = 0, wrong = 0;
  double slowest = 0;  // seconds
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void fork_once(std::size_t expected, Children& children) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t id = fork();
  if (id == 0) {
    std::signal(SIGALRM, SIG_DFL);
    alarm(child_seconds);
    _exit(hash_of_a_product(0) == expected ? 0 : 1);
  }
  int status = -1;
  const bool ended = id > 0 && waitpid(id, &status, 0) == id;
  if (ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    ++children.hung;
  else if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    ++children.right;
  else
    ++children.wrong;
  children.slowest = std::max(children.slowest, seconds_since(start));
}

// Says every thousand how far it is: a slow machine and a hang look alike from outside.
Children fork_often(std::size_t expected, int forks) {
  Children children;
  for (int i = 0; i < forks; ++i) {
    current_fork = i;
    watch_parent();
    fork_once(expected, children);
    if ((i + 1) % 1000 == 0) std::fprintf(stderr, "reliability: %d children\n", i + 1);
  }
  alarm(0);
  return children;
}

Json threads_and_forks(double seconds, int forks) {
  constexpr int thread_count = 8;
  const std::size_t expected = hash_of_a_product(1);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> products{0}, others{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      while (!stop) {
        if (hash_of_a_product(1 + t % 2) != expected) ++others;
        ++products;
      }
    });
  const auto start = std::chrono::steady_clock::now();
  const Children children = fork_often(expected, forks);
  const double forking = seconds_since(start);
  while (seconds_since(start) < seconds) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return {{"threads", thread_count},
          {"seconds", seconds_since(start)},
          {"products", products.load()},
          {"other hashes", others.load()},
          {"forks", forks},
          {"seconds of forking", forking},
          {"slowest child, seconds", children.slowest},
          {"children that multiply right", children.right},
          {"children that hang", children.hung},
          {"children that err", children.wrong}};
}

int run(int argc, char** argv) {
  double seconds = 10;
  int forks = 200;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::strtod(argv[i + 1], nullptr);
    if (std::strcmp(argv[i], "--forks") == 0) forks = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
  }
  const Json forked = threads_and_forks(seconds, forks), memory = allocation_failures();
  std::puts(Json{{"memory", memory}, {"threads and forks", forked}}.dump(2).c_str());
  return memory["neither"] == 0 && forked["other hashes"] == 0 && forked["children that multiply right"] == forks ? 0
                                                                                                                  : 1;
}

}  // namespace
}  // namespace vernier::test::reliability

int main(int argc, char** argv) { return vernier::test::reliability::run(argc, argv); }

#else

int main() { return 77; }  // sanitizers have their own operators: skipped

#endif
