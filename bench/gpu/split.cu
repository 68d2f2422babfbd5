// Measures fp32 products by error correction on a Hopper GPU beside cuBLAS. One JSON object a line.
//
//   vernier-split-bench speed N...       square products from rest: median of single calls, contenders in turn
//   vernier-split-bench sustained N...   the same without pauses, half a second a contender, in turn
//   vernier-split-bench kinds N...       the contract on data that need other schemes
//   vernier-split-bench shapes           small, thin and rank-k products
//   vernier-split-bench batches          1000 products of 64 to 512
//   vernier-split-bench sweep            hundreds of shapes under the default contract
//   vernier-split-bench stages N...      split and product apart
//   vernier-split-bench energy N...      joules a product, where NVML tells
//   vernier-split-bench error N...       errors on all kinds of data
//   vernier-split-bench depth            errors for k from 1 to 2^20, over several draws
//
// N: a size, or MxNxK.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "energy.hpp"
#include "split_contenders.hpp"
#include "split_sweep.hpp"
#include "timing.hpp"

namespace bench {
namespace {

using vernier::bench::EnergyMeter;
using vernier::cuda::Cublas;

double operations(const Problem& p, const Contender& c) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) * c.work;
}

// {"what": ..., "name": ..., "m": ..., "n": ..., "k": ..., "kind": ...; the caller adds the rest.
void print_head(const char* what, const Problem& p, const std::string& name, const std::string& kind) {
  std::printf("{\"what\": \"%s\", \"name\": \"%s\", \"data\": \"%s\", \"m\": %ld, \"n\": %ld, \"k\": %ld", what,
              name.c_str(), kind.c_str(), p.m, p.n, p.k);
}

void print_time(const char* what, const Problem& p, const Contender& c, const std::string& kind,
                const std::vector<double>& t, double host = 0) {
  const double seconds = median(t);
  print_head(what, p, c.name, kind);
  std::printf(", \"us\": %.2f, \"best_us\": %.2f, \"host_us\": %.2f, \"tflops\": %.1f", seconds * 1e6,
              *std::min_element(t.begin(), t.end()) * 1e6, host * 1e6, operations(p, c) / seconds * 1e-12);
}

void end_line() {
  std::printf("}\n");
  std::fflush(stdout);
}

const std::string usual = "scattered(0.5)";

// From rest: a pause, three runs to warm up, then the median of single calls. host: what queueing one takes.
void from_rest(const char* what, const Problem& p, const std::vector<Contender>& contenders, int repetitions,
               int pause_us, const std::string& kind = usual) {
  Timer timer;
  for (const Contender& c : contenders) {
    check(cudaDeviceSynchronize(), "rest");
    usleep(static_cast<unsigned>(pause_us));
    std::vector<double> t, host;
    for (int i = 0; i < repetitions + 3; ++i) {
      double queued = 0;
      const double seconds = timer.seconds(1, [&] {
        const auto begin = std::chrono::steady_clock::now();
        c.run();
        queued = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      });
      if (i >= 3) t.push_back(seconds), host.push_back(queued);
    }
    print_time(what, p, c, kind, t, median(host));
    end_line();
  }
}

// Half a second each in two turns, so that heat and power favour none.
void sustained(const Problem& p, const std::vector<Contender>& contenders) {
  Timer timer;
  std::vector<std::vector<double>> t(contenders.size());
  for (int turn = 0; turn < 2; ++turn)
    for (std::size_t i = 0; i < contenders.size(); ++i)
      for (double total = 0; total < 0.5;) {
        const int batch = 8;
        const double seconds = timer.seconds(batch, contenders[i].run);
        total += seconds * batch;
        if (turn == 1 && total > 0.1) t[i].push_back(seconds);
      }
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    print_time("sustained", p, contenders[i], usual, t[i]);
    end_line();
  }
}

