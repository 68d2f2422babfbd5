// vernier-gpu-verified-bench: verified_solve on a GPU by the thousand, against solutions that are known exactly: one
// JSON object. Ends with 1 where an interval does not hold the solution.
//
//     vernier-gpu-verified-bench [--systems 10000] [--seconds 150] [--seed 1]
//         [--least 1000] [--common 1200] [--most 8192]
//
// Nine of ten systems have n from --least to --common, the others go up to --most.
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "known_systems.cuh"
#include "program.hpp"
#include "vernier/verified.hpp"

namespace vernier::bench {
namespace {

struct Settings {
  KnownSizes sizes;
  std::int64_t systems = 10000, seed = 1;
  double seconds = 150;
};

struct Tally {
  std::int64_t systems = 0, verified = 0, entries = 0, wrong = 0, largest = 0;
};

void run(const Settings& s) {
  KnownSystem system(s.sizes.most);
  Tally tallies[static_cast<int>(KnownFamily::count)], all;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  double solving = 0;
  for (std::int64_t i = 0; i < s.systems && elapsed() < s.seconds; ++i) {
    const KnownRule rule = known_rule(i, s.seed, s.sizes);
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
                 {{"--systems", &s.systems},
                  {"--seconds", &s.seconds},
                  {"--seed", &s.seed},
                  {"--least", &s.sizes.least},
                  {"--common", &s.sizes.common},
                  {"--most", &s.sizes.most}},
                 [&] { run(s); });
}
