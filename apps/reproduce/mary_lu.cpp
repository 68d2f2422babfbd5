// Mary, with Blanchard, Higham, Lopez and Pranesh (2020): LU on block FMAs.
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/data.hpp"
#include "reproduce/mary.hpp"

namespace vernier::reproduce::mary {

using model::Format;

namespace {

// ---- LU
// ----------------------------------------------------------------------------------------------------------------

// |PA - LU| / |A| in the Frobenius norm.
double lu_error(const ModelledLu& lu, Matrix<double> a) {
  const std::int64_t n = a.rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) std::swap(a(i, j), a(lu.pivots[static_cast<std::size_t>(i)] - 1, j));
  const auto factor = [&](std::int64_t i, std::int64_t j) { return lu.lu[static_cast<std::size_t>(i + j * n)]; };
  double error = 0, norm = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = i <= j ? factor(i, j) : 0;
      for (std::int64_t p = 0; p < std::min(i, j + 1); ++p) sum += factor(i, p) * factor(p, j);
      error += (a(i, j) - sum) * (a(i, j) - sum);
      norm += a(i, j) * a(i, j);
    }
  return std::sqrt(error / norm);
}

struct LuVariant {
  std::string name;
  std::function<ModelledLu(std::int64_t, const double*)> factor;
};

LuVariant right_looking(std::string name, const model::Engine& engine, std::int64_t outer, std::int64_t inner) {
  return {std::move(name), [=](std::int64_t n, const double* a) {
            return modelled_right_looking_lu({engine, outer, inner}, n, a, n);
          }};
}

Panel lu_curves(const Context& context, const std::vector<LuVariant>& variants, std::int64_t least,
                std::int64_t largest, Result& result) {
  result.table.columns = {"variant", "n", "|PA - LU| / |A|"};
  Panel panel{"", {"n", Scale::log2, {}}, {"|PA - LU| / |A|, Frobenius norm", Scale::log10, {}}, {}};
  double done = 0, all = 0;
  for (std::int64_t n = least; n <= largest; n *= 2)
    all += std::pow(static_cast<double>(n), 3) * static_cast<double>(variants.size());
  for (const LuVariant& v : variants) {
    Series series{v.name, {}, {}};
    for (std::int64_t n = least; n <= largest; n *= 2) {
      const auto a = uniform_matrix<double>(n, n, -1, 1, context.seed + static_cast<std::uint64_t>(n));
      series.add(static_cast<double>(n), lu_error(v.factor(n, a.data.data()), a));
      result.table.add({v.name, n, series.y.back()});
      context.progress((done += std::pow(static_cast<double>(n), 3)) / all);
    }
    panel.series.push_back(series);
  }
  return panel;
}

}  // namespace

Result lu(const Context& context) {
  Result result;
  std::vector<LuVariant> variants;
  for (const Fma& fma : four()) variants.push_back(right_looking(fma.name, fma.engine, fma.units.b, fma.units.b));
  result.panels = {lu_curves(context, variants, 32, context.quick ? 128 : 512, result)};
  const auto& s = result.panels[0].series;
  const double half = s[0].y.back(), sixteen = s[1].y.back(), thirty_two = s[2].y.back(), single = s[3].y.back();
  result.check("LU comes in the order of the products: fp16, TC16, TC32, fp32", "same bounds to first order",
               fmt::format("{:.1e}, {:.1e}, {:.1e}, {:.1e}", half, sixteen, thirty_two, single),
               "strictly falling at the largest n", half > sixteen && sixteen > thirty_two && thirty_two > single);
  result.check("TC32 is more accurate than TC16", "recommended", fmt::format("{:.2f} times", sixteen / thirty_two),
               "at least 1.2 times", sixteen >= 1.2 * thirty_two);
  result.here = fmt::format(
      "n = {:.0f}, uniform in [-1, 1), partial pivoting, panels of b: fp16 {:.1e}, TC16 {:.1e}, TC32 {:.1e}, fp32 "
      "{:.1e}.",
      s[0].x.back(), half, sixteen, thirty_two, single);
  return result;
}

Result lu_storage(const Context& context) {
  const model::Engine engine = tc32().engine;
  // Sums in fp32, rounded to fp16 when they leave the engine: what storing the factors in fp16 does to each update.
  const model::Engine stored = model::block_fma(Format::fp16, Format::fp16, 4, 24, 24, 11);
  const std::vector<LuVariant> variants = {right_looking("right-looking, stored in fp16", stored, 4, 4),
                                           right_looking("right-looking, stored in fp32", engine, 4, 4),
                                           right_looking("panels of 64 in fp32", engine, 64, 64),
                                           right_looking("double panel, 64 and 4", engine, 64, 4),
                                           {"left-looking, stored in fp16", [engine](std::int64_t n, const double* a) {
                                              return modelled_left_looking_lu({engine, 64, 4}, n, a, n);
                                            }}};
  Result result;
  result.panels = {lu_curves(context, variants, 128, context.quick ? 256 : 512, result)};
  const auto& s = result.panels[0].series;
  const double right16 = s[0].y.back(), right32 = s[1].y.back(), fp32_panels = s[2].y.back(), twice = s[3].y.back(),
               left = s[4].y.back();
  result.check("fp16 storage, rounded after each update, loses accuracy", "great loss",
               fmt::format("{:.2f} times the error of rounding once", right16 / left), "at least 1.5 times",
               right16 >= 1.5 * left);
  result.check("left-looking with an fp32 buffer loses none", "no accuracy loss",
               fmt::format("{:.2f} times", left / right32), "at most 1.1 times", left <= 1.1 * right32);
  result.check(
      "the double panel hierarchy keeps TC32's accuracy", "mixed precision TC32 in the panel",
      fmt::format("{:.2f} times TC32's; with panels in fp32 {:.2f} times", twice / right32, fp32_panels / right32),
      "at most 1.1 times", twice <= 1.1 * right32);
  result.here = fmt::format(
      "n = {:.0f}: right-looking {:.1e} in fp32 and {:.1e} in fp16 storage; left-looking in fp16 {:.1e}, less than "
      "either, since the updates take the "
      "very numbers that are stored.",
      s[0].x.back(), right32, right16, left);
  return result;
}

}  // namespace vernier::reproduce::mary
