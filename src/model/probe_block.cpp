// Probes of engines that add several products in one go: block length, alignment, normalisation, rounding, carries,
// zeros.
#include <algorithm>
#include <cmath>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

// The largest f for which 2^(top - f) in slot `small` survives beside +-2^top in slots i, j; exact_alignment if every
// number that can be placed survives and they reach beyond any rounding of c; -1: not observable.
int kept_bits(const Bench& bench, int i, int j, int small, std::string& evidence) {
  const double big = power(bench.top);
  int f = -1;
  for (int x = 1; x <= 100; ++x) {
    const auto r = bench.run({{i, big}, {j, -big}, {small, power(bench.top - x)}});
    if (!r.possible) break;
    if (r.d == 0) {
      evidence += "; " + r.text;
      return f;
    }
    f = x;
    evidence = r.text;
  }
  return f > 34 ? exact_alignment : -1;
}

// F where the format is too narrow for a cancellation: ones under a large c. Seen up to the output's bits plus log2 of
// n.
int kept_bits_under_c(const Bench& bench, const std::vector<int>& slots, std::string& evidence) {
  int f = -1;
  for (int x = 1; x <= 60; ++x) {
    std::vector<Bench::Term> terms{{slot_c, power(x)}};
    for (int s : slots) terms.push_back({s, 1.0});
    const auto r = bench.run(terms);
    if (!r.possible) return -1;
    if (r.d == power(x)) {
      evidence += "; " + r.text;
      return power(x) / power(shape_of(bench.c()).fraction_bits) > static_cast<double>(slots.size()) ? -1 : f;
    }
    f = x;
    evidence = r.text;
  }
  return -1;
}

void probe_alignment(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  const int last = slots.back();
  std::string evidence;
  int f = slots.size() >= 3 ? kept_bits(bench, slots[0], slots[1], last, evidence) : -1;
  const bool cancelled = f >= 0;
  if (!cancelled) f = kept_bits_under_c(bench, slots, evidence = "");
  add(report, "F", f < 0 ? unseen : f == exact_alignment ? "unlimited" : std::to_string(f), evidence);
  if (f < 0) return;
  report.estimate.fraction_bits = f;
  if (!cancelled || f == exact_alignment) return;

  // Every slot in the role of the small term and of the large one; c as the small one.
  bool same = true;
  std::string odd = "every slot keeps the same bits";
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const int i = slots[(s + 1) % slots.size()], j = slots[(s + 2) % slots.size()];
    std::string text;
    if (kept_bits(bench, i, j, slots[s], text) == f) continue;
    same = false;
    odd = text;
  }
  add(report, "slots", same ? "alike" : "differ", odd);
  if (report.estimate.join == Join::first) {
    const int fc = kept_bits(bench, slots[0], slots[1], slot_c, evidence = "");
    add(report, "F of c", fc < 0 ? unseen : std::to_string(fc), evidence);
  }

  // Quarters of the alignment's unit: which are cut?
  RoundingTable table;
  const double big = power(bench.top), unit = power(bench.top - f);
  std::string shown;
  for (int s = 0; s < 2; ++s)
    for (int odd_unit = 0; odd_unit < 2; ++odd_unit)
      for (int q = 1; q <= 3; ++q) {
        const double t = (s != 0 ? -unit : unit) * (odd_unit + q / 4.0);
        const auto r = bench.run({{slots[0], big}, {slots[1], -big}, {last, t}});
        table.complete = table.complete && r.possible;
        table.away[s][odd_unit][q - 1] = std::fabs(r.d) / unit > odd_unit;
        if (q == 3 && odd_unit == 0) shown += (shown.empty() ? "" : "; ") + r.text;
      }
  add(report, "alignment rounding", classify(table, report.estimate.alignment), shown);
}

void probe_normalisation(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  const int f = report.estimate.fraction_bits;
  if (!cuts(report) || slots.size() < 3 || bench.top - 1 - f < bench.bottom || report.value("slots").empty())
    return add(report, "products normalised", unseen, "");
  const double big = 2.25 * power(bench.top - 1), factor = 1.5 * power((bench.top - 1) / 2);
  const auto r =
      bench.run({{slots[0], big, factor}, {slots[1], -big, factor}, {slots.back(), power(bench.top - 1 - f)}});
  if (!r.possible) return add(report, "products normalised", unseen, "");
  report.estimate.normalise_products = r.d == 0;
  add(report, "products normalised", r.d == 0 ? "yes" : "no", r.text);
}

