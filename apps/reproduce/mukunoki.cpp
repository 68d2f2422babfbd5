// Mukunoki, Ozaki, Ogita and Imamura (2020): products by slices, of fp64-equivalent accuracy and correctly rounded.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <vernier/slices.hpp>

#include "native.hpp"
#include "reproduce/data.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/gpu.hpp"

namespace vernier::reproduce {
namespace {

constexpr const char* paper = "Mukunoki, Ozaki, Ogita, Imamura (2020)";
constexpr const char* titan_engine = "turing-fp16-fp32";  // the tensor cores of the paper's Titan RTX

template <class T>
SliceReport by_slices(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c, const SliceOptions& options) {
  return gemm_by_slices<T>(Op::none, Op::none, a.rows, b.columns, a.columns, T{1}, a.data.data(), a.rows, b.data.data(),
                           b.rows, T{0}, c.data.data(), c.rows, options);
}

SliceOptions mode(SliceMode m, const char* engine) { return {.mode = m, .engine = engine}; }
SliceOptions working(const char* engine) { return mode(SliceMode::working_precision, engine); }
SliceOptions correct(const char* engine) { return mode(SliceMode::correctly_rounded, engine); }

template <class T>
void native(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) {
  cli::native_gemm<T>(Op::none, Op::none, a.rows, b.columns, a.columns, a.data.data(), a.rows, b.data.data(), b.rows,
                      c.data.data(), c.rows);
}

// ---- figures 3 and 8
// -------------------------------------------------------------------------------------------------

// Errors of one phi: of the BLAS, of the working precision and of CR-mode.
struct Errors {
  Series blas, tensor;
  double correct = 0;  // largest of CR-mode
};

template <class T>
Errors errors_of(const Context& context, double phi, const std::vector<std::int64_t>& sizes, Result& result) {
  const char* letter = sizeof(T) == 8 ? "DP" : "SP";
  Errors e{{fmt::format("BLAS, phi = {}", phi), {}, {}, Mark::dashed},
           {fmt::format("{}-mode, phi = {}", letter, phi), {}, {}, Mark::points_and_line}};
  for (const std::int64_t n : sizes) {
    const auto a = scattered_matrix<T>(n, n, phi, context.seed), b = scattered_matrix<T>(n, n, phi, context.seed + 1);
    Matrix<T> c(n, n);
    const RoundedSample<T> exact(a, b, 4000, context.seed);
    native(a, b, c);
    e.blas.add(static_cast<double>(n), exact.largest_relative_error(c));
    result.table.add({"BLAS", phi, n, e.blas.y.back()});
    by_slices(a, b, c, working(titan_engine));
    e.tensor.add(static_cast<double>(n), exact.largest_relative_error(c));
    result.table.add({letter, phi, n, e.tensor.y.back()});
    if (n > 128) continue;  // CR-mode has the same answer at every size
    by_slices(a, b, c, correct(titan_engine));
    const double error = exact.largest_relative_error(c);
    e.correct = std::max(e.correct, error);
    result.table.add({"CR", phi, n, error});
  }
  return e;
}

template <class T>
Result mode_accuracy(const Context& context) {
  Result result;
  result.table.columns = {"method", "phi", "n", "largest relative error"};
  Panel panel{"", {"n", Scale::log2, {}}, {"largest relative error", Scale::log10, {}}, {}};
  const std::vector<std::int64_t> sizes =
      context.quick ? std::vector<std::int64_t>{32, 64, 128} : std::vector<std::int64_t>{32, 64, 128, 256, 384};
  double log_ratios = 0, worst = 0, wide = 0, correct_error = 0;
  int count = 0;
  int colour = 0;
  const double phis[] = {0.1, 1, 2, 4};
  for (const double phi : phis) {
    Errors e = errors_of<T>(context, phi, sizes, result);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double ratio = e.tensor.y[i] / e.blas.y[i];
      if (phi <= 2) log_ratios += std::log(ratio), ++count;
      (phi <= 2 ? worst : wide) = std::max(phi <= 2 ? worst : wide, ratio);
    }
    correct_error = std::max(correct_error, e.correct);
    e.blas.colour = e.tensor.colour = colour++;
    panel.series.push_back(e.tensor);
    panel.series.push_back(e.blas);
    context.progress(colour / 4.0);
  }
  result.panels = {panel};
  // One ratio says little: each error is that of the one entry nearest to zero.
  const double usual = std::exp(log_ratios / count);
  result.check("the accuracy is that of the BLAS, with some differences", "equivalent",
               fmt::format("{:.2g} times the BLAS's error on the geometric mean, {:.2g} times at most", usual, worst),
               "at most 3 times on the mean, phi up to 2 as in the paper", usual <= 3);
  result.check("CR-mode is correctly rounded", "largest error 0", fmt::format("{:g}", correct_error), "0",
               correct_error == 0);
  result.here = fmt::format(
      "{}-mode on the modelled tensor cores of a Turing GPU has {:.2g} times the error of the BLAS underneath on the "
      "geometric mean over sizes and phi up to 2, the paper's range; for phi = 4, where the estimate of the slices is "
      "too coarse, it "
      "has up to {:.2g} times. CR-mode: every one of the entries compared with MPFR is the correctly rounded one.",
      sizeof(T) == 8 ? "DP" : "SP", usual, wide);
  return result;
}

// ---- figures 5 and 7: slices and products
// ----------------------------------------------------------------------------

Result slices_and_products(const Context& context) {
  Result result;
  result.table.columns = {"mode", "phi", "k", "bits of a slice", "slices of A", "slices of B", "products"};
  Panel slices{"slices of A", {"k", Scale::log2, {}}, {"slices", Scale::linear, {}}, {}},
      products{"products", {"k", Scale::log2, {}}, {"products", Scale::linear, {}}, {}};
  std::map<std::pair<std::string, double>, SliceReport> last;
  int colour = 0;
  for (const double phi : {0.1, 1.0, 2.0}) {
    for (const bool dp : {true, false}) {
      const std::string name = fmt::format("{}, phi = {}", dp ? "DP" : "CR", phi);
      const Mark mark = dp ? Mark::points_and_line : Mark::dashed;
      Series d{name, {}, {}, mark, colour}, p{name, {}, {}, mark, colour};
      for (std::int64_t k = context.quick ? 2560 : 640; k <= 10240; k *= 4) {
        const std::int64_t side =
            context.quick ? (dp ? 32 : 8) : (dp ? 64 : 16);  // the estimate of DP-mode is the largest of all rows
        const auto a = scattered_matrix<double>(side, k, phi, context.seed),
                   b = scattered_matrix<double>(k, side, phi, context.seed + 1);
        Matrix<double> c(side, side);
        const SliceReport r = by_slices(a, b, c, dp ? working(titan_engine) : correct(titan_engine));
        d.add(static_cast<double>(k), r.slices_a);
        p.add(static_cast<double>(k), static_cast<double>(r.products));
        result.table.add({dp ? "DP" : "CR", phi, k, r.bits, r.slices_a, r.slices_b, r.products});
        last[{dp ? "DP" : "CR", phi}] = r;
      }
      slices.series.push_back(d);
      products.series.push_back(p);
    }
    context.progress(++colour / 3.0);
  }
  const auto count = [&](const char* m, double phi) { return static_cast<double>(last[{m, phi}].products); };
  const int d = last[{"DP", 0.1}].slices_a;
  result.check("DP-mode at n = 10240, phi = 0.1: 66 products, that is 11 slices", "11 slices, 66 products",
               fmt::format("{} slices, {:.0f} products", d, count("DP", 0.1)), "11 slices or one fewer",
               d == 11 || d == 10);
  result.check("DP-mode takes the fast mode, d (d + 1) / 2 products", "66 = 11 * 12 / 2",
               fmt::format("{:.0f} = {} * {} / 2", count("DP", 0.1), d, d + 1), "equal",
               count("DP", 0.1) == d * (d + 1) / 2.0);
  result.near("time of phi = 1 over phi = 0.1, by products (paper: by speeds, 972.4 / 823.0)", 972.4 / 823.0,
              count("DP", 1) / count("DP", 0.1), 0.1);
  result.near("time of phi = 2 over phi = 0.1, by products (paper: by speeds, 972.4 / 713.1)", 972.4 / 713.1,
              count("DP", 2) / count("DP", 0.1), 0.1);
  result.near("CR over DP at phi = 0.1, by products (paper: by speeds, 972.4 / 220.4)", 972.4 / 220.4,
              count("CR", 0.1) / count("DP", 0.1), 0.2);
  result.panels = {slices, products};
  result.here = fmt::format(
      "k = 10240, DP-mode: {:.0f}, {:.0f} and {:.0f} products for phi = 0.1, 1, 2 where the paper's speeds imply 66, "
      "78 and 91: one slice "
      "fewer, since units that follow what is left gain a bit a slice. CR-mode: {:.0f}, {:.0f} and {:.0f}.",
      count("DP", 0.1), count("DP", 1), count("DP", 2), count("CR", 0.1), count("CR", 1), count("CR", 2));
  return result;
}

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

// ---- reproducibility
// -------------------------------------------------------------------------------------------------

// How many different results there are among several.
class Distinct {
 public:
  void add(const Matrix<double>& c) {
    ++runs_;
    if (std::none_of(seen_.begin(), seen_.end(), [&](const Matrix<double>& x) { return same_bits(x, c); }))
      seen_.push_back(c);
  }
  int runs() const { return runs_; }
  int results() const { return static_cast<int>(seen_.size()); }

