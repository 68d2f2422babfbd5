// vernier-never-slower: is the default slower than the BLAS underneath? Random shapes, types and numbers of threads:
// the default, the BLAS and the BLAS once more, in turns of every order, one JSON object a line. The default is called
// beforehand until its method stays the same: what is timed is what a program has that makes such products again and
// again; `looks` counts the calls that this took. A call initialises its Report, as in README.md.
//
// A round gives the ratio of the default's time to the BLAS's, and of the BLAS's to its own. The median of the ratios
// lies between two of them with 99 % certainty, whatever their distribution; rounds go on until this interval leaves
// 0.95 out: "holds" or "loses", or until there were 400, or 8 in 4 seconds, or they took 12: "open". The same question
// asked of the BLAS beside itself, of as many rounds, is `itself`: what the host does to any comparison. A case that
// gains, or is equal on a quiet host, holds sooner: as soon as Student's interval of the mean of the ratios' logarithms
// lies above 0.95 with 99.5 % certainty, after three rounds at least, or Wilcoxon's of their centre with 99.9 %. Rounds
// of calls that all go natively are brief, so that what neighbours do meets all kinds alike. Where another method
// gained a quarter in each round, the next ones are brief too and ask the BLAS once. The last line counts.
//
//     vernier-never-slower --seconds 120 --threads 1,2,4,8,16 --shapes 300 --seed 1 --types double,float
//
// --skip 500: what came before was measured by earlier runs of the same seed; --every 4: the first case of each four of
// the others. Cases that lose are asked once more at the end, `again`: a busy moment does not lose twice.
//
// --shape 426,167,66: this one alone, of each type and number of threads.
// --engines amx,amx_bf16: these are timed in the same turns, as what the default might have taken. --trace: seconds of
// all calls are told. --patience 15: 15 and 45 in place of 4 and 12 seconds. --own-time: of one thread what it had of
// its processor counts, whoever else was there.
#include <cblas.h>
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "program.hpp"
#include "slower.hpp"
#include "vernier/vernier.hpp"

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using vernier::Op, vernier::Options, vernier::Report;
using namespace vernier::bench;

double patience = 4;  // seconds
bool own_time = false;
// A method stays: for as many calls, or for fewer when all took as many seconds; the last is the most that is waited.
constexpr int settled = 40, settled_slow = 4, fewest_calls = 6;
constexpr double slow_settling = 0.08, longest_settling = 0.4;
// Seconds of calls of one kind in a row.
constexpr double group_time = 0.006, gaining_group_time = 0.002, native_group_time = 0.0006;
constexpr double long_call = 0.012, clear_gain = 1.25;
constexpr int fewest_rounds = 8, most_rounds = 400;
constexpr double brief_rounds = 0.05;  // seconds; all orders where they fit into it

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Shape {
  std::int64_t m, n, k;
};

struct Case {
  std::string type;
  int threads;
  Shape shape;
};

void set_native_threads(int threads) {
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"})
    if (void* symbol = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<void (*)(int)>(symbol)(threads);
}

template <class T>
void native(const Shape& s, const T* a, const T* b, T* c) {
  const auto as_int = [](std::int64_t x) { return static_cast<int>(x); };
  const auto with = [&](auto gemm, auto one, auto zero) {
    gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, as_int(s.m), as_int(s.n), as_int(s.k), one, a, as_int(s.m), b,
         as_int(s.k), zero, c, as_int(s.m));
  };
  const T one = 1, zero = 0;
  if constexpr (std::is_same_v<T, float>)
    with(cblas_sgemm, one, zero);
  else if constexpr (std::is_same_v<T, double>)
    with(cblas_dgemm, one, zero);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    with(cblas_cgemm, &one, &zero);
  else
    with(cblas_zgemm, &one, &zero);
}

// The same numbers again and again: of a prime count, so that no two vectors agree.
const std::vector<double>& numbers() {
  static const std::vector<double> all = [] {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-0.5, 0.5);
    std::normal_distribution<double> normal;
    std::vector<double> x(131071);
    for (double& e : x) e = uniform(random) * std::exp(0.5 * normal(random));
    return x;
  }();
  return all;
}

template <class T, std::size_t first>
const T* matrix(std::int64_t size) {
  static std::vector<T> x;  // as many as the largest matrix so far
  const std::vector<double>& all = numbers();
  const auto number = [&](std::size_t i) { return all[(first + i) % all.size()]; };
  x.reserve(static_cast<std::size_t>(size));
  for (std::size_t i = x.size(); i < static_cast<std::size_t>(size); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      x.push_back(static_cast<T>(number(i)));
    } else {
      using Real = typename T::value_type;
      x.emplace_back(static_cast<Real>(number(2 * i)), static_cast<Real>(number(2 * i + 1)));
    }
  }
  return x.data();
}

