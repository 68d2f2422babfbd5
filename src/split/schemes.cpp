// The table of error-corrected schemes. Sources: Markidis et al. 2018; Feng et al. 2021 (EGEMM-TC); Ootomo and Yokota
// 2021, equations 1-5, 14 and 20.
#include "split/schemes.hpp"

#include <algorithm>

#include "base/status.hpp"
#include "split/plane.hpp"

namespace vernier {
namespace split {
namespace {

using model::Format;
using model::Rounding;

constexpr Rounding nearest = Rounding::nearest_even, away = Rounding::nearest_away;

Scheme bare(const char* name, Format low, Rounding rounding, int step) {
  return {.name = name,
          .description = "one product of the rounded matrices",
          .low = low,
          .first_rounding = rounding,
          .shifts = {0},
          .terms = {{0, 0, 0}},
          .sums = {{0, 0}},
          .step = step};
}

// Four products in one accumulator of the engine: the order of the paper's listing 2.
Scheme four_products(const char* name, const char* description, Rounding first, Rounding rest) {
  return {.name = name,
          .description = description,
          .first_rounding = first,
          .rest_rounding = rest,
          .shifts = {0, 0},
          .terms = {{1, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
          .sums = {{0, 0}}};
}

// The main product leaves the engine after each run; the corrections, 2^11 smaller, stay inside.
Scheme corrected(const char* name, const char* description, Format low, Rounding rounding, int run, int step) {
  return {.name = name,
          .description = description,
          .low = low,
          .first_rounding = rounding,
          .rest_rounding = rounding,
          .shifts = {0, 11},
          .terms = {{0, 0, 0}, {1, 0, 1}, {0, 1, 1}},
          .sums = {{run, 0}, {0, 11}},
          .step = step};
}

// All pairs of bf16 parts with p + q <= most; equal weights share a sum.
Scheme bf16_products(const char* name, const char* description, int most) {
  Scheme s{.name = name, .description = description, .low = Format::bf16, .shifts = {0, 8, 16}};
  for (int weight = 0; weight <= most; ++weight) {
    s.sums.push_back({16, 8 * weight});
    for (int p = 0; p <= 2; ++p)
      if (weight - p >= 0 && weight - p <= 2) s.terms.push_back({p, weight - p, weight});
  }
  return s;
}

Scheme scaled(Scheme s) {
  s.scaled = true;
  return s;
}

// For data whose sums are a few products: the parts hold every bit, the main product (8 x 8 bits) is mostly exact, and
// outside next to nothing is lost. The corrections stay inside, the smaller ones first.
Scheme compensated_bf16(const char* name, const char* description, int run, Carry carry) {
  return {.name = name,
          .description = description,
          .low = Format::bf16,
          .shifts = {0, 0, 0},
          .terms = {{0, 0, 0}, {1, 1, 1}, {2, 0, 1}, {0, 2, 1}, {1, 0, 1}, {0, 1, 1}},
          .sums = {{.run = run, .carry = carry}, {}},
          .step = run,
          .scaled = true};
}

// Nothing is shifted, so that all three products share one accumulator of two lines of k; the corrections, a line at a
// time, come before the main product of each run.
Scheme folded(const char* name, const char* description, Format low, Rounding rounding, int line) {
  return {.name = name,
          .description = description,
          .low = low,
          .first_rounding = rounding,
          .rest_rounding = rounding,
          .shifts = {0, 0},
          .terms = {{1, 0, 0, 0, line}, {0, 1, 0, 0, line}, {1, 0, 0, line, line}, {0, 1, 0, line, line}, {0, 0, 0}},
          .sums = {{2 * line, 0}},
          .step = 2 * line,
          .scaled = true};
}

std::vector<Scheme> make_table() {
  std::vector<Scheme> t;
  t.push_back(bare("bare_fp16", Format::fp16, nearest, 16));
  t.push_back(bare("bare_tf32", Format::tf32, away, 8));
  t.push_back(four_products("markidis", "four products inside the engine (Markidis et al.)", nearest, nearest));
  // Round-split: the first part is rounded by the first bit that it loses, and the sign of the second, which is cut,
  // holds one bit more.
  t.push_back(four_products("egemm", "round-split, four products inside the engine (Feng et al.)", away,
                            Rounding::toward_zero));
  t.push_back(corrected("halfhalf", "fp16, corrections times 2^11, main product added outside (Ootomo and Yokota)",
                        Format::fp16, nearest, 16, 16));
  t.push_back(corrected("tf32tf32", "tf32, corrections times 2^11, main product added outside (Ootomo and Yokota)",
                        Format::tf32, away, 8, 8));
  t.push_back(bf16_products("bf16x3", "two of three bf16 parts", 1));
  t.push_back(bf16_products("bf16x6", "three bf16 parts, products down to 2^-16", 2));
  t.push_back(bf16_products("bf16x9", "three bf16 parts, all products", 4));
  t.push_back(scaled(
      corrected("halfhalf_sep", "halfhalf on scaled rows and columns, runs of 32 k", Format::fp16, nearest, 32, 32)));
  t.push_back(scaled(
      corrected("halfhalf_long", "halfhalf on scaled rows and columns, runs of 64 k", Format::fp16, nearest, 64, 32)));
  t.push_back(folded("halfhalf_fold", "halfhalf on scaled rows and columns, unshifted, one accumulator of 64 k",
                     Format::fp16, nearest, 32));
  t.push_back(scaled(
      corrected("tf32tf32_sep", "tf32tf32 on scaled rows and columns, runs of 16 k", Format::tf32, away, 16, 16)));
  t.push_back(folded("tf32tf32_fold", "tf32tf32 on scaled rows and columns, unshifted, one accumulator of 32 k",
                     Format::tf32, away, 16));
  t.push_back(compensated_bf16("bf16x6_sep", "bf16x6 on scaled rows and columns, compensated sum of runs of 32 k", 32,
                               Carry::fast));
  t.push_back(compensated_bf16("bf16x6_short", "bf16x6 on scaled rows and columns, compensated sum of runs of 16 k", 16,
                               Carry::exact));
  return t;
}

}  // namespace

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> table = make_table();
  return table;
}

const Scheme& find_scheme(std::string_view name) {
  std::string names;
  for (const Scheme& s : schemes()) {
    if (s.name == name) return s;
    names += (names.empty() ? "" : ", ") + s.name;
  }
  fail(Status::invalid_argument, "split: unknown scheme \"{}\"; expected one of {}", name, names);
}

void split(const Scheme& scheme, float v, std::uint64_t* words) {
  std::uint32_t parts[max_split_parts];
  const SplitRule rule = split_rule(scheme);
  split_parts(rule, v, parts);
  for (int p = 0; p < rule.parts; ++p) words[p] = parts[p];
}

}  // namespace split

SplitRule split_rule(const split::Scheme& s) {
  using model::Format;
  require(s.low == Format::fp16 || s.low == Format::bf16 || s.low == Format::tf32,
          "split: scheme {}: low is format {}; expected fp16, bf16 or tf32", s.name, static_cast<int>(s.low));
  require(!s.shifts.empty() && s.shifts.size() <= max_split_parts, "split: scheme {} has {} parts; expected 1 to {}",
          s.name, s.shifts.size(), max_split_parts);
  SplitRule rule;
  rule.low = s.low == Format::fp16 ? shape_fp16 : s.low == Format::bf16 ? shape_bf16 : shape_tf32;
  rule.first = static_cast<RoundingMode>(s.first_rounding);
  rule.rest = static_cast<RoundingMode>(s.rest_rounding);
  rule.parts = static_cast<int>(s.shifts.size());
  for (int p = 0; p < rule.parts; ++p) rule.shift[p] = s.shifts[static_cast<std::size_t>(p)];
  return rule;
}

std::uint32_t split_mark(const std::string& scheme) {
  const auto& all = split::schemes();
  const auto at = std::ranges::find(all, scheme, &split::Scheme::name);
  return static_cast<std::uint32_t>(at - all.begin()) + 1;
}

std::string split_made(std::uint32_t verdict) {
  if (verdict == conventional_mark) return "conventional";
  require(verdict > 0 && verdict <= split::schemes().size(),
          "outcome: {} names no scheme; expected what a product left behind that has ended", verdict);
  return split::schemes()[verdict - 1].name;
}

}  // namespace vernier