// Fraction bits that a result keeps: a power of two plus one far below it.
int output_bits(const Bench& bench, const std::vector<int>& slots, bool c_first, std::string& evidence) {
  int kept = 0;
  for (int x = 1; x <= shape_of(bench.c()).fraction_bits; ++x) {
    const double base = power(c_first ? x : bench.top);
    const double little = power(c_first ? 0 : bench.top - x);
    const auto r = bench.run({{c_first ? slot_c : slots[0], base}, {slots[1], little}});
    if (!r.possible || r.d != base + little) break;
    kept = x;
    evidence = r.text;
  }
  return kept;
}

// Quarters of the last place of the result: under a large c where the alignment keeps them, else on top of a sum of
// four.
Bench::Result run_winograd(const Bench& bench, const std::vector<int>& slots, const Engine& e, double sign,
                           int quarters) {
  const int kept = e.output_fraction_bits;
  if (e.join == Join::first && e.fraction_bits >= kept + 2) {
    const double place = 4;  // of c = 4 * 2^kept
    return bench.run({{slot_c, sign * place * (power(kept) + quarters / 4)}, {slots[0], sign * (quarters % 4)}});
  }
  std::vector<int> ones(slots.begin(), slots.end());
  if (e.join == Join::first) ones.insert(ones.begin(), slot_c);
  if (ones.size() < 5) return {0, 0, false, ""};
  const double one = sign * power(e.join == Join::first ? 0 : bench.top);
  auto r = bench.run(
      {{ones[0], one}, {ones[1], one}, {ones[2], one}, {ones[3], one}, {ones[4], one * quarters * power(-kept)}});
  r.d *= power(kept) / std::fabs(one);
  return r;
}

void probe_output(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  Engine& e = report.estimate;
  std::string evidence;
  const int kept = output_bits(bench, slots, e.join == Join::first, evidence);
  add(report, "output fraction bits", kept == 0 ? unseen : std::to_string(kept), evidence);
  if (kept == 0) return add(report, "output rounding", unseen, "");
  e.output_fraction_bits = kept;
  RoundingTable table;
  std::string shown;
  for (int s = 0; s < 2; ++s)
    for (int odd = 0; odd < 2; ++odd)
      for (int q = 1; q <= 3; ++q) {
        const auto r = run_winograd(bench, slots, e, s != 0 ? -1 : 1, 4 * odd + q);
        table.complete = table.complete && r.possible;
        table.away[s][odd][q - 1] = std::fabs(r.d) / 4 - power(kept) > odd;
        if (q == 3 && odd == 0) shown += (shown.empty() ? "" : "; ") + r.text;
      }
  add(report, "output rounding", classify(table, e.rounding), shown);
}

// A tie plus a little: is the little one still seen by the rounding?
void probe_early_rounding(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  Engine& e = report.estimate;
  if (e.rounding != Rounding::nearest_even || !cuts(report) || slots.size() < 3) return;
  const int kept = e.output_fraction_bits;
  int seen = 0;
  std::string evidence;
  for (int x = kept + 2; x <= e.fraction_bits; ++x) {
    const auto r = bench.run({{slots[0], 1.0}, {slots[1], power(-kept - 1)}, {slots[2], power(-x)}});
    if (!r.possible) return add(report, "roundings of the output", unseen, "");
    evidence = r.text;
    if (r.d == 1) break;
    seen = x;
  }
  e.early_fraction_bits = seen == e.fraction_bits ? 0 : std::max(seen, kept + 1);
  add(report, "roundings of the output",
      seen == e.fraction_bits ? "one" : "two, the first to " + std::to_string(e.early_fraction_bits) + " fraction bits",
      evidence);
}

