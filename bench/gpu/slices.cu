// vernier-gpu-slices-bench: products by slices (Ozaki scheme I) on a GPU beside cuBLAS's own, in one process and in
// turns, with their errors against the correctly rounded product: one JSON object a line.
//
//     vernier-gpu-slices-bench [--phi 1] [--groups 3] [--blocks] [--modes dp,sp,...] N ...
//
// Modes: dp, sp (float), cr, dp-int8, dp-bf16, cr-int8, cr-fp64, dp-k1024 (k in blocks of 1024).
// --blocks: C in blocks of N / 4. Errors are relative to the entries, as in Mukunoki et al. (2020).
#include <cmath>
#include <map>
#include <string>

#include "measure.cuh"
#include "program.hpp"
#include "vernier/cuda.hpp"
#include "vernier/slices.hpp"

namespace vernier::bench {
namespace {

struct Settings {
  double phi = 1;
  int groups = 3;
  bool blocks = false;
  std::vector<std::string> modes = {"dp", "cr", "sp"};
};

SliceOptions options_of(const std::string& mode, std::int64_t block) {
  const SliceMode cr = SliceMode::correctly_rounded;
  const std::map<std::string, SliceOptions> modes = {{"dp", {.engine = "cublas-fp16"}},
                                                     {"sp", {.engine = "cublas-fp16"}},
                                                     {"cr", {.mode = cr, .engine = "cublas-fp16"}},
                                                     {"dp-int8", {.engine = "cublas-int8"}},
                                                     {"dp-bf16", {.engine = "cublas-bf16"}},
                                                     {"cr-int8", {.mode = cr, .engine = "cublas-int8"}},
                                                     {"cr-fp64", {.mode = cr, .engine = "blas"}},
                                                     {"dp-k1024", {.engine = "cublas-fp16", .k_block = 1024}}};
  const auto found = modes.find(mode);
  if (found == modes.end()) throw std::invalid_argument("--modes: \"" + mode + "\": there is no such mode");
  SliceOptions options = found->second;
  options.block = block;
  return options;
}

struct Errors {
  double mean = 0, largest = 0;
  long long differ = 0;
};

template <class T>
Errors errors_of(const DeviceMatrix<T>& c, const std::vector<T>& exact) {
  const std::vector<T> x = c.on_host();
  Errors e;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == exact[i]) continue;
    ++e.differ;
    const double error = std::abs((static_cast<double>(x[i]) - exact[i]) / exact[i]);
    e.mean += error / static_cast<double>(x.size());
    e.largest = std::isnan(error) ? error : std::max(e.largest, error);
  }
  return e;
}

template <class T>
void run(std::int64_t n, const std::string& mode, const Settings& s) {
  const DeviceMatrix<T> a(n, n, 1, s.phi), b(n, n, 2, s.phi), c(n, n);
  const T one = 1, zero = 0;
  const auto product = [&](const cuda::Options& options) {
    cuda::gemm(Op::none, Op::none, n, n, n, &one, a.data(), n, b.data(), n, &zero, c.data(), n, options);
  };
  product({.contract = Contract::exact()});
  const std::vector<T> exact = c.on_host();
  const cuda::Options native{.contract = default_contract<T>(), .engine = "native"};
  product(native);
  const Errors theirs = errors_of(c, exact);
  const SliceOptions options = options_of(mode, s.blocks ? n / 4 : 0);
  const auto slices = [&] {
    return cuda::gemm_by_slices(Op::none, Op::none, n, n, n, one, a.data(), n, b.data(), n, zero, c.data(), n, options);
  };
  SliceReport r = slices();
  const Errors ours = errors_of(c, exact);
  Timer timer;
  std::vector<double> t_ours, t_theirs, split, products, sums;
  for (int g = 0; g < s.groups; ++g) {
    t_theirs.push_back(timer.seconds(5, [&] { product(native); }));
    t_ours.push_back(timer.seconds(1, [&] { r = slices(); }));
    split.push_back(r.seconds_split), products.push_back(r.seconds_products), sums.push_back(r.seconds_sum);
  }
  const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  std::printf(
      "{\"mode\": \"%s\", \"n\": %lld, \"phi\": %g, \"block\": %lld, \"engine\": \"%s\", \"bits\": %d, \"slices_a\": "
      "%d, "
      "\"slices_b\": %d, \"products\": %lld, \"fast\": %s, \"workspace\": %zu, \"seconds\": %.4e, \"split\": %.4e, "
      "\"multiply\": %.4e, \"sum\": %.4e, \"tflops\": %.2f, \"engine_tflops\": %.1f, \"cublas_seconds\": %.4e, "
      "\"cublas_tflops\": %.2f, \"error_mean\": %.2e, \"error_max\": %.2e, \"not_correctly_rounded\": %lld, "
      "\"cublas_error_mean\": %.2e, \"cublas_error_max\": %.2e, \"cublas_not_correctly_rounded\": %lld}\n",
      mode.c_str(), static_cast<long long>(n), s.phi, static_cast<long long>(options.block), r.engine.c_str(), r.bits,
      r.slices_a, r.slices_b, static_cast<long long>(r.products), r.fast ? "true" : "false", r.workspace,
      median(t_ours), median(split), median(products), median(sums), operations / median(t_ours) * 1e-12,
      operations * static_cast<double>(r.products) / median(products) * 1e-12, median(t_theirs),
      operations / median(t_theirs) * 1e-12, ours.mean, ours.largest, ours.differ, theirs.mean, theirs.largest,
      theirs.differ);
  std::fflush(stdout);
}

}  // namespace
}  // namespace vernier::bench

int main(int argc, char** argv) {
  using namespace vernier::bench;
  Settings s;
  std::vector<std::int64_t> sizes;
  return program(
      "vernier-gpu-slices-bench", argc, argv,
      {{"--phi", &s.phi}, {"--groups", &s.groups}, {"--blocks", &s.blocks}, {"--modes", &s.modes}, {"n", &sizes}}, [&] {
        for (const std::int64_t n : sizes)
          for (const std::string& mode : s.modes) mode == "sp" ? run<float>(n, mode, s) : run<double>(n, mode, s);
      });
}
