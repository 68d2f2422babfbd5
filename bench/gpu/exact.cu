// vernier-gpu-exact-bench: correctly rounded products on a GPU beside contract fp64 (fp32 for --float) on the same
// engine and cuBLAS's own, in one process and in turns: one JSON object a line.
//
//     vernier-gpu-exact-bench [--phi 0.5] [--float] [--groups 7] [--seconds 0.05] [--once] N ...
//
// Times are medians over groups of calls, each about --seconds long. --once runs each product once, for a profiler.
#include <string>

#include "measure.cuh"
#include "program.hpp"
#include "vernier/cuda.hpp"

namespace vernier::bench {
namespace {

struct Settings {
  double phi = 0.5, seconds = 0.05;
  int groups = 7;
  bool once = false, single = false;
};

template <class T>
void run(std::int64_t n, const Settings& s) {
  const DeviceMatrix<T> a(n, n, 1, s.phi), b(n, n, 2, s.phi), c(n, n);
  const T one = 1, zero = 0;
  const auto product = [&](const cuda::Options& options) {
    return cuda::gemm(Op::none, Op::none, n, n, n, &one, a.data(), n, b.data(), n, &zero, c.data(), n, options);
  };
  const Report exact = product({.contract = Contract::exact(), .count_open = true});
  if (s.once) return;
  const Contract contract = default_contract<T>();
  const std::string engine = exact.plan.engine;
  constexpr int kinds = 4;
  const cuda::Options options[kinds] = {{.contract = Contract::exact()},
                                        {.contract = contract, .engine = engine},
                                        {.contract = contract},
                                        {.contract = contract, .engine = "native"}};
  Report reports[kinds];
  Timer timer;
  int repeats[kinds];
  std::vector<double> times[kinds], ratios[kinds];
  for (int i = 0; i < kinds; ++i) {
    reports[i] = product(options[i]);
    repeats[i] = std::clamp(static_cast<int>(s.seconds / timer.seconds(3, [&] { product(options[i]); })), 1, 1000);
  }
  for (int g = 0; g < s.groups; ++g)
    for (int i = 0; i < kinds; ++i) {
      times[i].push_back(timer.seconds(repeats[i], [&] { product(options[i]); }));
      ratios[i].push_back(times[i].back() / times[0].back());
    }
  const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  std::printf(
      "{\"type\": \"%s\", \"n\": %lld, \"phi\": %g, \"engine\": \"%s\", \"moduli\": %d, \"open\": %lld, \"seconds\": "
      "%.4e, \"tflops\": %.2f, \"contract\": \"%s\", \"residues_moduli\": %d, \"residues_seconds\": %.4e, "
      "\"planned_scheme\": \"%s\", \"planned_seconds\": %.4e, \"cublas_seconds\": %.4e, \"ratio_to_residues\": %.3f, "
      "\"ratio_to_planned\": %.3f, \"ratio_to_cublas\": %.3f, \"ratio_low\": %.3f, \"ratio_high\": %.3f}\n",
      sizeof(T) == 4 ? "float" : "double", static_cast<long long>(n), s.phi, engine.c_str(), exact.plan.moduli,
      static_cast<long long>(exact.undecided), median(times[0]), operations / median(times[0]) * 1e-12,
      contract.text().c_str(), std::max(reports[1].plan.moduli, reports[1].wide_moduli), median(times[1]),
      reports[2].plan.scheme.c_str(), median(times[2]), median(times[3]), median(ratios[1]), median(ratios[2]),
      median(ratios[3]), *std::min_element(ratios[1].begin(), ratios[1].end()),
      *std::max_element(ratios[1].begin(), ratios[1].end()));
  std::fflush(stdout);
}

}  // namespace
}  // namespace vernier::bench

int main(int argc, char** argv) {
  using namespace vernier::bench;
  Settings s;
  std::vector<std::int64_t> sizes;
  return program("vernier-gpu-exact-bench", argc, argv,
                 {{"--phi", &s.phi},
                  {"--seconds", &s.seconds},
                  {"--groups", &s.groups},
                  {"--once", &s.once},
                  {"--float", &s.single},
                  {"n", &sizes}},
                 [&] {
                   for (const std::int64_t n : sizes) s.single ? run<float>(n, s) : run<double>(n, s);
                 });
}