 private:
  int runs_ = 0;
  std::vector<Matrix<double>> seen_;
};

// C in columns of `columns`, k in pieces that are added up: what a caller's own blocking does to a BLAS.
Matrix<double> blocked(const Matrix<double>& a, const Matrix<double>& b, std::int64_t columns, std::int64_t piece) {
  Matrix<double> c(a.rows, b.columns), part(a.rows, std::min(columns, b.columns));
  for (std::int64_t j = 0; j < b.columns; j += columns)
    for (std::int64_t l = 0; l < a.columns; l += piece) {
      const std::int64_t width = std::min(columns, b.columns - j), depth = std::min(piece, a.columns - l);
      cli::native_gemm<double>(Op::none, Op::none, a.rows, width, depth, a.data.data() + l * a.rows, a.rows,
                               b.data.data() + l + j * b.rows, b.rows, part.data.data(), part.rows);
      for (std::int64_t q = 0; q < width; ++q)
        for (std::int64_t i = 0; i < a.rows; ++i) c(i, j + q) += part(i, q);
    }
  return c;
}

Result reproducibility(const Context& context) {
  const std::int64_t n = context.quick ? 96 : 160, k = context.quick ? 256 : 400;
  const auto a = scattered_matrix<double>(n, k, 1, context.seed),
             b = scattered_matrix<double>(k, n, 1, context.seed + 1);
  Distinct dp, cr, residues, blas;
  const int threads_before = omp_get_max_threads();
  double done = 0;
  for (const int threads : {1, 2, 3, 4}) {
    omp_set_num_threads(threads);
    cli::set_native_threads(threads);
    for (const std::int64_t block : {48, 100, 256}) {
      Matrix<double> c(n, n);
      SliceOptions options = working(titan_engine);
      options.block = block;
      by_slices(a, b, c, options);
      dp.add(c);
      options = correct(titan_engine);
      options.block = block;
      options.k_block = 2 * block;
      by_slices(a, b, c, options);
      cr.add(c);
      Options fp64{.contract = Contract::parse("fp64+reproducible"), .threads = threads};
      fp64.workspace_limit =
          std::max(gemm_workspace<double>(n, n, k, fp64, true), static_cast<std::size_t>(block) << 13);
      gemm<double>(Op::none, Op::none, n, n, k, 1, a.data.data(), n, b.data.data(), k, 0, c.data.data(), n, fp64);
      residues.add(c);
      blas.add(blocked(a, b, block, 2 * block));
      context.progress(++done / 12);
    }
  }
  omp_set_num_threads(threads_before);
  cli::set_native_threads(threads_before);
  Result result;
  result.show_table = true;
  result.table.columns = {"method", "runs", "different results"};
  const auto row = [&](const char* name, const Distinct& d) { result.table.add({name, d.runs(), d.results()}); };
  row("DP-mode: 1 to 4 threads, three blockings of C", dp);
  row("CR-mode: 1 to 4 threads, three blockings of C and of k", cr);
  row("fp64 by residues: 1 to 4 threads, three workspaces", residues);
  row("BLAS: 1 to 4 threads, three blockings of C and of k by the caller", blas);
  const auto one = [&](const char* claim, const Distinct& d) {
    result.check(claim, "bitwise identical",
                 fmt::format("{} result{} in {} runs", d.results(), d.results() == 1 ? "" : "s", d.runs()),
                 "one result", d.results() == 1);
  };
  one("DP-mode has the same bits for every number of threads and blocking of C", dp);
  one("CR-mode has the same bits whatever the blocking, of k too", cr);
  one("so has the residue form", residues);
  result.check("a conventional product has not", "-", fmt::format("{} results", blas.results()), "more than one",
               blas.results() > 1);
  result.here = fmt::format(
      "{} runs of each, 1 to 4 threads and three blockings: one result of DP-mode, of CR-mode and of residues; {} of "
      "the BLAS underneath.",
      dp.runs(), blas.results());
  return result;
}

}  // namespace

