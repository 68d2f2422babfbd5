// The papers on today's hardware: speed and energy of the GPU at hand.
#include "reproduce/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <vernier/cuda.hpp>
#include <vernier/split.hpp>

#include "device.hpp"
#include "random_matrix.hpp"

namespace vernier::reproduce::gpu {
namespace {

using cli::DeviceArray;

template <class T>
void gemm_on_device(std::int64_t n, const T* a, const T* b, T* c, const cuda::Options& options) {
  const T one = 1, zero = 0;
  cuda::gemm<T>(Op::none, Op::none, n, n, n, &one, a, n, b, n, &zero, c, n, options);
}

// The median of single calls, from rest: after a pause and two calls that do not count.
double median_seconds(const std::function<void()>& work, int calls) {
  cli::wait_for_device();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int i = 0; i < 2; ++i) work();
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) times.push_back(cli::device_seconds(work));
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[static_cast<std::size_t>(calls / 2)];
}

// A, B and C of the largest order; smaller ones lie at their beginnings.
template <class T>
class Arrays {
 public:
  Arrays(std::int64_t n, double phi, std::uint64_t seed) : a_(n * n), b_(n * n), c_(n * n) {
    cli::LargeArray<T> host(n * n);
    for (const auto& [array, its_seed] : {std::pair{&a_, seed}, {&b_, seed + 1}}) {
      cli::fill_random(host.data(), n, n, phi, its_seed);
      cli::copy_to_device(array->data(), host.data(), static_cast<std::size_t>(n * n) * sizeof(T));
    }
  }
  const T* a() const { return a_.data(); }
  const T* b() const { return b_.data(); }
  T* c() const { return c_.data(); }

 private:
  DeviceArray<T> a_, b_, c_;
};

struct Contender {
  std::string name;
  std::function<void(std::int64_t n)> work;
};

double tera(std::int64_t n, double seconds) { return 2e-12 * std::pow(static_cast<double>(n), 3) / seconds; }

std::vector<Contender> fp32_contenders(const Arrays<float>& x) {
  const auto scheme = [&x](const char* name, const char* large) {
    return [&x, name, large](std::int64_t n) {
      const split::Scheme& s = split::find_scheme(n > 4096 ? large : name);
      split::multiply_on_gpu(s, Op::none, Op::none, n, n, n, 1, x.a(), n, x.b(), n, 0, x.c(), n);
    };
  };
  const auto contract = [&x](const char* engine) {
    return [&x, engine](std::int64_t n) {
      gemm_on_device<float>(n, x.a(), x.b(), x.c(), {.contract = Contract::fp32(), .engine = engine});
    };
  };
  return {{"halfhalf", scheme("halfhalf_sep", "halfhalf_fold")},
          {"tf32tf32", scheme("tf32tf32_sep", "tf32tf32_sep")},
          {"contract fp32", contract("")},
          {"cuBLAS fp32", contract("native")}};
}

// TFLOP/s of all contenders at every size, and the rows of the table.
std::map<std::string, Series> speeds(const Context& context, const std::vector<Contender>& contenders,
                                     const std::vector<std::int64_t>& sizes, Result& result, double phi) {
  std::map<std::string, Series> curves;
  double done = 0;
  for (const std::int64_t n : sizes)
    for (const Contender& c : contenders) {
      const double speed = tera(n, median_seconds([&] { c.work(n); }, n >= 8192 ? 5 : 11));
      Series& series = curves[c.name];
      series.label = c.name;
      series.add(static_cast<double>(n), speed);
      result.table.add({c.name, phi, n, speed});
      context.progress(++done / static_cast<double>(sizes.size() * contenders.size()));
    }
  return curves;
}

std::vector<std::int64_t> sizes_to(std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 1024; n <= largest; n *= 2) sizes.push_back(n);
  return sizes;
}

}  // namespace

Result fp32_speed(const Context& context) {
  const auto sizes = sizes_to(context.quick ? 4096 : 16384);
  const Arrays<float> x(sizes.back(), 0.5, context.seed);
  Result result;
  result.table.columns = {"method", "phi", "n", "TFLOP/s"};
  const auto contenders = fp32_contenders(x);
  auto curves = speeds(context, contenders, sizes, result, 0.5);
  const cli::DeviceFacts card = cli::device_facts();
  Panel panel{card.name, {"n", Scale::log2, {}}, {"TFLOP/s, as $2n^3$ / time", Scale::linear, {}}, {}};
  for (const Contender& c : contenders) panel.series.push_back(curves[c.name]);
  const double peak = 1e-12 * card.fp32_peak, first = panel.series[0].x.front(), last = panel.series[0].x.back();
  panel.series.push_back({"peak of the fp32 units", {first, last}, {peak, peak}, Mark::dashed, 5});
  panel.series.push_back({"halfhalf on an A100, paper", {first, last}, {51, 51}, Mark::dashed, 0});
  result.panels = {panel};
  const auto best = [&](const char* name) { return *std::max_element(curves[name].y.begin(), curves[name].y.end()); };
  result.check("halfhalf surpasses the peak of the fp32 units", "51 of 19.5 TFLOP/s on an A100",
               fmt::format("{:.0f} of {:.0f}", best("halfhalf"), peak), "above the peak", best("halfhalf") > peak);
  result.check("so does tf32tf32", "33 of 19.5", fmt::format("{:.0f} of {:.0f}", best("tf32tf32"), peak),
               "above the peak", best("tf32tf32") > peak);
  double least = 1e300;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    least = std::min(least, curves["halfhalf"].y[i] / curves["cuBLAS fp32"].y[i]);
  result.check("it is faster than cuBLAS's fp32", "faster at most sizes",
               fmt::format("at least {:.2f} times from n = 2048 on", least), "faster", least > 1);
  result.here = fmt::format(
      "{}, {}: halfhalf up to {:.0f} TFLOP/s, tf32tf32 {:.0f}, contract fp32 {:.0f}, cuBLAS fp32 {:.0f}; the "
      "peak of the fp32 units is {:.0f}. In the paper, on an A100: 51, 33, and a peak of 19.5.",
      card.name, card.driver, best("halfhalf"), best("tf32tf32"), best("contract fp32"), best("cuBLAS fp32"), peak);
  return result;
}

