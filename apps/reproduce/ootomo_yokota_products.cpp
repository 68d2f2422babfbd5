// Ootomo and Yokota (2021): errors of products against k, and what causes them. Products are those of the modelled
// tensor cores, to the last bit.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vernier/split.hpp>

#include "reproduce/data.hpp"
#include "reproduce/ootomo_yokota.hpp"

namespace vernier::reproduce::ootomo_yokota {
namespace {

using split::Scheme;

// Rounding to 11 bits, x uniform: E[error^2] / E[x^2] = 2^-20 / 28, twice for the two factors of each term.
const double bare_plateau = 0x1p-10 * std::sqrt(2.0 / 28);
// k additions to nearest of a random walk: sum_l l u^2 E[(ulp / s)^2] / 12 over k, ulp / s for a log-uniform s.
double fp32_theory(double k) { return 0x1p-23 * std::sqrt(k * 3 / (16 * 12 * std::log(2.0))); }

// A100: of the eight blocks that add to c for 16 k, six (those of lo lo fall below c's last bit) lose a quarter of an
// ulp on the mean, always toward zero: one bit is kept below the last, and half the time it is set. sum_l s_l grows
// with k.
double markidis_theory(double k) { return k * 6 / 16 / 4 * 0x1p-23 * (0.5 / std::log(2.0)) / std::sqrt(3.0); }

using Multiply = std::function<Matrix<float>(const Matrix<float>&, const Matrix<float>&)>;
using Operands = std::function<std::pair<Matrix<float>, Matrix<float>>(std::uint64_t seed)>;

constexpr std::int64_t side = 16;

Multiply on(const Scheme& scheme, const model::Engine& engine) {
  return [scheme, engine](const Matrix<float>& a, const Matrix<float>& b) {
    Matrix<float> c(a.rows, b.columns);
    split::multiply(scheme, engine, Op::none, Op::none, a.rows, b.columns, a.columns, a.data.data(), a.rows,
                    b.data.data(), b.rows, c.data.data(), c.rows);
    return c;
  };
}

Multiply on(const char* scheme, const char* engine) {
  return on(split::find_scheme(scheme), model::find_engine(engine).engine);
}

// The papers' matmul-(16, 16, k), uniform in (-8, 8).
Operands uniform(std::int64_t k) {
  return [k](std::uint64_t seed) {
    return std::pair{uniform_matrix<float>(side, k, -8, 8, 2 * seed),
                     uniform_matrix<float>(k, side, -8, 8, 2 * seed + 1)};
  };
}

// Mean over 8 seeds, as in the paper.
double mean_residual(const Context& context, const Operands& operands, const Multiply& multiply) {
  const int seeds = context.quick ? 3 : 8;
  double sum = 0;
  for (int s = 0; s < seeds; ++s) {
    const auto [a, b] = operands(context.seed * 1000 + static_cast<std::uint64_t>(s));
    sum += residual(a, b, multiply(a, b));
  }
  return sum / seeds;
}

struct Curve {
  std::string label;
  Multiply multiply;
  Mark mark = Mark::points_and_line;
};

Axis k_axis() { return {"k", Scale::log2, {}}; }
Axis error_axis() { return {"relative residual", Scale::log10, {}}; }

// Errors of all curves for k = 16, 32, ..., largest.
Panel error_curves(const Context& context, Result& result, const std::string& title, const std::vector<Curve>& curves,
                   std::int64_t largest, double from, double to) {
  Panel panel{title, k_axis(), error_axis(), {}};
  double done = 0, all = 0;
  for (std::int64_t k = 16; k <= largest; k *= 2) all += static_cast<double>(k) * static_cast<double>(curves.size());
  for (const Curve& curve : curves) {
    Series series{curve.label, {}, {}, curve.mark};
    for (std::int64_t k = 16; k <= largest; k *= 2) {
      const double error = mean_residual(context, uniform(k), curve.multiply);
      series.add(static_cast<double>(k), error);
      result.table.add({title, curve.label, k, error});
      done += static_cast<double>(k);
      context.progress(from + (to - from) * done / all);
    }
    panel.series.push_back(series);
  }
  return panel;
}

const Series& series_of(const Panel& panel, const std::string& label) {
  return *std::find_if(panel.series.begin(), panel.series.end(), [&](const Series& s) { return s.label == label; });
}

// The largest of x / y over the curves' points from the index on.
double largest_ratio(const Series& x, const Series& y, std::size_t from = 0) {
  double largest = 0;
  for (std::size_t i = from; i < x.y.size(); ++i) largest = std::max(largest, x.y[i] / y.y[i]);
  return largest;
}
double smallest_ratio(const Series& x, const Series& y, std::size_t from = 0) { return 1 / largest_ratio(y, x, from); }

Series expected(const char* label, const Series& like, double (*theory)(double)) {
  Series line{label, like.x, {}, Mark::dashed};
  for (const double k : like.x) line.y.push_back(theory(k));
  return line;
}

}  // namespace

Result accuracy(const Context& context) {
  Result result;
  result.table.columns = {"panel", "method", "k", "relative residual"};
  const std::int64_t largest = context.quick ? 4096 : 32768;
  for (const auto& [title, generation, from] :
       {std::tuple{"tensor cores of an A100", "ampere", 0.0}, {"tensor cores of an H200", "hopper-wgmma", 0.5}}) {
    const std::string fp16 = std::string(generation) + "-fp16-fp32", tf32 = std::string(generation) + "-tf32-fp32";
    const std::vector<Curve> curves = {
        {"fp16, uncorrected", on("bare_fp16", fp16.c_str())}, {"tf32, uncorrected", on("bare_tf32", tf32.c_str())},
        {"Markidis et al.", on("markidis", fp16.c_str())},    {"halfhalf", on("halfhalf", fp16.c_str())},
        {"tf32tf32", on("tf32tf32", tf32.c_str())},           {"fp32", conventional_product}};
    result.panels.push_back(error_curves(context, result, title, curves, largest, from, from + 0.5));
    Panel& panel = result.panels.back();
    panel.series[1].mark = Mark::dashed;  // beside fp16's, of the same height
    panel.series.push_back(expected("fp32, expected", panel.series.back(), fp32_theory));
  }
  result.panels[0].series.push_back(expected("Markidis, expected", result.panels[0].series[5], markidis_theory));
  const Panel& a100 = result.panels.front();
  const Series &fp32 = series_of(a100, "fp32"), &markidis = series_of(a100, "Markidis et al."),
               &half = series_of(a100, "halfhalf"), &tf32 = series_of(a100, "tf32tf32"),
               &bare = series_of(a100, "fp16, uncorrected");
  const double worst = std::max(largest_ratio(half, fp32, 2), largest_ratio(tf32, fp32, 2));
  result.check("halfhalf and tf32tf32 are as accurate as fp32", "same level",
               fmt::format("at most {:.2f} times fp32's error", worst), "at most 1.2 times, from k = 64 on",
               worst <= 1.2);
  const std::size_t last = fp32.y.size() - 1;
  const double apart = markidis.y[last] / fp32.y[last], near = markidis.y[2] / fp32.y[2];
  result.check("Markidis' error grows away from fp32's with k", "worse, and the more so the larger k",
               fmt::format("{:.1f} times at k = 64, {:.1f} times at k = {}", near, apart, fp32.x[last]),
               "at least twice the distance of k = 64", apart >= 2 * near);
  result.check("uncorrected products are far behind the corrected ones", "fp16's level",
               fmt::format("at least {:.0f} times halfhalf's error", smallest_ratio(bare, half)), "at least 50 times",
               smallest_ratio(bare, half) >= 50);
  result.near("plateau of the uncorrected products at k = 1024 (expected: two roundings to 11 bits)", bare_plateau,
              bare.y[6], 0.2);
  result.near(fmt::format("fp32 at k = {} (expected: a random walk, rounded to nearest)", fp32.x[last]),
              fp32_theory(fp32.x[last]), fp32.y[last], 0.2);
  const double k_last = fp32.x[last];
  result.near(fmt::format("Markidis at k = {} (expected: six cuts toward zero every 16 k)", k_last),
              markidis_theory(k_last), markidis.y[last], 0.2);
  const auto crossing = [](double single, double corrected, double k) { return k * std::pow(single / corrected, 2); };
  result.near("crossing: the k where Markidis' line meets fp32's (expected: of the two lines above)",
              crossing(fp32_theory(k_last), markidis_theory(k_last), k_last),
              crossing(fp32.y[last], markidis.y[last], k_last), 0.2);
  result.here = fmt::format(
      "On the modelled tensor cores of an A100, at k = {}: fp32 {:.1e}, halfhalf {:.1e}, tf32tf32 {:.1e}, Markidis "
      "{:.1e}, "
      "uncorrected fp16 {:.1e}. On those of an H200, which keep one bit more and truncate half as often, Markidis has "
      "{:.1e}.",
      fp32.x[last], fp32.y[last], half.y[last], tf32.y[last], markidis.y[last], bare.y[last],
      series_of(result.panels[1], "Markidis et al.").y[last]);
  return result;
}

Result cleared_bit(const Context& context) {
  Result result;
  result.table.columns = {"panel", "method", "k", "relative residual"};
  const auto cleared = [](Matrix<float> x) {
    for (float& e : x.data) e = std::bit_cast<float>(std::bit_cast<std::uint32_t>(e) & ~1U);
    return x;
  };
  const Multiply fewer = [cleared](const Matrix<float>& a, const Matrix<float>& b) {
    return conventional_product(cleared(a), cleared(b));
  };
  const std::vector<Curve> curves = {{"Markidis et al., 22.75 bits", on("markidis", "ampere-fp16-fp32")},
                                     {"fp32, last bit cleared, 22.5 bits", fewer},
                                     {"fp32", conventional_product}};
  result.panels = {error_curves(context, result, "", curves, context.quick ? 4096 : 32768, 0, 1)};
  const auto& s = result.panels[0].series;
  const double least = smallest_ratio(s[0], s[1], 4), most = largest_ratio(s[1], s[2], 4);
  result.check("Markidis, with 22.75 bits, is less accurate than fp32 with 22.5 bits", "worse",
               fmt::format("at least {:.1f} times its error from k = 256 on", least), "more than 1.3 times",
               least > 1.3);
  result.check("so lost bits are not the cause", "-",
               fmt::format("clearing the bit costs fp32 at most a factor of {:.2f} from k = 256 on", most),
               "at most 1.3 times", most <= 1.3);
  const std::size_t last = s[0].y.size() - 1;
  result.here = fmt::format("At k = {}: Markidis {:.1e}, fp32 of 22.5 bits {:.1e}, fp32 {:.1e}.", s[0].x[last],
                            s[0].y[last], s[1].y[last], s[2].y[last]);
  return result;
}

Result rounding(const Context& context) {
  Result result;
  result.table.columns = {"panel", "method", "k", "relative residual"};
  const std::vector<Curve> curves = {{"Markidis et al., A100", on("markidis", "ampere-fp16-fp32")},
                                     {"mma_rz: + C toward zero", on("markidis", "mma-rz")},
                                     {"mma_rn: + C to nearest", on("markidis", "mma-rn")},
                                     {"fp32", conventional_product}};
  result.panels = {error_curves(context, result, "", curves, context.quick ? 2048 : 16384, 0, 1)};
  const auto& s = result.panels[0].series;
  const std::size_t from = 4;
  const double rn = largest_ratio(s[2], s[3], from), low = smallest_ratio(s[1], s[0], from),
               high = largest_ratio(s[1], s[0], from);
  result.check("with mma_rn the error is fp32's", "same level", fmt::format("at most {:.2f} times fp32's", rn),
               "at most 1.2 times, from k = 256 on", rn <= 1.2);
  result.check("with mma_rz it is that of the tensor cores", "same level",
               fmt::format("{:.2f} to {:.2f} times the A100's", low, high), "0.5 to 2 times, from k = 256 on",
               low >= 0.5 && high <= 2);
  const std::size_t last = s[0].y.size() - 1;
  result.check("so the rounding of + C is the cause", "-",
               fmt::format("rz is {:.1f} times worse than rn at k = {}", s[1].y[last] / s[2].y[last], s[0].x[last]),
               "more than 3 times", s[1].y[last] > 3 * s[2].y[last]);
  result.here = fmt::format("At k = {}: A100 {:.1e}, mma_rz {:.1e}, mma_rn {:.1e}, fp32 {:.1e}.", s[0].x[last],
                            s[0].y[last], s[1].y[last], s[2].y[last], s[3].y[last]);
  return result;
}

Result lo_lo(const Context& context) {
  Result result;
  result.table.columns = {"panel", "method", "k", "relative residual"};
  const auto with_fourth = [](const char* name) {
    Scheme s = split::find_scheme(name);
    s.terms.push_back({1, 1, static_cast<int>(s.sums.size())});
    s.sums.push_back({0, 22});
    return s;
  };
  const model::Engine half = model::find_engine("ampere-fp16-fp32").engine,
                      tf32 = model::find_engine("ampere-tf32-fp32").engine;
  const std::vector<Curve> curves = {{"halfhalf, three products", on(split::find_scheme("halfhalf"), half)},
                                     {"halfhalf, with lo lo", on(with_fourth("halfhalf"), half), Mark::dashed},
                                     {"tf32tf32, three products", on(split::find_scheme("tf32tf32"), tf32)},
                                     {"tf32tf32, with lo lo", on(with_fourth("tf32tf32"), tf32), Mark::dashed},
                                     {"fp32", conventional_product}};
  result.panels = {error_curves(context, result, "", curves, context.quick ? 2048 : 16384, 0, 1)};
  const auto& s = result.panels[0].series;
  double cost = 0;  // as a share of fp32's error
  for (std::size_t i = 2; i < s[4].y.size(); ++i)
    cost = std::max({cost, (s[0].y[i] - s[1].y[i]) / s[4].y[i], (s[2].y[i] - s[3].y[i]) / s[4].y[i]});
  result.check("dropping lo lo costs no accuracy", "negligible",
               fmt::format("at most {:.1f} % of fp32's error", 100 * cost), "at most 10 %, from k = 64 on",
               cost <= 0.1);
  const double own = std::max(largest_ratio(s[0], s[1], 2), largest_ratio(s[2], s[3], 2));
  const auto terms = split::find_scheme("halfhalf").terms.size(), four = split::find_scheme("markidis").terms.size();
  result.within("products, as a share of Markidis'", 0.75, static_cast<double>(terms) / static_cast<double>(four), 0);
  result.here = fmt::format(
      "Three products in place of four cost at most {:.1f} % of fp32's error. Next to the errors of halfhalf and "
      "tf32tf32 themselves, which lie below fp32's, that is up to {:.1f} %.",
      100 * cost, 100 * (own - 1));
  return result;
}

namespace {

struct InputType {
  const char* label;  // number and classes, on two lines
  int a_low, a_high, b_low, b_high;
};

std::string cell_label(std::string label) {
  std::replace(label.begin(), label.end(), '\n', ' ');
  return label;
}

}  // namespace

Result input_types(const Context& context) {
  // The largest exponent of class A is 14, so that no fp16 overflows in rounding.
  const InputType types[] = {{"1\n(A)x(A)", -15, 14, -15, 14},   {"2\n(A)x(B)", -15, 14, -35, -15},
                             {"3\n(B)x(B)", -35, -15, -35, -15}, {"4\n(A)x(C)", -15, 14, -45, -35},
                             {"4\n(B)x(C)", -35, -15, -45, -35}, {"4\n(C)x(C)", -45, -35, -45, -35}};
  const std::int64_t k = 256;
  const std::pair<const char*, Multiply> methods[] = {{"fp32", conventional_product},
                                                      {"tf32tf32", on("tf32tf32", "ampere-tf32-fp32")},
                                                      {"halfhalf", on("halfhalf", "ampere-fp16-fp32")}};
  Result result;
  result.table.columns = {"type", "method", "k", "relative residual"};
  Panel panel{"", {"type of input", Scale::linear, {}}, error_axis(), {}};
  for (const InputType& t : types) panel.x.categories.emplace_back(t.label);
  double done = 0;
  for (const auto& [name, multiply] : methods) {
    Series bars{name, {}, {}, Mark::bars};
    for (std::size_t t = 0; t < std::size(types); ++t) {
      const InputType type = types[t];
      const Operands operands = [type, k](std::uint64_t seed) {
        return std::pair{exp_rand_matrix(side, k, type.a_low, type.a_high, 2 * seed),
                         exp_rand_matrix(k, side, type.b_low, type.b_high, 2 * seed + 1)};
      };
      const double error = mean_residual(context, operands, multiply);
      bars.add(static_cast<double>(t), error);
      result.table.add({cell_label(type.label), name, k, error});
      context.progress(++done / 18);
    }
    panel.series.push_back(bars);
  }
  const std::vector<double>&fp32 = panel.series[0].y, &tf32 = panel.series[1].y, &half = panel.series[2].y;
  double tf32_worst = 0;
  for (std::size_t t = 0; t < fp32.size(); ++t) tf32_worst = std::max(tf32_worst, tf32[t] / fp32[t]);
  result.check("tf32tf32 matches fp32 on every type", "same level", fmt::format("at most {:.2f} times", tf32_worst),
               "at most 1.2 times", tf32_worst <= 1.2);
  result.check("halfhalf matches fp32 on type 1", "almost the same", fmt::format("{:.2f} times", half[0] / fp32[0]),
               "at most 1.2 times", half[0] <= 1.2 * fp32[0]);
  result.check("halfhalf loses accuracy on types 2 and 3", "worse",
               fmt::format("{:.1g} and {:.1g} times", half[1] / fp32[1], half[2] / fp32[2]),
               "more than twice, below 1 in all", half[1] > 2 * fp32[1] && half[2] > 2 * fp32[2] && half[2] < 1);
  const double useless = *std::min_element(half.begin() + 3, half.end());
  result.check("halfhalf is useless on type 4", "no correct result", fmt::format("at least {:.2g}", useless),
               "residual above 0.01", useless > 0.01);
  result.here = fmt::format(
      "halfhalf: {:.1e} on type 1, {:.1e} on 2, {:.1e} on 3, {:.1e} or more on 4; fp32 {:.1e} and tf32tf32 {:.1e} on "
      "1.",
      half[0], half[1], half[2], useless, fp32[0], tf32[0]);
  result.panels = {panel};
  return result;
}

}  // namespace vernier::reproduce::ootomo_yokota
