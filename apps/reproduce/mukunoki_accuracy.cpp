// Mukunoki, Ozaki, Ogita and Imamura (2020): accuracy, slices and bits of DP-, SP- and CR-mode.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <map>

#include "reproduce/mukunoki.hpp"

namespace vernier::reproduce::mukunoki {
namespace {

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

}  // namespace

Result dp_accuracy(const Context& context) { return mode_accuracy<double>(context); }
Result sp_accuracy(const Context& context) { return mode_accuracy<float>(context); }

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
      for (std::int64_t k = 640; k <= 10240; k *= context.quick ? 16 : 4) {
        const std::int64_t side = dp ? 64 : 16;  // DP-mode takes the largest estimate of all rows
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

namespace {

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
      cli::native_gemm<double>({Op::none, Op::none, a.rows, width, depth, a.data.data() + l * a.rows, a.rows,
                                b.data.data() + l + j * b.rows, b.rows, part.data.data(), part.rows});
      for (std::int64_t q = 0; q < width; ++q)
        for (std::int64_t i = 0; i < a.rows; ++i) c(i, j + q) += part(i, q);
    }
  return c;
}

}  // namespace

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

}  // namespace vernier::reproduce::mukunoki
