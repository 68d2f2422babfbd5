// Probes of engines that add several products in one go: block length, alignment, normalisation, carries. The rounding
// of results is probe_output.cpp's, the exponent of zeros probe.cpp's.
#include <algorithm>
#include <cmath>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

// The largest f for which 2^(top - f) in slot `small` survives beside +-2^top in slots i, j; exact_alignment if every
// number that can be placed survives and they reach beyond any rounding of c; -1: not observable.
int kept_bits(const Bench& bench, const Engine& e, int i, int j, int small, std::string& evidence) {
  const FloatShape out = shape_of(bench.c());
  const int least = out.emin() - (e.flush_output ? 0 : out.fraction_bits);  // of the results
  const double big = power(bench.top);
  int f = -1;
  for (int x = 1; x <= 100; ++x) {
    const double little = power(bench.top - x);
    const auto r = bench.run({{i, big}, {j, -big}, {small, little}});
    if (!r.possible || bench.top - x < least) break;
    if (r.d != little) {
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

// Blocks of one product, where c and it are all that is aligned: which bits of t below 1 change 1 - t? no_cut: all do,
// as they do in a chain.
constexpr int no_cut = -2;
int kept_bits_of_one(const Bench& bench, int slot, double sign, std::string& evidence) {
  bool possible = true;
  const auto run = [&](double t) {
    const auto r = bench.run({{slot_c, sign}, {slot, -sign * t}});
    possible = r.possible;
    evidence = r.text;
    return std::fabs(r.d);
  };
  int p = 0;  // fraction bits of sums
  while (p < 60 && 1 + power(-p - 1) > 1 && run(-power(-p - 1)) == 1 + power(-p - 1) && possible) ++p;
  int x = 1;
  while (x <= p + 40 && run(power(-x)) != 1 && possible) ++x;
  if (!possible || x > p + 40) return no_cut;
  if (x != p + 2) return x - 1;
  // Rounded to nearest: 2^-x beside half a unit.
  while (++x <= p + 40 && run(power(-p - 2) + power(-x)) != 1 && possible) {
  }
  if (!possible || x > p + 40) return no_cut;
  return x > p + 3 ? x - 1 : run(1.5 * power(-p - 1)) == 1 - power(-p) ? p + 2 : p + 1;
}

void probe_alignment(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  // Three places: two for numbers that cancel, one for the small one. c serves where products are too few or too
  // coarse.
  const bool c_first = report.estimate.join == Join::first;
  int other = slots.size() >= 3 || !c_first ? slots[std::min<std::size_t>(1, slots.size() - 1)] : slot_c;
  int last = slots.back();
  std::string evidence;
  int f =
      slots.size() + (c_first ? 1 : 0) >= 3 ? kept_bits(bench, report.estimate, slots[0], other, last, evidence) : -1;
  if (f < 0 && c_first && slots.size() >= 2) {
    other = slots[1];
    f = kept_bits(bench, report.estimate, slots[0], other, last = slot_c, evidence = "");
  }
  const bool cancelled = f >= 0;
  if (slots.size() == 1 && c_first) f = kept_bits_of_one(bench, slots[0], evidence = "");
  if (f < 0) f = kept_bits_under_c(bench, slots, evidence = "");
  add(report, "F", f < 0 ? unseen : f == exact_alignment ? "unlimited" : std::to_string(f), evidence);
  if (f < 0) return;
  report.estimate.fraction_bits = f;
  if (!cancelled || f == exact_alignment) return;

  // Every slot in the role of the small term and of the large one; c as the small one.
  bool same = true;
  std::string odd = "every slot keeps the same bits";
  for (std::size_t s = 0; slots.size() >= 3 && last != slot_c && s < slots.size(); ++s) {
    const int i = slots[(s + 1) % slots.size()], j = slots[(s + 2) % slots.size()];
    std::string text;
    if (kept_bits(bench, report.estimate, i, j, slots[s], text) == f) continue;
    same = false;
    odd = text;
  }
  add(report, "slots", same ? "alike" : "differ", odd);
  if (c_first && slots.size() >= 2) {
    const int fc = kept_bits(bench, report.estimate, slots[0], slots[1], slot_c, evidence = "");
    add(report, "F of c", fc < 0 ? unseen : std::to_string(fc), evidence);
  }

  // Quarters of the alignment's unit: which are cut?
  RoundingTable table;
  const double big = power(bench.top), unit = power(bench.top - f);
  std::string shown;
  fill(table, 0, unit, 3, shown, [&](double sign, int odd_unit, int q) {
    return bench.run({{slots[0], big}, {other, -big}, {last, sign * unit * (odd_unit + q / 4.0)}});
  });
  add(report, "alignment rounding", classify(table, report.estimate.alignment), shown);
}

void probe_normalisation(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  const Engine& e = report.estimate;
  const bool c_first = e.join == Join::first;
  const int f = e.fraction_bits, least = e.flush_output ? shape_of(bench.c()).emin() : -1000;
  if (!cuts(report) || slots.size() + (c_first ? 1 : 0) < 3 || slots.size() < 2 || bench.top - f < least ||
      report.value("alignment rounding").empty())
    return add(report, "products normalised", unseen, "");
  const double big = 2.25 * power(bench.top), factor = bench.factor_of(1.5, bench.top), small = power(bench.top - f);
  const auto beside = [&](int slot) {
    return bench.run({{slots[0], big, factor}, {slots[1], -big, factor}, {slot, small}});
  };
  auto r = slots.size() >= 3 ? beside(slots.back()) : beside(slot_c);
  if (!r.possible && c_first) r = beside(slot_c);
  if (!r.possible) return add(report, "products normalised", unseen, "");
  report.estimate.normalise_products = r.d != small;
  add(report, "products normalised", r.d != small ? "yes" : "no", r.text);
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

std::vector<int> products_of(const std::vector<int>& leaves) {
  std::vector<int> slots;
  for (int leaf : leaves)
    if (leaf != slot_c) slots.push_back(leaf);
  std::sort(slots.begin(), slots.end());
  return slots;
}

// c alone shows how many bits the last addition keeps; quarters beside it, which way it rounds.
void probe_last_addition(const Bench& bench, int slot, ProbeReport& report) {
  int bits = 0;
  for (int x = 1; x <= shape_of(bench.c()).fraction_bits; ++x)
    if (bench.run({{slot_c, 1 + power(-x)}}).d == 1 + power(-x)) bits = x;
  const double base = power(std::max(0, bench.bottom + bits + 2)), ulp = base * power(-bits);
  RoundingTable table;
  std::string shown;
  fill(table, base, ulp, 3, shown, [&](double sign, int odd, int q) {
    return bench.run({{slot_c, sign * (base + odd * ulp)}, {slot, sign * q / 4 * ulp}});
  });
  report.estimate.output_fraction_bits = bits;
  add(report, "rounding of the last addition", classify(table, report.estimate.join_rounding), shown);
}

}  // namespace

int kept_bits_of_one(const Bench& bench, int slot, std::string& evidence) {
  std::string other;
  const int f = kept_bits_of_one(bench, slot, 1, evidence), g = kept_bits_of_one(bench, slot, -1, other);
  if (g > f) evidence = other;
  return f == no_cut || g == no_cut ? -1 : std::max(f, g);
}

void probe_block_details(const Bench& bench, const std::vector<int>& first, const std::vector<int>& last,
                         ProbeReport& report) {
  probe_alignment(bench, first, report);
  probe_normalisation(bench, first, report);
  probe_output(bench, last, report);
  probe_carries(bench, first, report);
  probe_zeros(bench, last, report);
  probe_monotonicity(bench, first, report);
}

void probe_block(const Bench& bench, const Tree& tree, ProbeReport& report) {
  Engine& e = report.estimate;
  const Tree* node = &tree;
  const bool c_last =
      tree.children.size() == 2 && tree.children[0].leaf == slot_c && !tree.children[1].children.empty();
  e.join = c_last ? Join::last : Join::first;
  if (c_last) node = &tree.children[1];
  add(report, "place of c", c_last ? "added last" : "in the first block", "tree");
  std::vector<int> own;  // products that the outermost node adds itself: the last block
  for (const Tree& t : node->children)
    if (t.children.empty()) own.push_back(t.leaf);
  const std::vector<int> last = products_of(own);
  while (true) {  // the innermost node is the first block
    const auto inner =
        std::find_if(node->children.begin(), node->children.end(), [](const Tree& t) { return !t.children.empty(); });
    if (inner == node->children.end()) break;
    node = &*inner;
  }
  const std::vector<int> slots = products_of(node->leaves());
  e.block = static_cast<int>(slots.size());
  add(report, "block length", std::to_string(e.block), "the innermost node of the tree");
  int run = 1;
  while (run < e.block && slots[static_cast<std::size_t>(run)] == slots[0] + run) ++run;
  e.interleave = run < e.block ? run : 0;
  add(report, "interleaving", e.interleave == 0 ? "none" : "runs of " + std::to_string(run),
      "first block: " + node->text());
  if (c_last) probe_last_addition(bench, slots[0], report);
  probe_block_details(bench, slots, last.empty() ? slots : last, report);
}

}  // namespace vernier::model