template <class T>
class Contest {
 public:
  Contest(const Case& x, std::vector<std::string> engines, bool trace)
      : case_(x),
        engines_(std::move(engines)),
        trace_(trace),
        a_(matrix<T, 1>(x.shape.m * x.shape.k)),
        b_(matrix<T, 77777>(x.shape.k * x.shape.n)),
        c_(static_cast<std::size_t>(x.shape.m * x.shape.n)) {
    set_native_threads(x.threads);
  }

  Json run() {
    const auto& [m, n, k] = case_.shape;
    Json line = {{"type", case_.type}, {"threads", case_.threads}, {"m", m}, {"n", n}, {"k", k}};
    line["looks"] = settle();
    compare(line);
    line["scheme"] = last_.plan.scheme, line["reason"] = last_.plan.reason;
    line["timed"] = timed_;  // calls of each scheme
    return line;
  }

 private:
  // 0: the default; 1, 2: the BLAS; then the engines.
  double call(int kind) {
    const clockid_t clock = own_time && case_.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    const double start = now(clock);
    const Shape& s = case_.shape;
    Options options{.contract = vernier::default_contract<T>(), .threads = case_.threads};
    if (kind > 2) options.engine = engines_[static_cast<std::size_t>(kind - 3)];
    if (kind == 1 || kind == 2) {
      native<T>(s, a_, b_, c_.data());
      return now(clock) - start;
    }
    Report report =
        vernier::gemm<T>(Op::none, Op::none, s.m, s.n, s.k, T{1}, a_, s.m, b_, s.k, T{0}, c_.data(), s.m, options);
    const double seconds = now(clock) - start;
    (kind == 0 ? last_ : of_engine_) = std::move(report);
    return seconds;
  }

  int settle() {
    const auto start = Clock::now();
    std::string scheme;
    int calls = 0, same = 0;
    const auto stays = [&] {
      const double seconds = since(start);
      const bool chosen = last_.plan.reason.find("estimates") != std::string::npos;  // else there is one method
      return (same > 0 && !chosen) || same >= settled || (same >= settled_slow && seconds > slow_settling) ||
             (seconds > longest_settling && calls >= fewest_calls);
    };
    while (!stays()) {
      call(0);
      ++calls;
      same = last_.plan.scheme == scheme && !last_.fallback ? same + 1 : 0;
      scheme = last_.plan.scheme;
    }
    return calls;
  }

