// vernier-auto-bench: does `auto` lose to the CPU? Random shapes of every routine and type, by device = cpu, by auto
// and by device = cpu once more, in turns: one JSON object a shape, with medians of seconds. `auto` and the second CPU
// are both set beside the first CPU, and where either loses 5 % both are measured again, with three times the turns: a
// shape loses where it does so twice, and how often the CPU loses to itself by the same rule is the noise. The last
// line counts both.
//
//     vernier-auto-bench --seconds 120 --seed 1 --rest 5 --routines gemm,syrk --shapes "gemm double 3895 1256 90"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
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
  std::vector<std::string> shapes;  // before the random ones
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

// One call by a device, timed; auto's calls are written down in order, in ms, those of a GPU with a g.
class Timer {
 public:
  template <class T>
  Timer(Call call, Operands<T>& x, int rest) : rest_(rest), call_(std::move(call)), restore_([&x] { x.c = x.start; }) {
    contract_ = vernier::default_contract<T>();
  }

  double operator()(Device device) {
    restore_();
    std::this_thread::sleep_for(std::chrono::milliseconds(rest_));
    const Clock::time_point start = Clock::now();
    const std::string reason = call_({.contract = contract_, .device = device});
    const double seconds = since(start);
    if (device != Device::automatic) return seconds;
    last_reason = reason;
    const bool gpu = reason.find("matrices of the host") != std::string::npos;
    on_gpu += gpu;
    char text[32];
    std::snprintf(text, sizeof text, "%s%.3g ", gpu ? "g" : "", seconds * 1e3);
    trace += text;
    return seconds;
  }

  int on_gpu = 0;
  std::string last_reason, trace;

 private:
  int rest_;
  Call call_;
  std::function<void()> restore_;
  vernier::Contract contract_;
};

// Medians of turns: CPU, auto, CPU once more.
struct Medians {
  double cpu = 0, automatic = 0, again = 0;
  std::size_t turns = 0;

  static constexpr double loss = 1.05;
  bool auto_loses() const { return automatic > loss * cpu; }
  bool cpu_loses() const { return again > loss * cpu; }
};

Medians in_turns(Timer& timer, int turns, double most_seconds) {
  constexpr Device ways[] = {Device::cpu, Device::automatic, Device::cpu};
  std::vector<double> seconds[3];
  const Clock::time_point begin = Clock::now();
  for (int turn = 0; turn < turns && (turn < 3 || since(begin) < most_seconds); ++turn)
    for (int i = 0; i < 3; ++i) {
      const int way = (i + turn) % 3;
      seconds[way].push_back(timer(ways[way]));
    }
  return {median(seconds[0]), median(seconds[1]), median(seconds[2]), seconds[0].size()};
}

struct Totals {
  int shapes = 0, on_gpu = 0, auto_once = 0, cpu_once = 0, auto_twice = 0, cpu_twice = 0;
  double cpu = 0, automatic = 0;
  std::vector<double> ratios;
};

struct Case {
  std::string routine, kind, type;
  Shape shape;
};

