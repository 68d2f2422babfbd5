// Ootomo and Yokota (2021): what two low-precision parts keep of one float.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vernier/split.hpp>

#include "reproduce/data.hpp"
#include "reproduce/ootomo_yokota.hpp"

namespace vernier::reproduce::ootomo_yokota {
namespace {

using split::Scheme;

constexpr std::uint32_t significands = 1U << 23;

// What the parts of v stand for.
double kept(const Scheme& scheme, float v) {
  std::array<std::uint64_t, 3> words{};
  split::split(scheme, v, words.data());
  double sum = 0;
  for (std::size_t p = 0; p < scheme.shifts.size(); ++p)
    sum += std::ldexp(model::decode(scheme.low, words[p]), -scheme.shifts[p]);
  return sum;
}

// Of 23 bits after the point, those that are kept: all if nothing is lost, one fewer if it is the last.
int kept_bits(const Scheme& scheme, float v) {
  const double lost = std::abs(kept(scheme, v) - static_cast<double>(v));
  return lost == 0 ? 23 : 23 - 1 - std::ilogb(lost / std::ldexp(1.0, std::ilogb(v) - 23));
}

float with_significand(std::uint32_t bits) { return std::bit_cast<float>(0x3f800000U | bits); }

// Table 1: what bits 12, 11 and 0 of the significand decide. -1: whatever.
struct Case {
  const char* label;
  int m12, m11, m0, bits;
  double probability;
};
constexpr Case cases[] = {
    {"l0 >= 2: m12 = 0, m11 = 0", 0, 0, -1, 23, 0.25},        {"l0 = 1: m12 = 0, m11 = 1, m0 = 0", 0, 1, 0, 23, 0.125},
    {"l0 = 1: m12 = 0, m11 = 1, m0 = 1", 0, 1, 1, 22, 0.125}, {"l0 = 0: m12 = 1, m11 = 0, m0 = 1", 1, 0, 1, 22, 0.125},
    {"l0 = 0: m12 = 1, m11 = 0, m0 = 0", 1, 0, 0, 23, 0.125}, {"l0 = 0: m12 = 1, m11 = 1", 1, 1, -1, 23, 0.25}};

bool belongs(const Case& c, std::uint32_t bits) {
  const auto bit = [bits](int i) { return static_cast<int>(bits >> i & 1); };
  return bit(12) == c.m12 && bit(11) == c.m11 && (c.m0 < 0 || bit(0) == c.m0);
}

}  // namespace

// Every significand there is, so that counting has no error.
Result significand(const Context& context) {
  const Scheme &half = split::find_scheme("halfhalf"), &tf32 = split::find_scheme("tf32tf32");
  std::array<std::int64_t, std::size(cases)> count{};
  std::array<std::int64_t, std::size(cases)> sum{};
  std::int64_t sum_tf32 = 0, sum_cleared = 0;
  const std::uint32_t step = context.quick ? 31 : 1;  // coprime to the places of the bits
  std::int64_t all = 0;
  for (std::uint32_t s = 0; s < significands; s += step, ++all) {
    const float v = with_significand(s);
    const auto c = static_cast<std::size_t>(
        std::find_if(std::begin(cases), std::end(cases), [&](const Case& x) { return belongs(x, s); }) -
        std::begin(cases));
    ++count[c];
    sum[c] += kept_bits(half, v);
    sum_tf32 += kept_bits(tf32, v);
    sum_cleared += 23 - static_cast<int>(s & 1);  // the last bit, cleared, is lost where it was set
    if (all % 65536 == 0) context.progress(static_cast<double>(s) / significands);
  }
  Result result;
  result.show_table = true;
  result.table.columns = {"case", "bits (paper)", "bits (counted)", "probability (paper)", "probability (counted)"};
  double total = 0, theory = 0, worst = 0;
  const auto share = [all](std::int64_t x) { return static_cast<double>(x) / static_cast<double>(all); };
  for (std::size_t c = 0; c < std::size(cases); ++c) {
    const double bits = static_cast<double>(sum[c]) / static_cast<double>(count[c]);
    result.table.add({cases[c].label, cases[c].bits, bits, cases[c].probability, share(count[c])});
    total += share(sum[c]);
    theory += cases[c].bits * cases[c].probability;
    worst = std::max({worst, std::abs(bits - cases[c].bits), std::abs(share(count[c]) - cases[c].probability)});
  }
  result.table.add({"expected length", theory, total, 1, 1});
  result.within("bits that two fp16 parts keep, to nearest even", 22.75, total, 0.01);
  result.within("the same with tf32 parts, rounded away from zero in ties", 22.75, share(sum_tf32), 0.01);
  result.within("bits of a float whose last bit is cleared", 22.5, share(sum_cleared), 0.01);
  result.within("the paper's table of cases, by its own sum", 22.75, theory, 0);
  result.check("every case of the table has that length and probability", "table 1",
               fmt::format("largest difference {:.2g}", worst), "at most 0.001", worst <= 0.001);
  result.here = fmt::format(
      "Counted over {} of the 2^23 significands: {:.6g} bits in two fp16 parts, {:.6g} in two tf32 parts, {:.6g} with "
      "the last bit cleared.",
      all == significands ? "all" : fmt::format("{}", all), total, share(sum_tf32), share(sum_cleared));
  return result;
}

namespace {

// P(l0 >= n) of section 3.3: l0 zeros lead the 13 bits below fp16's.
double leading_zeros_at_least(int n) { return n <= 0 ? 1 : n > 13 ? 0 : std::ldexp(1.0, -n); }
double p_gradual_or_underflow(int e) { return leading_zeros_at_least(e + 4); }  // e - (l0 + 11) <= -15
double p_underflow(int e) { return leading_zeros_at_least(e + 14); }            // e - (l0 + 1) <= -15

struct Counts {
  std::int64_t gradual = 0, underflow = 0;
};

// The paper's assumption: the first part is cut, and bits that are all zero count as 13 leading zeros.
void count_cut(float v, int e, Counts& counts) {
  const std::uint32_t rest = std::bit_cast<std::uint32_t>(v) & 0x1fffU;
  const int exponent = e - 11 - (rest == 0 ? 13 : std::countl_zero(rest) - 19);
  counts.gradual += exponent <= -15;
  counts.underflow += exponent + 10 <= -15;
}

// What markidis computes: both parts to nearest; only a rest that is not zero can underflow.
void count_nearest(const Scheme& scheme, float v, Counts& counts) {
  std::array<std::uint64_t, 2> words{};
  split::split(scheme, v, words.data());
  const double rest = static_cast<double>(v) - model::decode(scheme.low, words[0]);
  const double low = std::abs(model::decode(scheme.low, words[1]));
  counts.gradual += rest != 0 && low < 0x1p-14;
  counts.underflow += rest != 0 && low == 0;
}

}  // namespace

Result underflow(const Context& context) {
  const Scheme& markidis = split::find_scheme("markidis");
  const std::int64_t samples = context.quick ? 20000 : 400000;
  Result result;
  result.table.columns = {"exponent", "P_u+gu",      "P_u+gu counted", "P_u+gu as computed",
                          "P_u",      "P_u counted", "P_u as computed"};
  Series theory[2] = {{"$P_{u+gu}$, theory", {}, {}, Mark::line, 0}, {"$P_u$, theory", {}, {}, Mark::dashed, 4}};
  Series counted[2] = {{"$P_{u+gu}$, counted", {}, {}, Mark::points, 0}, {"$P_u$, counted", {}, {}, Mark::points, 4}};
  Series computed[2] = {{"$P_{u+gu}$, parts to nearest", {}, {}, Mark::points, 2},
                        {"$P_u$, parts to nearest", {}, {}, Mark::points, 5}};
  Random random(context.seed);
  double worst = 0;  // in standard deviations of the count
  for (int e = -16; e <= 12; ++e) {
    Counts cut, nearest;
    for (std::int64_t s = 0; s < samples; ++s) {
      const float v = std::ldexp(with_significand(static_cast<std::uint32_t>(random.bits() >> 41)), e);
      count_cut(v, e, cut);
      if (e >= -14) count_nearest(markidis, v, nearest);
    }
    const auto share = [samples](std::int64_t x) { return static_cast<double>(x) / static_cast<double>(samples); };
    const double p[2] = {p_gradual_or_underflow(e), p_underflow(e)};
    const double c[2] = {share(cut.gradual), share(cut.underflow)},
                 r[2] = {share(nearest.gradual), share(nearest.underflow)};
    for (int i = 0; i < 2; ++i) {
      const double deviation = std::sqrt(p[i] * (1 - p[i]) / static_cast<double>(samples));
      worst = std::max(worst, deviation > 0 ? std::abs(c[i] - p[i]) / deviation : c[i] == p[i] ? 0 : 1e9);
      theory[i].add(e, p[i]);
      counted[i].add(e, c[i]);
      if (e >= -14) computed[i].add(e, r[i]);
    }
    result.table.add({e, p[0], c[0], r[0], p[1], c[1], r[1]});
    context.progress((e + 17) / 29.0);
  }
  Panel panel{"", {"exponent of v", Scale::linear, {}}, {"probability", Scale::linear, {}}, {}};
  panel.series = {theory[0], counted[0], computed[0], theory[1], counted[1], computed[1]};
  result.panels = {panel};
  result.check("theory and count agree at every exponent", "figure 6",
               fmt::format("largest distance {:.1f} standard deviations", worst), "below 5", worst < 5);
  const double at_one = counted[0].y[16];
  result.check("gradual underflow occurs at |v| = 2^0 already", "2^-4 = 0.0625, by equation 11",
               fmt::format("{:.4f}", at_one), "to 5 %", std::abs(at_one / 0.0625 - 1) <= 0.05);
  result.near("P_u+gu(-2), by equation 11", 0.25, counted[0].y[14], 0.05);
  result.near("P_u(-12), by equation 13", 0.25, counted[1].y[4], 0.05);
  result.here = fmt::format(
      "At exponent 0, {:.2f} % of the values counted as the paper assumes lose bits to gradual underflow "
      "(theory 6.25 %), and {:.2f} % of those split as Markidis et al. do, to nearest, which makes the rest one bit "
      "smaller.",
      100 * at_one, 100 * computed[0].y[14]);
  return result;
}

namespace {

struct Representation {
  const char* label;
  const char* scheme;  // nullptr: fp32 itself
};

constexpr int lowest = -150, highest = 127;
double error_at(const Series& s, int exponent) { return s.y[static_cast<std::size_t>(exponent - lowest)]; }

// The lowest exponent down to which, from 1 on, the error stays below twice the plateau.
int range_from(const Series& s, double plateau) {
  int from = 1;
  for (int e = 0; e >= lowest && error_at(s, e) <= 2 * plateau; --e) from = e;
  return from;
}

}  // namespace

Result representation(const Context& context) {
  const Representation all[] = {{"fp32", nullptr},
                                {"fp16", "bare_fp16"},
                                {"Markidis' halfhalf", "markidis"},
                                {"halfhalf", "halfhalf"},
                                {"tf32tf32", "tf32tf32"}};
  const int samples = context.quick ? 400 : 4000;
  Result result;
  result.table.columns = {"representation", "exponent", "mean relative error"};
  Panel panel{"", {"exponent of v", Scale::linear, {}}, {"mean relative error", Scale::log10, {}}, {}};
  double done = 0;
  for (const Representation& r : all) {
    Series series{r.label, {}, {}, Mark::line};
    Random random(context.seed);
    for (int e = lowest; e <= highest; ++e) {
      double sum = 0;
      for (int s = 0; s < samples; ++s) {
        const double v = std::ldexp(1 + random.uniform() * (1 - 0x1p-24), e);
        const auto narrow = static_cast<float>(v);
        sum += std::min(1.0,
                        std::abs((r.scheme == nullptr ? narrow : kept(split::find_scheme(r.scheme), narrow)) - v) / v);
      }
      series.add(e, sum / samples);
      result.table.add({r.label, e, sum / samples});
      if (e % 16 == 0) context.progress((done + (e + 150) / 278.0) / 5);
    }
    ++done;
    panel.series.push_back(series);
  }
  const auto& s = panel.series;
  const double ln2 = std::log(2.0);
  // Errors uniform in half a unit; a quarter of the values lose one unit of the last bit more.
  const double fp32 = 0x1p-25 * ln2, fp16 = 0x1p-12 * ln2, half = 0x1p-23 * 0.4375 * ln2;
  result.near("plateau of fp32 (expected: 2^-25 ln 2)", fp32, error_at(s[0], 0), 0.2);
  result.near("plateau of fp16 (expected: 2^-12 ln 2)", fp16, error_at(s[1], 0), 0.2);
  result.near("plateau of halfhalf (expected: a quarter loses one bit more)", half, error_at(s[3], 0), 0.2);
  result.near("plateau of tf32tf32 (expected: the same)", half, error_at(s[4], 0), 0.2);
  const int scaled = range_from(s[3], half), unscaled = range_from(s[2], half), tf32 = range_from(s[4], half),
            single = range_from(s[0], fp32);
  result.check("halfhalf holds a wider range than Markidis' halfhalf", "wider",
               fmt::format("twice the plateau from 2^{} on, Markidis' from 2^{} on", scaled, unscaled),
               "11 binades more, the scale 2^11", scaled + 11 == unscaled);
  result.check("tf32tf32 has the range of fp32", "about the same",
               fmt::format("from 2^{} on, fp32 from 2^{} on", tf32, single), "at most 12 binades apart",
               tf32 <= single + 12);
  result.within("crossing: the lowest exponent within twice halfhalf's plateau (expected: units of 2^-35)", -13, scaled,
                0);
  result.near("halfhalf at 2^-15, the end of the papers' range (expected: a quarter of 2^-35)",
              std::ldexp(ln2, -37 + 15), error_at(s[3], -15), 0.2);
  result.here = fmt::format(
      "Within twice its plateau: Markidis' halfhalf from 2^{} on, halfhalf from 2^{}, tf32tf32 from 2^{}, fp32 from "
      "2^{}.",
      unscaled, scaled, tf32, single);
  result.panels = {panel};
  return result;
}

}  // namespace vernier::reproduce::ootomo_yokota