namespace {

struct Energy {
  double joules, watts;  // of one product, and while they run
};

// By the driver's counter, which moves every 20 to 100 ms: products for so many seconds, one after another.
Energy energy_of(const Contender& c, std::int64_t n, double seconds) {
  const double one = median_seconds([&] { c.work(n); }, 3);
  const int calls = std::max(1, static_cast<int>(seconds / one));
  cli::wait_for_device();
  const double before = cli::device_joules();
  const double time = cli::device_seconds([&] {
    for (int i = 0; i < calls; ++i) c.work(n);
  });
  const double used = cli::device_joules() - before;
  return {used / calls, used / time};
}

}  // namespace

Result fp32_energy(const Context& context) {
  const std::vector<std::int64_t> sizes =
      context.quick ? std::vector<std::int64_t>{4096} : std::vector<std::int64_t>{2048, 4096, 8192};
  const double seconds = context.quick ? 0.5 : 1;
  const Arrays<float> x(sizes.back(), 0.5, context.seed);
  const cli::DeviceFacts card = cli::device_facts();
  Result result;
  result.show_table = true;
  result.table.columns = {"method", "n", "joules of a product", "watts", "GFLOP per joule"};
  Panel panel{card.name, {"n", Scale::log2, {}}, {"joules of a product", Scale::log10, {}}, {}};
  std::map<std::string, Energy> largest;
  double done = 0;
  const auto contenders = fp32_contenders(x);
  for (const Contender& c : contenders) {
    Series series{c.name, {}, {}};
    for (const std::int64_t n : sizes) {
      const Energy energy = largest[c.name] = energy_of(c, n, seconds);
      series.add(static_cast<double>(n), energy.joules);
      const double operations = 2e-9 * std::pow(static_cast<double>(n), 3);
      result.table.add({c.name, n, energy.joules, energy.watts, operations / energy.joules});
      context.progress(++done / static_cast<double>(sizes.size() * contenders.size()));
    }
    panel.series.push_back(series);
  }
  result.panels = {panel};
  const Energy half = largest["halfhalf"], tf32 = largest["tf32tf32"], native = largest["cuBLAS fp32"];
  const auto less = [&](const char* claim, const Energy& e) {
    const double ratio = e.joules / native.joules;
    result.check(claim, "lower", fmt::format("{:.2f} of its energy", ratio), "less", ratio < 1);
  };
  less("halfhalf takes less energy than cuBLAS's fp32", half);
  less("so does tf32tf32", tf32);
  result.here = fmt::format(
      "{}, n = {}, by the driver's energy counter: a product takes {:.1f} J by halfhalf, {:.1f} by tf32tf32 and {:.1f} "
      "by cuBLAS fp32, at {:.0f}, {:.0f} and {:.0f} W.",
      card.name, sizes.back(), half.joules, tf32.joules, native.joules, half.watts, tf32.watts, native.watts);
  return result;
}

Result fp64_speed(const Context& context) {
  const auto sizes = sizes_to(context.quick ? 4096 : 16384);
  Result result;
  result.table.columns = {"method", "phi", "n", "TFLOP/s"};
  const cli::DeviceFacts card = cli::device_facts();
  Panel panel{card.name, {"n", Scale::log2, {}}, {"TFLOP/s, as $2n^3$ / time", Scale::linear, {}}, {}};
  const Arrays<double> x(sizes.back(), 0.1, context.seed);
  const auto contract = [&x](const char* name, const char* text, const char* engine) {
    return Contender{name, [&x, text, engine](std::int64_t n) {
                       gemm_on_device<double>(n, x.a(), x.b(), x.c(),
                                              {.contract = Contract::parse(text), .engine = engine});
                     }};
  };
  const std::vector<Contender> contenders = {contract("fp64 by residues", "fp64+reproducible", ""),
                                             contract("fp64 by residues, normwise", "fp64-normwise+reproducible", ""),
                                             contract("cuBLAS dgemm", "fp64", "native")};
  auto curves = speeds(context, contenders, sizes, result, 0.1);
  for (const Contender& c : contenders) panel.series.push_back(curves[c.name]);
  result.panels = {panel};
  const double ours = curves["fp64 by residues"].y.back(), theirs = curves["cuBLAS dgemm"].y.back();
  result.check("low-precision units give fp64 products faster than the card's fp64",
               "Titan RTX: 1.82 times cublasDgemm; V100: 0.16 times", fmt::format("{:.2f} times", ours / theirs),
               "faster at the largest n", ours > theirs);
  result.here =
      fmt::format("{}, n = {}, phi = 0.1: fp64 by residues {:.1f} TFLOP/s, normwise {:.1f}, cuBLAS dgemm {:.1f}.",
                  card.name, sizes.back(), ours, curves["fp64 by residues, normwise"].y.back(), theirs);
  return result;
}

}  // namespace vernier::reproduce::gpu
