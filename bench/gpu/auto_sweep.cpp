// vernier-auto-bench: does `auto` lose to the CPU? Random shapes of every routine and type, by device = cpu, by auto
// and by device = cpu once more, in turns: one JSON object a shape, with medians of seconds. The second CPU time beside
// the first tells the noise.
//
//     vernier-auto-bench --seconds 120 --seed 1 --rest 5 --routines gemm,syrk
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
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
using vernier::Device, vernier::Options;
using Clock = std::chrono::steady_clock;

constexpr auto none = vernier::Op::none;
constexpr auto lower = vernier::Uplo::lower;
constexpr auto left = vernier::Side::left;
constexpr auto non_unit = vernier::Diag::non_unit;
constexpr std::int64_t right_hand_sides = 32;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Shape {
  std::int64_t m, n, k;
};

// Sizes between the two, each octave as likely.
std::int64_t any_size(std::mt19937_64& random, double least, double most) {
  std::uniform_real_distribution<double> octaves(std::log2(least), std::log2(most));
  return std::llround(std::exp2(octaves(random)));
}

const std::vector<std::string> kinds{"square", "tall", "thin", "small k", "small", "any"};

Shape random_shape(const std::string& kind, std::mt19937_64& random) {
  const auto size = [&](double least, double most) { return any_size(random, least, most); };
  if (kind == "square") {
    const std::int64_t n = size(200, 3500);
    return {n, n, n};
  }
  if (kind == "tall") return {size(4000, 40000), size(16, 200), size(16, 200)};
  if (kind == "thin") return {size(16, 300), size(16, 300), size(4000, 40000)};
  if (kind == "small k") return {size(500, 4000), size(500, 4000), size(4, 128)};
  if (kind == "small") return {size(4, 200), size(4, 200), size(4, 200)};
  return {size(32, 4000), size(32, 4000), size(32, 4000)};
}

// Read, read, and written from a copy of its own.
template <class T>
struct Operands {
  std::vector<T> a, b, start, c;
};

// Dominant on the diagonal of the first `order` columns, so that triangles are easily solved.
template <class T>
std::vector<T> random_matrix(std::int64_t rows, std::int64_t columns, std::int64_t order, std::mt19937_64& random) {
  std::vector<T> x(static_cast<std::size_t>(rows * columns));
  std::uint64_t state = random();
  for (T& e : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    e = T(static_cast<float>(static_cast<double>(state >> 11) * 0x1p-53 - 0.5));
  }
  for (std::int64_t i = 0; i < order; ++i) x[static_cast<std::size_t>(i * (rows + 1))] = T(static_cast<float>(order));
  return x;
}

// Where it was made, as its report says; "" of routines that report nothing.
using Call = std::function<std::string(const Options&)>;

template <class T>
Call make_call(const std::string& routine, Shape s, Operands<T>& x, std::mt19937_64& random) {
  const auto [m, n, k] = s;
  const auto reason = [](const vernier::Report& report) { return report.plan.reason; };
  const auto done = [](std::int64_t info) {
    return info == 0 ? std::string{} : throw std::runtime_error("a factorisation failed");
  };
  const auto with = [&](std::int64_t a_rows, std::int64_t a_columns, std::int64_t order, std::int64_t c_rows,
                        std::int64_t c_columns, bool dominant) {
    x.a = random_matrix<T>(a_rows, a_columns, order, random);
    x.start = random_matrix<T>(c_rows, c_columns, dominant ? order : 0, random);
    x.c = x.start;
  };
  if (routine == "gemm") {
    with(m, k, 0, m, n, false);
    x.b = random_matrix<T>(k, n, 0, random);
    return [=, &x](auto& o) {
      return reason(vernier::gemm<T>(none, none, m, n, k, T(1), x.a.data(), m, x.b.data(), k, T(0), x.c.data(), m, o));
    };
  }
  if (routine == "syrk") {
    with(n, k, 0, n, n, false);
    return [=, &x](auto& o) {
      return reason(vernier::syrk<T>(lower, none, n, k, T(1), x.a.data(), n, T(0), x.c.data(), n, o));
    };
  }
  if (routine == "syr2k") {
    with(n, k, 0, n, n, false);
    x.b = random_matrix<T>(n, k, 0, random);
    return [=, &x](auto& o) {
      return reason(vernier::syr2k<T>(lower, none, n, k, T(1), x.a.data(), n, x.b.data(), n, T(0), x.c.data(), n, o));
    };
  }
  if (routine == "symm") {
    with(m, m, m, m, n, false);
    x.b = random_matrix<T>(m, n, 0, random);
    return [=, &x](auto& o) {
      return reason(vernier::symm<T>(left, lower, m, n, T(1), x.a.data(), m, x.b.data(), m, T(0), x.c.data(), m, o));
    };
  }
  if (routine == "trmm" || routine == "trsm") {
    with(m, m, m, m, n, false);
    return [=, &x](auto& o) {
      return reason((routine == "trmm" ? vernier::trmm<T> : vernier::trsm<T>)(left, lower, none, non_unit, m, n, T(1),
                                                                              x.a.data(), m, x.c.data(), m, o));
    };
  }
  if (routine == "getrf") {
    with(1, 1, 0, m, m, false);
    return [=, &x](auto& o) {
      std::vector<std::int64_t> pivots(static_cast<std::size_t>(m));
      return done(vernier::getrf<T>(m, m, x.c.data(), m, pivots.data(), o));
    };
  }
  if (routine == "potrf") {
    with(m, m, m, m, m, false);
    x.start = x.c = x.a;
    return [=, &x](auto& o) { return done(vernier::potrf<T>(lower, m, x.c.data(), m, o)); };
  }
  with(m, m, m, m, right_hand_sides, false);
  return [=, &x](auto& o) {
    return vernier::solve<T>(none, m, right_hand_sides, x.a.data(), m, x.c.data(), m, x.c.data(), m, {.products = o})
        .reason;
  };
}

