// Table 1 of Mukunoki et al. (2020) with the GPU at hand: products by slices on its fp16 units, beside its own fp64 and
// products by residues.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vernier/cuda.hpp>
#include <vernier/slices.hpp>

#include "device.hpp"
#include "random_matrix.hpp"
#include "reproduce/data.hpp"
#include "reproduce/gpu.hpp"

namespace vernier::reproduce::gpu {
namespace {

using cli::DeviceArray;

// A, B and two results of order n.
struct Operands {
  Operands(std::int64_t order, double phi, std::uint64_t seed) : n(order), a(n * n), b(n * n), c(n * n), d(n * n) {
    cli::LargeArray<double> host(n * n);
    for (const auto& [array, its_seed] : {std::pair{&a, seed}, {&b, seed + 1}}) {
      cli::fill_random(host.data(), n, n, phi, its_seed);
      cli::copy_to_device(array->data(), host.data(), static_cast<std::size_t>(n * n) * sizeof(double));
    }
  }
  std::int64_t n;
  DeviceArray<double> a, b, c, d;
};

SliceReport by_slices(const Operands& x, SliceMode mode, const char* engine, double* out) {
  return cuda::gemm_by_slices<double>(Op::none, Op::none, x.n, x.n, x.n, 1.0, x.a.data(), x.n, x.b.data(), x.n, 0.0,
                                      out, x.n, {.mode = mode, .engine = engine});
}

void by_contract(const Operands& x, const char* contract, const char* engine, double* out) {
  const double one = 1, zero = 0;
  cuda::gemm<double>(Op::none, Op::none, x.n, x.n, x.n, &one, x.a.data(), x.n, x.b.data(), x.n, &zero, out, x.n,
                     {.contract = Contract::parse(contract), .engine = engine});
}

struct Method {
  const char* name;
  std::function<SliceReport(const Operands&)> work;
};

std::vector<Method> methods() {
  const auto slices = [](SliceMode mode, const char* engine) {
    return [mode, engine](const Operands& x) { return by_slices(x, mode, engine, x.c.data()); };
  };
  const auto contract = [](const char* promise, const char* engine) {
    return [promise, engine](const Operands& x) {
      by_contract(x, promise, engine, x.c.data());
      return SliceReport{};
    };
  };
  return {{"cuBLAS dgemm", contract("fp64", "native")},
          {"DP by slices", slices(SliceMode::working_precision, "cublas-fp16")},
          {"CR by slices", slices(SliceMode::correctly_rounded, "cublas-fp16")},
          {"CR by slices in fp64", slices(SliceMode::correctly_rounded, "blas")},
          {"fp64 by residues", contract("fp64+reproducible", "")},
          {"exact by residues", contract("exact", "")}};
}

// The best of three after one that does not count.
double best_seconds(const std::function<void()>& work) {
  work();
  double best = 1e300;
  for (int i = 0; i < 3; ++i) best = std::min(best, cli::device_seconds(work));
  return best;
}

void paper_rows(Table& table) {
  const auto add = [&table](const char* machine, const char* method, double x, double y, double z) {
    table.add({machine, method, x, y, z, 0});
  };
  add("Titan RTX (paper)", "cuBLAS dgemm", 534.1, 534.1, 534.1);
  add("Titan RTX (paper)", "DP by slices", 972.4, 823.0, 713.1);
  add("Titan RTX (paper)", "CR by slices", 220.4, 193.5, 173.1);
  add("V100 (paper)", "cuBLAS dgemm", 6761, 6761, 6761);
  add("V100 (paper)", "DP by slices", 1064, 914.3, 790.8);
  add("V100 (paper)", "CR by slices", 255.0, 222.5, 198.5);
}

// Entries of CR-mode and of contract exact whose bits differ.
std::int64_t differing(const Operands& x) {
  by_slices(x, SliceMode::correctly_rounded, "cublas-fp16", x.c.data());
  by_contract(x, "exact", "", x.d.data());
  const std::vector<double> c = x.c.values(), d = x.d.values();
  std::int64_t count = 0;
  for (std::size_t i = 0; i < c.size(); ++i) count += std::memcmp(&c[i], &d[i], sizeof(double)) != 0;
  return count;
}

}  // namespace

Result modes(const Context& context) {
  const std::int64_t n = context.quick ? 2048 : 8192;
  const cli::DeviceFacts card = cli::device_facts();
  Result result;
  result.show_table = true;
  result.table.columns = {"machine", "method", "phi = 0.1", "phi = 1", "phi = 2", "products at phi = 0.1"};
  paper_rows(result.table);
  Panel stages{
      "share of time", {"mode and phi", Scale::linear, {}}, {"share of the time", Scale::linear, {}}, {}, true};
  stages.series = {
      {"splitting", {}, {}, Mark::bars}, {"products", {}, {}, Mark::bars}, {"summation", {}, {}, Mark::bars}};
  std::map<std::string, std::vector<double>> speed;
  std::map<std::string, std::int64_t> products;
  std::int64_t wrong = 0;
  double done = 0;
  const double phis[] = {0.1, 1, 2};
  for (const double phi : phis) {
    const Operands x(n, phi, context.seed);
    for (const Method& m : methods()) {
      SliceReport r;
      speed[m.name].push_back(2e-9 * std::pow(static_cast<double>(n), 3) / best_seconds([&] { r = m.work(x); }));
      if (phi == phis[0]) products[m.name] = r.products;
      context.progress(++done / 18);
      const std::string name = m.name;
      if (r.seconds <= 0 || name == "CR by slices in fp64") continue;
      const auto place = static_cast<double>(stages.x.categories.size());
      stages.x.categories.push_back(fmt::format("{}\nphi = {}", name.substr(0, 2), phi));
      const double parts[] = {r.seconds_split, r.seconds_products, r.seconds_sum};
      for (std::size_t s = 0; s < 3; ++s) stages.series[s].add(place, parts[s] / (parts[0] + parts[1] + parts[2]));
    }
    wrong += differing(x);
  }
  for (const Method& m : methods()) {
    const auto& s = speed[m.name];
    result.table.add({fmt::format("{}, n = {}", card.name, n), m.name, s[0], s[1], s[2], products[m.name]});
  }
  result.panels = {stages};
  const auto at = [&](const char* name) { return speed[name][0]; };
  result.check("where fp64 is fast, DP-mode does not beat cublasDgemm", "V100: 0.16 of its speed",
               fmt::format("{:.2f} of its speed", at("DP by slices") / at("cuBLAS dgemm")), "below 1",
               at("DP by slices") < at("cuBLAS dgemm"));
  result.check("speed falls as the range of the inputs grows", "0.73 for phi = 2 over 0.1",
               fmt::format("{:.2f}", speed["DP by slices"][2] / at("DP by slices")), "below 1",
               speed["DP by slices"][2] < at("DP by slices"));
  result.near("DP-mode over CR-mode at phi = 0.1 (paper: 972.4 / 220.4)", 972.4 / 220.4,
              at("DP by slices") / at("CR by slices"), 0.5);
  result.check("CR-mode is correctly rounded: it has the bits of contract exact", "largest error 0",
               fmt::format("{} of {} entries differ", wrong, 3 * n * n), "none", wrong == 0);
  result.check("residues are faster than slices, for fp64 and for correct rounding", "-",
               fmt::format("{:.1f} and {:.1f} times", at("fp64 by residues") / at("DP by slices"),
                           at("exact by residues") / at("CR by slices")),
               "faster", at("fp64 by residues") > at("DP by slices") && at("exact by residues") > at("CR by slices"));
  result.here = fmt::format(
      "GFLOP/s as 2 n^3 / time; the paper's cards at n = 10240, the {} at n = {}. There, phi = 0.1: cuBLAS dgemm "
      "{:.0f}, DP by slices {:.0f}, CR by slices {:.0f}, fp64 by "
      "residues {:.0f}, exact by residues {:.0f}.",
      card.name, n, at("cuBLAS dgemm"), at("DP by slices"), at("CR by slices"), at("fp64 by residues"),
      at("exact by residues"));
  return result;
}

}  // namespace vernier::reproduce::gpu
