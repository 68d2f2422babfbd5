// Beyond the papers: residues beside slices, accuracy that holds for any exponents, what correct rounding costs, and
// the same bits everywhere.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <vernier/slices.hpp>

#include "baseline.hpp"
#include "exact_sample.hpp"
#include "reproduce/data.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/gpu.hpp"

namespace vernier::reproduce {
namespace {

constexpr double u64 = 0x1p-53;

using Matrix64 = Matrix<double>;

Report product(const Matrix64& a, const Matrix64& b, Matrix64& c, const Options& options) {
  return gemm<double>(Op::none, Op::none, a.rows, b.columns, a.columns, 1, a.data.data(), a.rows, b.data.data(), b.rows,
                      0, c.data.data(), c.rows, options);
}

Options reproducible(const std::string& contract) { return {.contract = Contract::parse(contract + "+reproducible")}; }

void native(const Matrix64& a, const Matrix64& b, Matrix64& c) {
  cli::native_gemm<double>({Op::none, Op::none, a.rows, b.columns, a.columns, a.data.data(), a.rows, b.data.data(),
                            b.rows, c.data.data(), c.rows});
}

// Errors relative to |A||B|.
class Errors {
 public:
  Errors(const Matrix64& a, const Matrix64& b, std::uint64_t seed)
      : rows_(a.rows),
        sample_({a.rows, b.columns, a.columns, {a.data.data(), 1, a.rows}, {b.data.data(), 1, b.rows}}, 4000, seed) {}
  cli::SampledError of(const Matrix64& c) const { return sample_.errors({c.data.data(), 1, rows_}); }