struct Sweep {
  double seconds = 120, case_seconds = 0.7, most_work = 5e10;
  int seed = 1, rest = 5, first = 12, turns = 15;
  std::vector<std::string> routines{"gemm", "syrk", "syr2k", "symm", "trmm", "trsm", "getrf", "potrf", "solve"};
};

// Operations of a product of reals, and elements of the largest matrix.
std::pair<double, double> extent(const std::string& routine, Shape s, bool is_complex) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double times = is_complex ? 8 : 2;
  if (routine == "gemm") return {times * m * n * k, std::max({m * n, m * k, k * n})};
  if (routine == "syrk" || routine == "syr2k") return {times * n * n * k, std::max(n * n, n * k)};
  if (routine == "symm" || routine == "trmm" || routine == "trsm") return {times * m * m * n, std::max(m * m, m * n)};
  return {times * m * m * m / 2, m * m};
}

// Relative to the largest element.
template <class T>
double difference(const std::vector<T>& x, const std::vector<T>& y) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max<double>(largest, std::abs(x[i]));
    const double d = std::abs(x[i] - y[i]);
    apart = d <= apart ? apart : d;  // a NaN stays
  }
  return apart / largest;
}

template <class T>
void measure(const std::string& routine, const std::string& kind, const std::string& type, Shape s, const Sweep& sweep,
             std::mt19937_64& random) {
  Operands<T> x;
  const Call call = make_call<T>(routine, s, x, random);
  std::string where;
  const auto timed = [&](Device device) {
    x.c = x.start;
    std::this_thread::sleep_for(std::chrono::milliseconds(sweep.rest));
    const Clock::time_point start = Clock::now();
    where = call({.contract = vernier::default_contract<T>(), .device = device});
    return since(start);
  };
  for (int i = 0; i < 3; ++i) timed(Device::cpu);
  const std::vector<T> expected = x.c;
  const Clock::time_point begin = Clock::now();
  std::vector<double> first;  // of auto: those that look at both
  while (static_cast<int>(first.size()) < sweep.first && (first.size() < 4 || since(begin) < sweep.case_seconds / 2))
    first.push_back(timed(Device::automatic));
  constexpr Device ways[] = {Device::cpu, Device::automatic, Device::cpu};
  std::vector<double> seconds[3];
  int on_gpu = 0;
  std::string reason;  // of auto
  for (int turn = 0; turn < sweep.turns && (turn < 3 || since(begin) < sweep.case_seconds); ++turn)
    for (int i = 0; i < 3; ++i) {
      const int way = (i + turn) % 3;
      seconds[way].push_back(timed(ways[way]));
      if (ways[way] != Device::automatic) continue;
      reason = where;
      on_gpu += where.find("matrices of the host") != std::string::npos;
    }
  timed(Device::automatic);
  const double apart = difference(expected, x.c);
  double all = 0;
  for (const double t : first) all += t;
  const double cpu = median(seconds[0]), again = median(seconds[2]), automatic = median(seconds[1]);
  std::cout << nlohmann::ordered_json{{"routine", routine},
                                      {"type", type},
                                      {"kind", kind},
                                      {"m", s.m},
                                      {"n", s.n},
                                      {"k", s.k},
                                      {"cpu", cpu},
                                      {"cpu_again", again},
                                      {"auto", automatic},
                                      {"auto_over_cpu", automatic / std::min(cpu, again)},
                                      {"noise", again / cpu},
                                      {"on_gpu", on_gpu},
                                      {"turns", seconds[0].size()},
                                      {"first_calls", first.size()},
                                      {"first_call", first[0]},
                                      {"first_seconds", all},
                                      {"difference", apart},
                                      {"reason", reason}}
                   .dump()
            << std::endl;
}

void run(const Sweep& sweep) {
  const Clock::time_point begin = Clock::now();
  std::mt19937_64 random(static_cast<std::uint64_t>(sweep.seed));
  const std::vector<std::string> types{"float", "double", "complex float", "complex double"};
  while (since(begin) < sweep.seconds) {
    const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
    const std::string routine = random() % 2 == 0 ? "gemm" : pick(sweep.routines), kind = pick(kinds),
                      type = pick(types);
    const Shape s = random_shape(kind, random);
    const auto [work, elements] = extent(routine, s, type.size() > 6);
    if (work > sweep.most_work || elements > 1.2e7) continue;
    if (type == "float") measure<float>(routine, kind, type, s, sweep, random);
    if (type == "double") measure<double>(routine, kind, type, s, sweep, random);
    if (type == "complex float") measure<std::complex<float>>(routine, kind, type, s, sweep, random);
    if (type == "complex double") measure<std::complex<double>>(routine, kind, type, s, sweep, random);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Sweep sweep;
  return vernier::bench::program("vernier-auto-bench", argc, argv,
                                 {{"--seconds", &sweep.seconds},
                                  {"--case-seconds", &sweep.case_seconds},
                                  {"--most-work", &sweep.most_work},
                                  {"--seed", &sweep.seed},
                                  {"--rest", &sweep.rest},
                                  {"--first", &sweep.first},
                                  {"--turns", &sweep.turns},
                                  {"--routines", &sweep.routines}},
                                 [&] { run(sweep); });
}