void add_mukunoki(std::vector<Experiment>& list) {
  const auto add = [&list](const char* name, const char* title, const char* figure, const char* found,
                           Result (*run)(const Context&), bool needs_gpu = false) {
    list.push_back({name, title, paper, figure, found, needs_gpu, run});
  };
  add("dp-accuracy", "Accuracy of DP-mode and CR-mode", "figure 3",
      "DP-mode is as accurate as cublasDgemm, with some differences, since the number of slices is estimated from a "
      "probabilistic bound. CR-mode is correctly rounded: its error is zero throughout.",
      mode_accuracy<double>);
  add("sp-accuracy", "Accuracy of SP-mode", "figure 8", "SP-mode is as accurate as cublasSgemm.", mode_accuracy<float>);
  add("slices", "Slices and products", "figures 5 and 7",
      "At n = 10240 and phi = 0.1, DP-mode takes 66 products. Wider ranges of the inputs take more slices, and CR-mode "
      "more "
      "than DP-mode.",
      slices_and_products);
  add("dp-speed", "Speed and stages of the modes", "figures 4 to 7",
      "On a Titan RTX, where fp64 is slow, DP-mode is faster than cublasDgemm (980 against 539 GFLOP/s); on a V100, "
      "where it is "
      "fast, it is not. Products take about 70 % of the time; CR-mode takes 4.4 times that of DP-mode at phi = 0.1.",
      mode_speed);
  add("cards", "Two cards and this processor", "table 1",
      "DP-mode reaches 972, 823 and 713 GFLOP/s on a Titan RTX for phi = 0.1, 1, 2 (cublasDgemm 534), and 1064, 914 "
      "and 791 on a "
      "V100 (6761).",
      cards);
  add("reproducibility", "Reproducibility", "sections 1 and 3.1",
      "The results have the same bits whatever the number of threads and the blocking of C; with correct rounding, "
      "whatever the "
      "blocking of k too.",
      reproducibility);
  add("gpu-fp64-speed", "fp64 products on the GPU at hand", "figure 4 and table 1",
      "DP-mode reaches 972 GFLOP/s at phi = 0.1 on a Titan RTX, 1.82 times cublasDgemm, and 1064 on a V100, 0.16 "
      "times.",
      gpu::fp64_speed, true);
}

}  // namespace vernier::reproduce