template <class T>
void measure(const Case& x, const Sweep& sweep, std::mt19937_64& random, Totals& totals) {
  Operands<T> operands;
  Timer timer(make_call<T>(x.routine, x.shape, operands, random), operands, sweep.rest);
  for (int i = 0; i < 3; ++i) timer(Device::cpu);
  const std::vector<T> expected = operands.c;
  const Clock::time_point begin = Clock::now();
  std::vector<double> first;  // of auto: those that look at both
  while (static_cast<int>(first.size()) < sweep.first && (first.size() < 4 || since(begin) < sweep.case_seconds / 2))
    first.push_back(timer(Device::automatic));
  timer.on_gpu = 0;
  const Medians once = in_turns(timer, sweep.turns, sweep.case_seconds / 2);
  const int on_gpu = timer.on_gpu;
  Medians twice = once;
  if (once.auto_loses() || once.cpu_loses()) twice = in_turns(timer, 3 * sweep.turns, 2 * sweep.case_seconds);
  timer(Device::automatic);
  double all = 0;
  for (const double t : first) all += t;
  const bool auto_lost = once.auto_loses() && twice.auto_loses(), cpu_lost = once.cpu_loses() && twice.cpu_loses();
  ++totals.shapes;
  totals.on_gpu += 2 * on_gpu > static_cast<int>(once.turns);
  totals.auto_once += once.auto_loses(), totals.cpu_once += once.cpu_loses();
  totals.auto_twice += auto_lost, totals.cpu_twice += cpu_lost;
  totals.cpu += once.cpu, totals.automatic += once.automatic;
  totals.ratios.push_back(once.automatic / once.cpu);
  nlohmann::ordered_json line{{"routine", x.routine},
                              {"type", x.type},
                              {"kind", x.kind},
                              {"m", x.shape.m},
                              {"n", x.shape.n},
                              {"k", x.shape.k},
                              {"cpu", once.cpu},
                              {"auto", once.automatic},
                              {"cpu_again", once.again},
                              {"auto_over_cpu", once.automatic / once.cpu},
                              {"again_over_cpu", once.again / once.cpu},
                              {"turns", once.turns},
                              {"on_gpu", on_gpu},
                              {"first_calls", first.size()},
                              {"first_seconds", all},
                              {"difference", difference(expected, operands.c)},
                              {"reason", timer.last_reason}};
  if (twice.turns != once.turns)
    line.update({{"second", {{"cpu", twice.cpu}, {"auto", twice.automatic}, {"cpu_again", twice.again}}},
                 {"auto_lost", auto_lost},
                 {"cpu_lost", cpu_lost}});
  if (timer.trace.find('g') != std::string::npos) line["trace"] = timer.trace;
  std::cout << line.dump() << std::endl;
}

void measure(const Case& x, const Sweep& sweep, std::mt19937_64& random, Totals& totals) {
  if (x.type == "float") measure<float>(x, sweep, random, totals);
  if (x.type == "double") measure<double>(x, sweep, random, totals);
  if (x.type == "complex float") measure<std::complex<float>>(x, sweep, random, totals);
  if (x.type == "complex double") measure<std::complex<double>>(x, sweep, random, totals);
}

// "gemm double 3895 1256 90", "symm complex float 500 500 500"
Case parse_case(const std::string& text) {
  std::istringstream in(text);
  Case x{.routine = "", .kind = "named", .type = "", .shape = {}};
  in >> x.routine >> x.type;
  if (std::string second; x.type == "complex" && in >> second) x.type += " " + second;
  if (!(in >> x.shape.m >> x.shape.n >> x.shape.k))
    throw std::invalid_argument("shape \"" + text + "\": expected a routine, a type, m, n and k");
  return x;
}

void run(const Sweep& sweep) {
  const Clock::time_point begin = Clock::now();
  std::mt19937_64 random(static_cast<std::uint64_t>(sweep.seed));
  const std::vector<std::string> types{"float", "double", "complex float", "complex double"};
  Totals totals;
  (void)vernier::host_link();  // what a process does once
  for (const std::string& text : sweep.shapes) measure(parse_case(text), sweep, random, totals);
  while (since(begin) < sweep.seconds) {
    const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
    Case x{.routine = random() % 2 == 0 ? "gemm" : pick(sweep.routines), .kind = pick(kinds), .type = pick(types)};
    x.shape = random_shape(x.kind, random);
    const auto [work, elements] = extent(x.routine, x.shape, x.type.size() > 6);
    if (work > sweep.most_work || elements > 1.2e7) continue;
    measure(x, sweep, random, totals);
  }
  std::cout << nlohmann::ordered_json{{"shapes", totals.shapes},
                                      {"on_gpu", totals.on_gpu},
                                      {"auto_slower_once", totals.auto_once},
                                      {"cpu_slower_once", totals.cpu_once},
                                      {"auto_slower_twice", totals.auto_twice},
                                      {"cpu_slower_twice", totals.cpu_twice},
                                      {"seconds_cpu", totals.cpu},
                                      {"seconds_auto", totals.automatic},
                                      {"median_ratio", totals.ratios.empty() ? 0 : median(totals.ratios)}}
                   .dump()
            << std::endl;
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
                                  {"--routines", &sweep.routines},
                                  {"--shapes", &sweep.shapes}},
                                 [&] { run(sweep); });
}