// A second of products each, by the counter of the card.
void energy(const Problem& p, const std::vector<Contender>& contenders) {
  const EnergyMeter meter;
  Timer timer;
  for (const Contender& c : contenders) {
    const double each = timer.seconds(3, c.run);
    const int count = std::max(1, static_cast<int>(1.0 / each));
    const double before = meter.joules();
    const double seconds = timer.seconds(count, c.run);
    const double joules = meter.joules() - before;
    if (joules <= 0) {
      std::fprintf(stderr, "vernier-split-bench: %s is left out: the card's counter stood still\n", c.name.c_str());
      continue;
    }
    print_head("energy", p, c.name, usual);
    std::printf(", \"joules\": %.5g, \"watts\": %.1f, \"gflops_per_watt\": %.1f", joules / count,
                joules / (seconds * count), operations(p, c) * count / joules * 1e-9);
    end_line();
  }
}

// Errors over several draws: means of means, the largest of all, root mean square of residuals.
void errors(Contenders& bench, std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kind, int draws) {
  std::vector<std::string> names;
  std::map<std::string, Error> of;
  std::string scheme;
  Problem p;
  for (int draw = 0; draw < draws; ++draw) {
    p = bench.problem(m, n, k, kind, draw);
    const Judge judge(p);
    for (const Contender& c : bench.all(p)) {
      check(cudaMemset(p.c, 0xff, static_cast<std::size_t>(m * n) * 4), "cudaMemset");
      c.run();
      const Error e = judge.judge(p.c);
      if (c.name == "contract fp32") scheme = bench.made(p);
      if (draw == 0) names.push_back(c.name);
      Error& sum = of[c.name];
      sum.mean += e.mean / draws, sum.max = std::max(sum.max, e.max), sum.residual += e.residual * e.residual / draws;
    }
  }
  for (const std::string& name : names) {
    print_head("error", p, name, kind);
    std::printf(", \"draws\": %d, \"mean\": %.3g, \"max\": %.3g, \"residual\": %.3g", draws, of[name].mean,
                of[name].max, std::sqrt(of[name].residual));
    if (name == "contract fp32") std::printf(", \"scheme\": \"%s\"", scheme.c_str());
    end_line();
  }
}

void shapes() {
  Contenders bench(std::int64_t{16384} * 16384);
  const std::int64_t all[][3] = {{64, 64, 64},        {128, 128, 128},     {256, 256, 256},     {384, 384, 384},
                                 {512, 512, 512},     {768, 768, 768},     {1000, 1000, 1000},  {1536, 1536, 1536},
                                 {16384, 64, 4096},   {16384, 256, 4096},  {256, 256, 65536},   {4096, 4096, 64},
                                 {4096, 4096, 256},   {4096, 4096, 1024},  {16384, 16384, 64},  {16384, 16384, 128},
                                 {16384, 16384, 256}, {16384, 16384, 512}, {16384, 16384, 1024}};
  for (const auto& [m, n, k] : all) {
    const Problem p = bench.problem(m, n, k, usual);
    from_rest("shapes", p, bench.all(p), 11, 50000);
  }
}

void batches() {
  constexpr std::int64_t count = 1000, largest = 512;
  Contenders bench(count * largest * largest);
  for (std::int64_t n : {64, 96, 128, 192, 256, 384, 512}) {
    Problem p = bench.problem(n, n, n * count, usual);  // n count columns of A, and so many of B
    p.k = n;
    from_rest("batches", p, bench.batch(p, count), 11, 50000);
  }
}

