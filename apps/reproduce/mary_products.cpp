// Mary, with Blanchard, Higham, Lopez and Pranesh (2020): error bounds of block FMAs, and products on them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "reproduce/data.hpp"
#include "reproduce/mary.hpp"

namespace vernier::reproduce::mary {

using model::Format;

Fma standard_fp16() {
  return {"fp16", model::block_fma(Format::fp16, Format::fp16, 1, 11, 11, 11), {u16, u16, u16, u16, 1}};
}
Fma tc16() { return {"TC16", model::block_fma(Format::fp16, Format::fp16, 4, 24, 11, 11), {u16, u32, u16, u16, 4}}; }
Fma tc32() { return {"TC32", model::block_fma(Format::fp16, Format::fp32, 4, 24, 24, 24), {u16, u32, u32, u32, 4}}; }
Fma standard_fp32() {
  return {"fp32", model::block_fma(Format::fp32, Format::fp32, 1, 24, 24, 24), {u32, u32, u32, u32, 1}, false};
}
std::vector<Fma> four() { return {standard_fp16(), tc16(), tc32(), standard_fp32()}; }

namespace {

// ---- products
// ----------------------------------------------------------------------------------------------------------

std::vector<std::byte> packed(Format format, const std::vector<double>& x) {
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(format));
  std::vector<std::byte> out(x.size() * bytes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t word = model::encode(format, x[i]);
    std::memcpy(out.data() + i * bytes, &word, bytes);
  }
  return out;
}

// The largest |C - AB| / |A||B| of 16 x 16 entries, A and B uniform in [0, 1).
double product_error(const Fma& fma, std::int64_t k, std::uint64_t seed) {
  constexpr std::int64_t m = 16;
  const auto at = uniform_matrix<double>(k, m, 0, 1, seed), b = uniform_matrix<double>(k, m, 0, 1, seed + 1);
  const auto pa = packed(fma.engine.a, at.data), pb = packed(fma.engine.b, b.data);
  auto c = packed(fma.engine.c, std::vector<double>(m * m, 0.0));
  model::multiply(fma.engine, {}, m, m, k, pa.data(), k, pb.data(), k, c.data(), c.data(), m);
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(fma.engine.c));
  double largest = 0;
  for (std::int64_t j = 0; j < m; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      long double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += static_cast<long double>(at(l, i)) * b(l, j);
      std::uint64_t word = 0;
      std::memcpy(&word, c.data() + static_cast<std::size_t>(i + j * m) * bytes, bytes);
      largest = std::max(largest, static_cast<double>(std::abs(model::decode(fma.engine.c, word) - sum) / sum));
    }
  return largest;
}

struct BoundRow {
  const char* name;
  FmaKind kind;
  Fma fma;
};

std::vector<BoundRow> bound_rows() {
  const auto fma = [](Format out, int add_bits, double add, double joined) {
    return Fma{"",
               model::block_fma(Format::fp16, out, 4, 24, add_bits, out == Format::fp16 ? 11 : 24),
               {u16, u32, add, joined, 4}};
  };
  return {{"standard, u_low", FmaKind::standard_low, standard_fp16()},
          {"u_FMA low, u_add low", FmaKind::low_low, fma(Format::fp16, 11, u16, u16)},
          {"u_FMA low, u_add high", FmaKind::low_high, fma(Format::fp16, 24, u32, u16)},
          {"u_FMA low, u_add 0", FmaKind::low_exact, fma(Format::fp16, 0, 0, u16)},
          {"u_FMA high, u_add low", FmaKind::high_low, fma(Format::fp32, 11, u16, u32)},
          {"u_FMA high, u_add high", FmaKind::high_high, fma(Format::fp32, 24, u32, u32)},
          {"u_FMA high, u_add 0", FmaKind::high_exact, fma(Format::fp32, 0, 0, u32)},
          {"standard, u_high", FmaKind::standard_high, standard_fp32()}};
}

}  // namespace