void probe_carries(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  std::vector<Bench::Term> terms;
  if (report.estimate.join == Join::first) terms.push_back({slot_c, 1.5});
  double exact = terms.empty() ? 0 : 1.5;
  std::string evidence;
  for (int s : slots) {
    terms.push_back({s, 2.25, 1.5});
    exact += 2.25;
    const auto r = bench.run(terms);
    if (!r.possible) return add(report, "carry bits", unseen, "");
    evidence = r.text;
    const double last_place = std::ldexp(1.0, std::ilogb(exact) - report.estimate.output_fraction_bits);
    if (std::fabs(r.d - exact) <= last_place) continue;
    const int carries = std::ilogb(exact) - 1 - (report.estimate.normalise_products ? 1 : 0);
    report.estimate.carry_bits = carries;
    return add(report, "carry bits", std::to_string(carries), evidence);
  }
  add(report, "carry bits", "enough (at least " + std::to_string(std::ilogb(exact)) + ")", evidence);
}

// Raising c from 1 - ulp to 1 may lower the sum; with a large negative term the result shows smaller differences.
void probe_monotonicity(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  const double ulp = power(-report.estimate.output_fraction_bits - 1);
  for (const double last : {0.0, -0.75})
    for (int x = 4; x <= 40; ++x) {
      std::vector<Bench::Term> lower{{slot_c, 1 - ulp}};
      for (int s : slots) lower.push_back({s, s == slots.back() && last != 0 ? last : power(-x)});
      std::vector<Bench::Term> upper = lower;
      upper[0].value = 1;
      const auto l = bench.run(lower), u = bench.run(upper);
      if (!l.possible || !u.possible || l.d <= u.d) continue;
      return add(report, "monotonic", "no", "c = " + show(1 - ulp) + " gives " + show(l.d) + ", but " + u.text);
    }
  add(report, "monotonic", "no violation found", "c = 1 - ulp and 1 beside equal products 2^-4 ... 2^-40");
}

}  // namespace

void probe_block_details(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  probe_alignment(bench, slots, report);
  probe_normalisation(bench, slots, report);
  probe_output(bench, slots, report);
  probe_early_rounding(bench, slots, report);
  probe_carries(bench, slots, report);
  probe_zeros(bench, slots, report);
  probe_monotonicity(bench, slots, report);
}

void probe_block(const Bench& bench, const Tree& tree, ProbeReport& report) {
  Engine& e = report.estimate;
  const Tree* node = &tree;
  const bool c_last =
      tree.children.size() == 2 && tree.children[0].leaf == slot_c && !tree.children[1].children.empty();
  e.join = c_last ? Join::last : Join::first;
  if (c_last) node = &tree.children[1];
  add(report, "place of c", c_last ? "added last" : "in the first block", "tree");
  while (true) {  // the innermost node is the first block
    const auto inner =
        std::find_if(node->children.begin(), node->children.end(), [](const Tree& t) { return !t.children.empty(); });
    if (inner == node->children.end()) break;
    node = &*inner;
  }
  std::vector<int> slots;
  for (int leaf : node->leaves())
    if (leaf != slot_c) slots.push_back(leaf);
  std::sort(slots.begin(), slots.end());
  e.block = static_cast<int>(slots.size());
  add(report, "block length", std::to_string(e.block), "the innermost node of the tree");
  int run = 1;
  while (run < e.block && slots[static_cast<std::size_t>(run)] == slots[0] + run) ++run;
  e.interleave = run < e.block ? run : 0;
  add(report, "interleaving", e.interleave == 0 ? "none" : "runs of " + std::to_string(run),
      "first block: " + node->text());
  if (c_last) {
    RoundingTable table;
    std::string shown;
    const double ulp = power(-shape_of(bench.c()).fraction_bits);
    for (int s = 0; s < 2; ++s)
      for (int odd = 0; odd < 2; ++odd)
        for (int q = 1; q <= 3; ++q) {
          const double sign = s != 0 ? -1 : 1;
          const auto r = bench.run({{slot_c, sign * (1 + odd * ulp)}, {slots[0], sign * q / 4 * ulp}});
          table.complete = table.complete && r.possible;
          table.away[s][odd][q - 1] = (std::fabs(r.d) - 1) / ulp > odd;
          if (q == 3 && odd == 0) shown += (shown.empty() ? "" : "; ") + r.text;
        }
    add(report, "rounding of the last addition", classify(table, e.join_rounding), shown);
  }
  probe_block_details(bench, slots, report);
}

}  // namespace vernier::model