 private:
  std::int64_t rows_;
  cli::ExactSample<double> sample_;
};

Result residues_and_slices(const Context& context) {
  const std::int64_t n = 64, k = context.quick ? 256 : 1024;
  const auto a = scattered_matrix<double>(n, k, 0.5, context.seed),
             b = scattered_matrix<double>(k, n, 0.5, context.seed + 1);
  const Errors errors(a, b, context.seed);
  Matrix64 c(n, n);
  Result result;
  result.table.columns = {"scheme", "parts", "int8 products", "largest error"};
  Panel panel{"", {"int8 products", Scale::linear, {}}, {"largest error, relative to |A||B|", Scale::log10, {}}, {}};
  Series residues{"residues", {}, {}}, slices{"slices, fast mode", {}, {}},
      full{"slices, all products", {}, {}, Mark::dashed};
  for (int bits = 8; bits <= 68; bits += 2) {
    const Report r = product(a, b, c, reproducible(fmt::format("bits({})", bits)));
    if (!residues.x.empty() && residues.x.back() == r.plan.moduli) continue;
    residues.add(r.plan.moduli, errors.of(c).max);
    result.table.add({"residues", r.plan.moduli, r.plan.moduli, residues.y.back()});
    context.progress(bits / 120.0);
  }
  for (const bool fast : {true, false})
    for (int d = 2; d <= 10; ++d) {
      SliceOptions options{.engine = "nvidia-int8", .slices = d, .all_products = !fast};
      const SliceReport r = gemm_by_slices<double>(Op::none, Op::none, n, n, k, 1, a.data.data(), n, b.data.data(), k,
                                                   0, c.data.data(), n, options);
      (fast ? slices : full).add(static_cast<double>(r.products), errors.of(c).max);
      result.table.add({fast ? "slices, fast mode" : "slices, all products", d, r.products, errors.of(c).max});
      context.progress(0.55 + (fast ? 0.0 : 0.2) + d / 50.0);
    }
  native(a, b, c);
  const double conventional = errors.of(c).max;
  Series line{"conventional fp64", {0, 100}, {conventional, conventional}, Mark::dashed, 5};
  panel.series = {residues, slices, full, line};
  result.panels = {panel};
  const auto first_below = [&](const Series& s) {
    for (std::size_t i = 0; i < s.x.size(); ++i)
      if (s.y[i] <= conventional) return s.x[i];
    return 1e9;
  };
  const double by_residues = first_below(residues), by_slices = first_below(slices);
  result.check("residues need fewer products than slices for the accuracy of fp64", "N in place of d (d + 1) / 2",
               fmt::format("{:.0f} and {:.0f}", by_residues, by_slices), "fewer, by at least a third",
               by_residues <= by_slices * 2 / 3);
  const double decay = std::log2(residues.y.front() / residues.y[residues.y.size() / 2]) /
                       (residues.x[residues.x.size() / 2] - residues.x.front());
  result.near("bits that a modulus adds (expected: half of log2 of 256 to 223, for A and B share them)", 3.95, decay,
              0.1);
  result.here = fmt::format(
      "k = {}, phi = 0.5: the accuracy of conventional fp64, {:.1e}, takes {:.0f} products by residues and {:.0f} by "
      "slices of 7 bits; a "
      "modulus adds {:.2f} bits.",
      k, conventional, by_residues, by_slices, decay);
  return result;
}

Result growing_spans(const Context& context) {
  const std::int64_t n = context.quick ? 64 : 128, k = context.quick ? 256 : 1024;
  Result result;
  result.table.columns = {"phi", "span in bits", "method", "moduli or slices", "mean error", "largest error"};
  Panel panel{"", {"phi", Scale::linear, {}}, {"largest error, relative to |A||B|", Scale::log10, {}}, {}};
  Series grade{"fp64, componentwise (Grade A)", {}, {}}, normwise{"fp64, normwise", {}, {}},
      nine{"nine slices", {}, {}}, conventional{"conventional fp64", {}, {}},
      bound{"bound, (k + 1) u", {}, {}, Mark::dashed, 5};
  Series moduli{"moduli of fp64", {}, {}};
  double worst = 0, worst_native = 0;
  for (const double phi : {0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0}) {
    const auto a = scattered_matrix<double>(n, k, phi, context.seed),
               b = scattered_matrix<double>(k, n, phi, context.seed + 1);
    const Errors errors(a, b, context.seed);
    Matrix64 c(n, n);
    int span = 0;
    const auto enter = [&](Series& s, const char* method, int parts) {
      const cli::SampledError e = errors.of(c);
      s.add(phi, e.max);
      result.table.add({phi, span, method, parts, e.mean, e.max});
      return e.max;
    };
    const Report r = product(a, b, c, reproducible("fp64"));
    span = std::max(r.span_a, r.span_b);
    const int most = std::max(r.plan.moduli, r.wide_moduli);
    const double ours = enter(grade, "fp64", most);
    moduli.add(phi, most);
    enter(normwise, "fp64-normwise", product(a, b, c, reproducible("fp64-normwise")).plan.moduli);
    const SliceOptions options{.engine = "nvidia-int8", .slices = 9};
    gemm_by_slices<double>(Op::none, Op::none, n, n, k, 1, a.data.data(), n, b.data.data(), k, 0, c.data.data(), n,
                           options);
    enter(nine, "nine slices", 9);
    native(a, b, c);
    const double theirs = enter(conventional, "conventional", 0);
    bound.add(phi, static_cast<double>(k + 1) * u64);
    worst = std::max(worst, ours / (static_cast<double>(k + 1) * u64));
    worst_native = std::max(worst_native, ours / theirs);
    context.progress(std::min(1.0, phi / 8));
  }
  panel.series = {grade, normwise, nine, conventional, bound};
  result.panels = {panel, {"", {"phi", Scale::linear, {}}, {"moduli", Scale::linear, {}}, {moduli}}};
  result.check("contract fp64 keeps Grade A for every span", "|C - AB| <= (k + 1) u |A||B|",
               fmt::format("at most {:.2g} of the bound", worst), "at most 1", worst <= 1);
  result.check("its error is at most that of a conventional product", "-",
               fmt::format("at most {:.2f} times", worst_native), "at most 1", worst_native <= 1);
  result.check("a fixed number of slices does not", "-", fmt::format("{:.1e} at phi = 8", nine.y.back()),
               "beyond the bound", nine.y.back() > bound.y.back());
  result.here = fmt::format(
      "k = {}: from phi = 0.1 to 8 the moduli grow from {:.0f} to {:.0f}, and the error stays below {:.2g} of the "
      "bound and {:.2f} of a "
      "conventional product's. Nine slices reach {:.1e}.",
      k, moduli.y.front(), moduli.y.back(), worst, worst_native, nine.y.back());
  return result;
}

double seconds_of(const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

Result exact_cost(const Context& context) {
  Result result;
  result.table.columns = {"phi", "n", "time of exact / time of fp64", "moduli of fp64", "moduli of exact", "undecided"};
  Panel panel{"", {"n", Scale::log2, {}}, {"time of exact / time of fp64", Scale::linear, {}}, {}};
  double dearest = 0;
  std::int64_t wrong = 0, compared = 0;
  double done = 0;
  for (const double phi : {0.5, 2.0, 4.0}) {
    Series series{fmt::format("phi = {}", phi), {}, {}};
    for (std::int64_t n = 128; n <= (context.quick ? 256 : 1024); n *= 2) {
      const auto a = scattered_matrix<double>(n, n, phi, context.seed),
                 b = scattered_matrix<double>(n, n, phi, context.seed + 1);
      Matrix64 c(n, n);
      Report fp64, exact;
      const double base = seconds_of([&] { fp64 = product(a, b, c, reproducible("fp64")); });
      const double cost = seconds_of([&] { exact = product(a, b, c, reproducible("exact")); }) / base;
      const RoundedSample<double> truth(a, b, 1000, context.seed);
      wrong += truth.largest_relative_error(c) != 0;
      compared += truth.size();
      series.add(static_cast<double>(n), cost);
      if (n >= 256) dearest = std::max(dearest, cost);
      result.table.add({phi, n, cost, std::max(fp64.plan.moduli, fp64.wide_moduli),
                        std::max(exact.plan.moduli, exact.wide_moduli), exact.undecided});
      context.progress(++done / 12);
    }
    panel.series.push_back(series);
  }
  panel.series.push_back({"CR over DP in the paper, n = 10240, phi = 0.1",
                          {128, context.quick ? 256.0 : 1024.0},
                          {4.41, 4.41},
                          Mark::dashed,
                          5});
  result.panels = {panel};
  result.check("correct rounding costs less than in the paper", "CR-mode 4.4 times DP-mode",
               fmt::format("at most {:.2f} times, from n = 256 on", dearest), "below 4.4", dearest < 4.4);
  result.check("it is correct", "-",
               fmt::format("{} entries compared with MPFR, {} products with a wrong one", compared, wrong), "none",
               wrong == 0);
  result.here = fmt::format(
      "On this processor exact takes at most {:.2f} times the time of fp64 from n = 256 on; the papers' CR-mode takes "
      "4.4 times that of DP-mode.",
      dearest);
  return result;
}

Result same_bits_everywhere(const Context& context) {
  const std::int64_t n = context.quick ? 48 : 96, k = context.quick ? 128 : 500;
  std::vector<std::string> names;
  for (const EngineInfo& e : engines())
    if (e.supported) names.push_back(e.name);
  for (const char* model : {"model:hopper-wgmma-fp16-fp32", "model:ampere-fp16-fp32", "model:amx-int8-int8"})
    names.emplace_back(model);
  Result result;
  result.show_table = true;
  result.table.columns = {"engine", "contract", "products compared", "bits that differ"};
  std::int64_t compared = 0, differ = 0;
  double done = 0;
  for (const char* contract : {"fp64", "exact"}) {
    std::map<double, Matrix64> first;
    for (const std::string& name : names) {
      std::int64_t other = 0, products = 0;
      for (const double phi : {0.5, 3.0}) {
        const auto a = scattered_matrix<double>(n, k, phi, context.seed),
                   b = scattered_matrix<double>(k, n, phi, context.seed + 1);
        Matrix64 c(n, n);
        Options options = reproducible(contract);
        options.engine = name;
        product(a, b, c, options);
        const Matrix64& reference = first.emplace(phi, c).first->second;
        for (std::size_t i = 0; i < c.data.size(); ++i)
          other += std::memcmp(&c.data[i], &reference.data[i], sizeof(double)) != 0;
        ++products;
      }
      result.table.add({name, contract, products, other});
      compared += products, differ += other;
      context.progress(++done / static_cast<double>(2 * names.size()));
    }
  }
  result.check("every engine of this machine, and models of others, give the same bits", "-",
               fmt::format("{} engines, {} products, {} entries differ", names.size(), compared, differ), "none",
               differ == 0 && names.size() >= 4);
  result.here = fmt::format(
      "{} engines, among them models of the tensor cores of an A100 and an H200: no bit differs between them.",
      names.size());
  if (differ > 0) result.here = fmt::format("{} entries differ between {} engines.", differ, names.size());
  return result;
}

}  // namespace

void add_beyond(std::vector<Experiment>& list) {
  const auto add = [&list](const char* name, const char* title, const char* figure, const char* found,
                           Result (*run)(const Context&), bool needs_gpu = false) {
    list.push_back({name, title, "Beyond the papers", figure, found, needs_gpu, run});
  };
  add("residues", "Residues beside slices", "Ozaki scheme II beside scheme I",
      "Slices take d (d + 1) / 2 products of d slices. Residues take one a modulus, and each modulus adds about four "
      "bits.",
      residues_and_slices);
  add("spans", "Grade A under growing spans", "componentwise accuracy",
      "The papers' DP-mode adapts the number of slices to the range of the inputs by an estimate; a proof is given "
      "here for every entry.",
      growing_spans);
  add("exact-cost", "The cost of correct rounding", "beside table 1 of Mukunoki et al.",
      "CR-mode takes 4.4 times the time of DP-mode (Titan RTX, phi = 0.1).", exact_cost);
  add("same-bits", "The same bits on every engine", "beside section 3.1 of Mukunoki et al.",
      "The papers' results are the same for every number of threads, on one engine.", same_bits_everywhere);
  add("gpu-same-bits", "The same bits on CPU and GPU", "beside section 3.1 of Mukunoki et al.",
      "The papers' results are the same for every number of threads, on one engine.", gpu::same_bits_as_the_cpu, true);
}

}  // namespace vernier::reproduce