Result bounds(const Context& context) {
  const std::int64_t sizes[] = {16, 64, 256, 1024, 4096};
  Result result;
  result.table.columns = {"evaluation", "n", "bound of the table", "bound, all orders", "largest error"};
  Panel panels[] = {
      {"rounded to fp16 after each block", {"n", Scale::log2, {}}, {"relative to |A||B|", Scale::log10, {}}, {}},
      {"accumulated in fp32", {"n", Scale::log2, {}}, {"relative to |A||B|", Scale::log10, {}}, {}}};
  double done = 0, worst = 0;
  std::map<FmaKind, double> last, bound_of;
  for (const BoundRow& row : bound_rows()) {
    Panel& panel = panels[row.kind == FmaKind::standard_high || row.fma.engine.c == Format::fp32 ? 1 : 0];
    const int colour = static_cast<int>(panel.series.size() / 2);
    Series measured{row.name, {}, {}, Mark::points, colour}, bound{"its bound", {}, {}, Mark::line, colour};
    for (const std::int64_t n : sizes) {
      const double table = block_fma_table(row.kind, n, 4, u16, u32),
                   all = block_fma_bound(row.fma.units, n, row.fma.converted),
                   error = product_error(row.fma, n, context.seed);
      measured.add(static_cast<double>(n), error);
      bound.add(static_cast<double>(n), table);
      result.table.add({row.name, n, table, std::isfinite(all) ? Json(all) : Json("none"), error});
      if (std::isfinite(all)) worst = std::max(worst, error / all);
      last[row.kind] = error, bound_of[row.kind] = table;
      context.progress(++done / 40);
    }
    panel.series.push_back(measured);
    panel.series.push_back(bound);
  }
  result.panels = {panels[0], panels[1]};
  result.check("the bounds hold", "|C - AB| <= c |A||B|", fmt::format("largest error / bound {:.2f}", worst),
               "at most 1", worst <= 1);
  result.within("blocks of 4 reduce the bound of u_low by a factor of b", 4,
                bound_of[FmaKind::standard_low] / bound_of[FmaKind::low_exact], 0);
  const double add_low = last[FmaKind::low_low] / last[FmaKind::low_exact],
               add_high = last[FmaKind::high_high] / last[FmaKind::high_exact];
  result.check("with u_FMA = u_low a smaller u_add is not very useful", "critical is u_FMA",
               fmt::format("u_add = 0 gains a factor of {:.2f} at n = 4096", add_low),
               "below 4, the bounds' at small n", add_low < 4);
  const double fma_matters = last[FmaKind::low_low] / last[FmaKind::high_low];
  result.check("u_FMA = u_high matters more", "critical is u_FMA",
               fmt::format("it gains a factor of {:.0f} at n = 4096", fma_matters),
               "more than u_add gains, and above 4", fma_matters > std::max(4.0, add_low));
  result.check("with u_FMA = u_high, u_add = 0 is not useful beyond u_high", "no gain",
               fmt::format("a factor of {:.2f}", add_high), "at most 1.2", add_high <= 1.2 && add_high >= 1 / 1.2);
  result.here = fmt::format(
      "Largest errors at n = 4096, uniform data in [0, 1), b = 4: {:.1e} for standard fp16, {:.1e} and {:.1e} for "
      "u_FMA = u_low with u_add "
      "= u_low and 0, {:.1e} and {:.1e} for u_FMA = u_high with u_add = u_low and u_high, {:.1e} for fp32.",
      last[FmaKind::standard_low], last[FmaKind::low_low], last[FmaKind::low_exact], last[FmaKind::high_low],
      last[FmaKind::high_high], last[FmaKind::standard_high]);
  return result;
}

Result products(const Context& context) {
  Result result;
  result.table.columns = {"engine", "n", "largest error", "bound"};
  Panel panel{"", {"n", Scale::log2, {}}, {"largest error, relative to |A||B|", Scale::log10, {}}, {}};
  double done = 0;
  int colour = 0;
  for (const Fma& fma : four()) {
    Series measured{fma.name, {}, {}, Mark::points_and_line, colour},
        bound{fma.name + ", bound", {}, {}, Mark::dashed, colour};
    ++colour;
    for (std::int64_t n = 16; n <= (context.quick ? 4096 : 16384); n *= 4) {
      const double error = product_error(fma, n, context.seed + 10),
                   most = block_fma_bound(fma.units, n, fma.converted);
      measured.add(static_cast<double>(n), error);
      bound.add(static_cast<double>(n), most);
      result.table.add({fma.name, n, error, std::isfinite(most) ? Json(most) : Json("none")});
      context.progress(++done / 24);
    }
    panel.series.push_back(measured);
    panel.series.push_back(bound);
  }
  result.panels = {panel};
  const std::vector<double>&half = panel.series[0].y, &sixteen = panel.series[2].y, &thirty_two = panel.series[4].y,
        &single = panel.series[6].y;
  const auto growth = [](const std::vector<double>& y) { return y.back() / y.front(); };
  result.check("fp16 and TC16 grow with n", "n u16 and (n / 4) u16",
               fmt::format("by factors of {:.0f} and {:.0f}", growth(half), growth(sixteen)), "more than 5 each",
               growth(half) > 5 && growth(sixteen) > 5);
  result.check("TC32 does not", "2 u16 + (n / 4) u32", fmt::format("by a factor of {:.2f}", growth(thirty_two)),
               "at most 1.2", growth(thirty_two) <= 1.2);
  const bool ordered =
      half.back() > sixteen.back() && sixteen.back() > thirty_two.back() && thirty_two.back() > single.back();
  result.check(
      "the order is fp16, TC16, TC32, fp32", "TC32 significantly more accurate than TC16",
      fmt::format("{:.1e}, {:.1e}, {:.1e}, {:.1e}", half.back(), sixteen.back(), thirty_two.back(), single.back()),
      "strictly falling at the largest n", ordered);
  double worst = 0;
  for (std::size_t s = 0; s < panel.series.size(); s += 2)
    for (std::size_t i = 0; i < half.size(); ++i)
      if (std::isfinite(panel.series[s + 1].y[i]))
        worst = std::max(worst, panel.series[s].y[i] / panel.series[s + 1].y[i]);
  result.check("the bounds hold", "-", fmt::format("largest error / bound {:.2f}", worst), "at most 1", worst <= 1);
  result.here = fmt::format(
      "From n = 16 to {:.0f} the largest error of fp16 grows {:.0f} times, TC16's {:.0f} times; TC32's falls to {:.2f} "
      "of its own: the roundings of "
      "the inputs average out and nothing grows.",
      panel.series[0].x.back(), growth(half), growth(sixteen), growth(thirty_two));
  return result;
}

}  // namespace vernier::reproduce::mary