  // Threads of one pool fall asleep before those of another begin; the first call is not timed, but where it is long.
  double group(int kind, Json& calls) {
    const bool natively = last_.plan.scheme == "native", pool = kind == 1 || kind == 2 || (kind == 0 && natively);
    if (pool != std::exchange(pool_, pool) || !engines_.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const bool alike = natively && engines_.empty();
    const double first = call(kind), most = alike ? native_group_time : gains_ ? gaining_group_time : group_time;
    std::vector<double> seconds;
    const bool alone = first > (alike ? most : long_call);
    if (alone) seconds.push_back(first);
    for (int left = alone ? 0 : std::clamp(static_cast<int>(most / first), 1, 12); left > 0; --left)
      seconds.push_back(call(kind));
    if (kind == 0) timed_[last_.plan.scheme] += static_cast<int>(seconds.size());
    if (trace_) {
      calls.push_back(kind);
      calls.push_back(std::llround(1e7 * first));
      for (const double x : seconds) calls.push_back(std::llround(1e7 * x));
    }
    return median(seconds);
  }

  void compare(Json& line) {
    const std::size_t kinds = 3 + engines_.size();
    std::vector<std::vector<double>> seconds(kinds);
    std::vector<double> ratios, itself, inverse;
    std::vector<std::size_t> order(kinds);
    std::iota(order.begin(), order.end(), 0);
    Json calls = Json::array();
    int round = 0;
    const auto start = Clock::now();
    const auto goes_on = [&] {
      const double seconds = since(start);
      return round < fewest_rounds ? seconds < 3 * patience : round < most_rounds && seconds < patience;
    };
    std::string verdict = "open";
    for (; verdict == "open" && goes_on(); ++round) {
      std::vector<double> x(kinds);
      const bool once = gains_;  // the BLAS
      for (const std::size_t kind : order)
        if (!once || kind != 2) seconds[kind].push_back(x[kind] = group(static_cast<int>(kind), calls));
      if (once) x[2] = x[1];
      std::rotate(order.begin(), order.begin() + 1, order.end());
      if ((round + 1) % static_cast<int>(kinds) == 0) std::reverse(order.begin(), order.end());
      ratios.push_back(std::sqrt(x[1] * x[2]) / x[0]);
      if (!once) itself.push_back(x[2] / x[1]), inverse.push_back(x[1] / x[2]);
      gains_ = last_.plan.scheme != "native" && *std::min_element(ratios.begin(), ratios.end()) > clear_gain;
      if (round + 1 >= fewest_rounds) verdict = Interval(ratios).verdict();
      if (round < 5 && since(start) < brief_rounds) continue;
      if (surely_holds(ratios, itself, timed_.size() == 1 && timed_.contains("native")) || rank_above(ratios))
        verdict = "holds";
    }
    const Interval ratio(ratios), noise(itself);
    line["rounds"] = round;
    line["seconds"] = median(seconds[0]);
    line["ratio"] = ratio.middle, line["from"] = ratio.low, line["to"] = ratio.high;
    line["verdict"] = verdict;
    line["least"] = std::min(*std::min_element(seconds[1].begin(), seconds[1].end()),
                             *std::min_element(seconds[2].begin(), seconds[2].end())) /
                    *std::min_element(seconds[0].begin(), seconds[0].end());
    const std::string one = noise.verdict(), other = Interval(inverse).verdict();
    line["noise"] = noise.middle;
    line["itself"] = one == other ? one : one == "loses" || other == "loses" ? "loses" : "open";
    for (std::size_t i = 0; i < engines_.size(); ++i)
      line["of_engines"][engines_[i]] = {{"seconds", median(seconds[3 + i])}, {"scheme", of_engine_.plan.scheme}};
    if (trace_) line["calls"] = calls;
  }

  const Case& case_;
  std::vector<std::string> engines_;
  bool trace_;
  const T *a_, *b_;
  std::vector<T> c_;
  bool pool_ = true;  // the last call's threads: the BLAS's
  bool gains_ = false;
  Report last_, of_engine_;
  std::map<std::string, int> timed_;
};

Json measured(const Case& x, std::vector<std::string> engines, bool trace) {
  if (x.type != "float") std::erase(engines, "amx_bf16");
  if (x.type == "double") return Contest<double>(x, engines, trace).run();
  if (x.type == "float") return Contest<float>(x, engines, trace).run();
  if (x.type == "complex_double") return Contest<std::complex<double>>(x, engines, trace).run();
  if (x.type == "complex_float") return Contest<std::complex<float>>(x, engines, trace).run();
  throw std::invalid_argument(x.type + ": expected double, float, complex_double or complex_float");
}

// All shapes with all types and threads, in any order, so that whatever there is time for is a fair part.
std::vector<Case> cases_of(const std::vector<std::string>& types, const std::vector<std::int64_t>& threads, int shapes,
                           double largest, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> octaves(6, std::log2(largest));
  const auto size = [&] { return std::llround(std::exp2(octaves(random))); };
  std::vector<Case> all;
  for (int i = 0; i < shapes; ++i) {
    const Shape s{size(), size(), size()};
    for (const std::string& type : types)
      for (const std::int64_t count : threads) all.push_back({type, static_cast<int>(count), s});
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

}  // namespace

int main(int count, char** words) {
  double seconds = 120;
  int shapes = 300, seed = 1, skip = 0, every = 1;
  std::int64_t largest = 2500;
  std::vector<std::string> types{"double", "float", "complex_double", "complex_float"};
  std::vector<std::int64_t> threads{1, 2}, shape;
  std::vector<std::string> engines;
  bool trace = false;
  return vernier::bench::program(
      "vernier-never-slower", count, words,
      {{"--seconds", &seconds},
       {"--shapes", &shapes},
       {"--seed", &seed},
       {"--skip", &skip},
       {"--every", &every},
       {"--shape", &shape},
       {"--largest", &largest},
       {"--types", &types},
       {"--engines", &engines},
       {"--trace", &trace},
       {"--own-time", &own_time},
       {"--patience", &patience},
       {"--threads", &threads}},
      [&] {
        const auto start = Clock::now();
        std::map<std::string, int> verdicts{{"holds", 0}, {"loses", 0}, {"open", 0}}, itself = verdicts;
        int done = 0, lost_twice = 0;
        double worst = 1e300;
        std::vector<Case> all = cases_of(types, threads, shape.empty() ? shapes : 1, static_cast<double>(largest),
                                         static_cast<unsigned>(seed));
        if (!shape.empty() && shape.size() != 3) throw std::invalid_argument("--shape: expected m,n,k");
        for (Case& x : all)
          if (!shape.empty()) x.shape = {shape[0], shape[1], shape[2]};
        all.erase(all.begin(), all.begin() + std::clamp<std::ptrdiff_t>(skip, 0, std::ssize(all)));
        std::vector<Case> lost;
        std::setvbuf(stdout, nullptr, _IOLBF, 0);
        const auto tell = [](const Json& line) { std::puts(line.dump().c_str()); };
        for (std::ptrdiff_t i = 0; i < std::ssize(all); i += std::max(every, 1)) {
          if (since(start) > seconds) break;
          const Case& x = all[static_cast<std::size_t>(i)];
          const Json line = measured(x, engines, trace);
          tell(line);
          ++done;
          ++verdicts[line["verdict"]], ++itself[line["itself"]];
          worst = std::min(worst, line["ratio"].get<double>());
          if (line["verdict"] == "loses") lost.push_back(x);
        }
        for (const Case& x : lost) {
          Json line = measured(x, engines, trace);
          line["again"] = true;
          tell(line);
          lost_twice += line["verdict"] == "loses";
        }
        tell({{"cases", done},
              {"default", verdicts},
              {"lost_twice", lost_twice},
              {"native_beside_itself", itself},
              {"worst", worst}});
      });
}