// 1024 x 1024 up to k = 16384, where the contract takes the split; 256 x 256 beyond. A residual of wide data hangs on a
// handful of entries, so these take more draws.
void depth() {
  Contenders bench(std::int64_t{256} << 20);
  for (const std::string& kind : data_kinds())
    for (std::int64_t k = 1; k <= 1 << 20; k *= k < 64 ? 8 : k < 1024 ? 2 : 4) {
      const int draws = k > 16384 ? 2 : kind != "scattered(4)" ? 4 : k <= 128 ? 256 : 32;
      errors(bench, k <= 16384 ? 1024 : 256, k <= 16384 ? 1024 : 256, k, kind, draws);
    }
}

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;

  explicit Sizes(const char* text) {
    char more = 0;
    if (std::sscanf(text, "%ld%c", &m, &more) == 1)
      n = k = m;
    else if (std::sscanf(text, "%ldx%ldx%ld%c", &m, &n, &k, &more) != 3)
      m = 0;  // neither
  }
  bool empty() const { return std::min({m, n, k}) <= 0; }
  bool small() const { return std::max({m, n, k}) <= 4096; }
  std::int64_t largest() const { return std::max({m * n, m * k, n * k}); }  // elements of a matrix
};

void kinds(Contenders& bench, const Sizes& s) {
  for (const char* kind : {"scattered(0.5)", "scattered(4)", "scattered(20)"}) {
    const Problem p = bench.problem(s.m, s.n, s.k, kind);
    from_rest("kinds", p, {bench.sgemm(p), bench.contract(p)}, 11, 100000, kind);
    print_head("chosen", p, "contract fp32", kind);
    std::printf(", \"scheme\": \"%s\"", bench.made(p).c_str());
    end_line();
  }
}

void measure(const std::string& command, Contenders& bench, const Sizes& s) {
  if (command == "kinds") return kinds(bench, s);
  if (command == "error") {
    for (const std::string& kind : data_kinds()) errors(bench, s.m, s.n, s.k, kind, s.small() ? 4 : 1);
    return;
  }
  const Problem p = bench.problem(s.m, s.n, s.k, usual);
  std::vector<Contender> all = bench.all(p);
  all.push_back(bench.half_gemm(p));
  if (command == "speed") from_rest("speed", p, all, s.small() ? 21 : 9, 300000);
  if (command == "sustained") sustained(p, all);
  if (command == "energy") energy(p, all);
  if (command == "stages")
    for (const char* scheme :
         {"halfhalf_sep", "halfhalf_long", "halfhalf_fold", "tf32tf32_sep", "bf16x6_sep", "bf16x6_short"})
      from_rest("stage", p, bench.stages(scheme, p), 21, 50000);
}

void print_machine() {
  const vernier::cuda::Device& d = vernier::cuda::current_device();
  std::printf(
      "{\"what\": \"machine\", \"device\": \"%s\", \"driver_cuda\": %d, \"runtime_cuda\": %d, \"cublas\": \"%s\"}\n",
      d.name, d.driver_version, d.runtime_version, Cublas().version().c_str());
}

int run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const std::vector<Sizes> sizes(argv + std::min(argc, 2), argv + argc);
  const std::vector<std::string> sized_commands = {"speed", "sustained", "kinds", "stages", "energy", "error"};
  const bool is_sized = std::find(sized_commands.begin(), sized_commands.end(), command) != sized_commands.end();
  const std::map<std::string, void (*)()> others = {
      {"shapes", shapes}, {"batches", batches}, {"sweep", sweep}, {"depth", depth}};
  if (is_sized ? sizes.empty() || std::ranges::any_of(sizes, &Sizes::empty) : others.count(command) == 0) {
    std::fprintf(stderr,
                 "usage: vernier-split-bench speed|sustained|kinds|stages|energy|error N... | shapes | batches | sweep "
                 "| depth\n(N: a size, or MxNxK)\n");
    return 2;
  }
  print_machine();
  if (command == "energy" && !EnergyMeter::missing().empty()) {
    std::fprintf(stderr, "vernier-split-bench: energy is left out: %s\n", EnergyMeter::missing().c_str());
    return 0;
  }
  if (!is_sized) {
    others.at(command)();
  } else {
    Contenders bench(std::ranges::max(sizes, {}, &Sizes::largest).largest());
    for (const Sizes& s : sizes) measure(command, bench, s);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "vernier-split-bench: %s\n", e.what());
    return 1;
  }
}
