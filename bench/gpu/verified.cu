// vernier-gpu-verified-bench: verified_solve on a GPU by the thousand, against solutions that are known exactly: one
// JSON object. Ends with 1 where an interval does not hold the solution.
//
//     vernier-gpu-verified-bench [--systems 10000] [--seconds 150] [--seed 1] [--most 8192]
//
// Nine of ten systems have n from 1000 to 1200, the others go up to --most.
#include <chrono>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "known_systems.cuh"
#include "program.hpp"
#include "vernier/verified.hpp"

namespace vernier::bench {
namespace {

struct Settings {
  std::int64_t systems = 10000, most = 8192, seed = 1;
  double seconds = 150;
};

struct Tally {
  std::int64_t systems = 0, verified = 0, entries = 0, wrong = 0, largest = 0;
};

int bits_of(std::int64_t x) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < x) ++bits;
  return bits;
}

KnownRule rule_of(std::int64_t index, const Settings& s) {
  std::mt19937_64 random(static_cast<std::uint64_t>(s.seed) * 1000003 + static_cast<std::uint64_t>(index));
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  const std::int64_t kind = between(0, 999);
  const std::int64_t n = kind < 900   ? between(1000, 1200)
                         : kind < 970 ? between(1201, 2048)
                         : kind < 993 ? between(2049, 4096)
                                      : between(4097, 8192);
  // Of ten systems six have a condition, three are of integers, one is of the families that mostly cannot be proved.
  constexpr int ill = 3;
  const auto place = static_cast<int>(index % 10);
  const KnownFamily family = place < 6   ? KnownFamily::condition
                             : place < 9 ? KnownFamily::integers
                                         : static_cast<KnownFamily>(static_cast<int>(KnownFamily::condition_graded) +
                                                                    static_cast<int>(index / 10 % ill));
  KnownRule r{family, std::min(n, s.most), random(), 0, 0, 4, 0};
  if (r.family == KnownFamily::integers) r.terms = static_cast<int>(r.n);
  if (r.family == KnownFamily::condition || r.family == KnownFamily::condition_graded) {
    r.decades = 2 + 12 * static_cast<double>(between(0, 1000)) * 1e-3;
    if (r.decades < 9) r.terms = static_cast<int>(r.n);  // below what the grid adds
  }
  if (r.family == KnownFamily::condition_graded) r.grades = static_cast<int>(between(1, 60));
  r.grid = 52 - bits_of(r.terms);
  return r;
}

void run(const Settings& s) {
  KnownSystem system(s.most);
  Tally tallies[static_cast<int>(KnownFamily::count)], all;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  double solving = 0;
  for (std::int64_t i = 0; i < s.systems && elapsed() < s.seconds; ++i) {
    const KnownRule rule = rule_of(i, s);
    system.make(rule);
    const double before = elapsed();
    const VerifiedReport report = cuda::verified_solve(rule.n, 1, system.a(), rule.n, system.b.data(), rule.n,
                                                       system.low.data(), system.high.data(), rule.n);
    solving += elapsed() - before;
    Tally& tally = tallies[static_cast<int>(rule.family)];
    for (Tally* t : {&tally, &all}) {
      ++t->systems;
      t->largest = std::max(t->largest, rule.n);
      if (report.verified) ++t->verified, t->entries += rule.n;
    }
    if (!report.verified) continue;
    const unsigned misses = system.misses(rule.n);
    tally.wrong += misses, all.wrong += misses;
  }
  const auto print = [](const char* name, const Tally& t) {
    std::printf(
        "\"%s\": {\"systems\": %lld, \"verified\": %lld, \"entries\": %lld, \"wrong\": %lld, \"largest_n\": %lld}",
        name, static_cast<long long>(t.systems), static_cast<long long>(t.verified), static_cast<long long>(t.entries),
        static_cast<long long>(t.wrong), static_cast<long long>(t.largest));
  };
  std::printf("{\"seed\": %lld, \"seconds\": %.1f, \"seconds_of_verified_solve\": %.1f, \"families\": {",
              static_cast<long long>(s.seed), elapsed(), solving);
  for (int f = 0; f < static_cast<int>(KnownFamily::count); ++f) {
    if (f > 0) std::printf(", ");
    print(name_of(static_cast<KnownFamily>(f)), tallies[f]);
  }
  std::printf("}, ");
  print("all", all);
  std::printf("}\n");
  if (all.wrong != 0) throw std::runtime_error("an interval does not hold the solution");
}

}  // namespace
}  // namespace vernier::bench

int main(int argc, char** argv) {
  using namespace vernier::bench;
  Settings s;
  return program("vernier-gpu-verified-bench", argc, argv,
                 {{"--systems", &s.systems}, {"--seconds", &s.seconds}, {"--seed", &s.seed}, {"--most", &s.most}},
                 [&] { run(s); });
}
