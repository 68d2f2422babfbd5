// Mukunoki, Ozaki, Ogita and Imamura (2020): speed on this processor.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "reproduce/mukunoki.hpp"

namespace vernier::reproduce::mukunoki {
namespace {

// ---- figures 4 to 7 and table 1: speed on this processor
// ---------------------------------------------------------------

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The best of some calls: other work on the machine only ever adds.
double best_seconds(const std::function<void()>& work, int calls = 3) {
  double best = 1e300;
  for (int i = 0; i < calls; ++i) best = std::min(best, seconds_of(work));
  return best;
}

}  // namespace

Result mode_speed(const Context& context) {
  Result result;
  result.table.columns = {"mode", "phi", "n", "GFLOP/s", "slices", "products", "split", "product share", "sum"};
  Panel speed{"speed", {"n", Scale::log2, {}}, {"GFLOP/s, as $2n^3$ / time", Scale::log10, {}}, {}};
  Panel stages{
      "share of time", {"mode and phi", Scale::linear, {}}, {"share of the time", Scale::linear, {}}, {}, true};
  stages.series = {
      {"splitting", {}, {}, Mark::bars}, {"products", {}, {}, Mark::bars}, {"summation", {}, {}, Mark::bars}};
  const std::int64_t largest = context.quick ? 256 : 512;
  std::map<std::string, double> at_largest;
  double dp_share = 0, done = 0;
  for (const double phi : {0.1, 2.0})
    for (const char* m : {"BLAS", "DP", "CR"}) {
      const std::string name = fmt::format("{}, phi = {}", m, phi);
      Series series{name,
                    {},
                    {},
                    phi == 2.0 ? Mark::dashed : Mark::points_and_line,
                    m[0] == 'B'   ? 5
                    : m[0] == 'D' ? 0
                                  : 4};
      SliceReport r;
      for (std::int64_t n = 128; n <= largest; n *= 2) {
        const auto a = scattered_matrix<double>(n, n, phi, context.seed),
                   b = scattered_matrix<double>(n, n, phi, context.seed + 1);
        Matrix<double> c(n, n);
        const double seconds = best_seconds([&] {
          if (m[0] == 'B') return native(a, b, c);
          r = by_slices(a, b, c, m[0] == 'D' ? working("blas") : correct("blas"));
        });
        const double gflops = 2e-9 * std::pow(static_cast<double>(n), 3) / seconds;
        series.add(static_cast<double>(n), gflops);
        at_largest[name] = gflops;
        const double all = r.seconds > 0 ? r.seconds : 1;
        result.table.add({m, phi, n, gflops, r.slices_a, r.products, r.seconds_split / all, r.seconds_products / all,
                          r.seconds_sum / all});
      }
      context.progress(++done / 6);
      speed.series.push_back(series);
      if (m[0] == 'B') continue;
      const auto place = static_cast<double>(stages.x.categories.size());
      stages.x.categories.push_back(fmt::format("{}\nphi = {}", m, phi));
      const double parts[] = {r.seconds_split, r.seconds_products, r.seconds_sum};
      for (std::size_t s = 0; s < 3; ++s) stages.series[s].add(place, parts[s] / (parts[0] + parts[1] + parts[2]));
      if (m[0] == 'D' && phi < 1) dp_share = stages.series[1].y.back();
    }
  result.panels = {speed, stages};
  const double ratio = at_largest["DP, phi = 0.1"] / at_largest["CR, phi = 0.1"];
  result.check("CR-mode is slower than DP-mode: more products, and a dearer sum", "4.4 times at phi = 0.1",
               fmt::format("{:.1f} times", ratio), "slower", ratio > 1);
  result.check("where the working precision is fast, DP-mode does not beat it", "V100: 1064 of 6761",
               fmt::format("{:.0f} of {:.0f}", at_largest["DP, phi = 0.1"], at_largest["BLAS, phi = 0.1"]),
               "slower than the BLAS", at_largest["DP, phi = 0.1"] < at_largest["BLAS, phi = 0.1"]);
  result.here = fmt::format(
      "Slices of 19 bits multiplied by the fp64 BLAS underneath, n = {}: DP-mode {:.1f} and {:.1f} GFLOP/s for phi = "
      "0.1 and 2, CR-mode "
      "{:.1f} and {:.1f}, the BLAS itself {:.0f}. Products take {:.0f} % of DP-mode's time, in the paper about 70 %.",
      largest, at_largest["DP, phi = 0.1"], at_largest["DP, phi = 2"], at_largest["CR, phi = 0.1"],
      at_largest["CR, phi = 2"], at_largest["BLAS, phi = 0.1"], 100 * dp_share);
  return result;
}

Result cards(const Context& context) {
  Result result;
  result.show_table = true;
  result.table.columns = {"machine", "method", "phi = 0.1", "phi = 1", "phi = 2"};
  const auto add = [&](const char* machine, const char* method, double x, double y, double z) {
    result.table.add({machine, method, x, y, z});
  };
  add("Titan RTX (paper)", "cuBLAS dgemm", 534.1, 534.1, 534.1);
  add("Titan RTX (paper)", "DP by slices", 972.4, 823.0, 713.1);
  add("Titan RTX (paper)", "CR by slices", 220.4, 193.5, 173.1);
  add("Titan RTX (paper)", "CR by slices in fp64", 24.75, 21.17, 21.17);
  add("V100 (paper)", "cuBLAS dgemm", 6761, 6761, 6761);
  add("V100 (paper)", "DP by slices", 1064, 914.3, 790.8);
  add("V100 (paper)", "CR by slices", 255.0, 222.5, 198.5);
  add("V100 (paper)", "CR by slices in fp64", 293.1, 250.7, 250.7);
  const std::int64_t n = context.quick ? 256 : 512;
  struct Method {
    const char* name;
    std::function<void(const Matrix<double>&, const Matrix<double>&, Matrix<double>&)> work;
  };
  const auto contract = [](const Contract& promise) {
    return [promise](const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c) {
      gemm<double>(Op::none, Op::none, a.rows, b.columns, a.columns, 1, a.data.data(), a.rows, b.data.data(), b.rows, 0,
                   c.data.data(), c.rows, {.contract = promise});
    };
  };
  Contract fp64 = Contract::fp64(), exact = Contract::exact();
  fp64.reproducible = true;
  const auto slices = [](const SliceOptions& options) {
    return
        [options](const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c) { by_slices(a, b, c, options); };
  };
  const Method methods[] = {{"BLAS dgemm", native<double>},
                            {"DP by slices in fp64", slices(working("blas"))},
                            {"CR by slices in fp64", slices(correct("blas"))},
                            {"fp64 by residues", contract(fp64)},
                            {"exact by residues", contract(exact)}};
  const std::string machine = fmt::format("this processor, n = {}", n);
  std::map<std::string, double> first;
  double done = 0;
  for (const Method& m : methods) {
    std::vector<Json> row = {machine, m.name};
    for (const double phi : {0.1, 1.0, 2.0}) {
      const auto a = scattered_matrix<double>(n, n, phi, context.seed),
                 b = scattered_matrix<double>(n, n, phi, context.seed + 1);
      Matrix<double> c(n, n);
      const double gflops = 2e-9 * std::pow(static_cast<double>(n), 3) / best_seconds([&] { m.work(a, b, c); });
      first.emplace(m.name, gflops);
      row.emplace_back(gflops);
      context.progress(++done / 15);
    }
    result.table.add(row);
  }
  const double by_slices_cr = first["CR by slices in fp64"] / first["BLAS dgemm"],
               by_residues = first["exact by residues"] / first["BLAS dgemm"];
  result.check("CR by slices in fp64 costs a large factor next to dgemm",
               fmt::format("{:.3f} of dgemm on the V100", 293.1 / 6761), fmt::format("{:.3f}", by_slices_cr),
               "below 0.2", by_slices_cr < 0.2);
  result.check("correct rounding by residues costs less than by slices", "-",
               fmt::format("{:.1f} times the speed", by_residues / by_slices_cr), "faster", by_residues > by_slices_cr);
  result.here = fmt::format(
      "GFLOP/s as 2 n^3 / time; the paper's cards at n = 10240. On this processor, phi = 0.1: dgemm {:.0f}, fp64 by "
      "residues {:.0f}, "
      "exact by residues {:.0f}, DP and CR by slices in fp64 {:.1f} and {:.1f}.",
      first["BLAS dgemm"], first["fp64 by residues"], first["exact by residues"], first["DP by slices in fp64"],
      first["CR by slices in fp64"]);
  return result;
}

}  // namespace vernier::reproduce::mukunoki
