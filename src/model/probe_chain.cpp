// Probes of engines that round after every addition.
#include <algorithm>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

// The leaves in the order in which the (first) chain adds them.
std::vector<int> chain_order(const Tree& tree) {
  if (tree.children.empty()) return {tree.leaf};
  std::vector<int> order, leaves;
  for (const Tree& t : tree.children) {
    if (t.children.empty())
      leaves.push_back(t.leaf);
    else if (order.empty())
      order = chain_order(t);
  }
  order.insert(order.end(), leaves.begin(), leaves.end());
  return order;
}

// Of base + quarters of ulp, where the base (1 or 1 + ulp) stands in the slots `base`.
std::string rounding_of(const Bench& bench, const std::vector<int>& base, int slot, double ulp, Rounding& mode,
                        std::string& shown) {
  RoundingTable table;
  fill(table, 1, ulp, 2, shown, [&](double sign, int odd, int q) {
    std::vector<Bench::Term> terms{{slot, sign * q / 4 * ulp}};
    if (base.size() == 1)
      terms.insert(terms.begin(), {base[0], sign * (1 + odd * ulp)});
    else
      terms.insert(terms.begin(), {{base[0], sign}, {base[1], sign * odd * ulp}});
    return bench.run(terms);
  });
  return classify(table, mode);
}

// Of which sums of 1 in one slot and 2^-x in another are exact.
int bits_of_sums(const Bench& bench, int one, int other, std::string& evidence) {
  int bits = 0;
  for (int x = 1; x <= 60; ++x) {
    const auto r = bench.run({{one, 1.0}, {other, power(-x)}});
    if (!r.possible || r.d == 1 || r.d != 1 + power(-x)) break;
    bits = x + 1;
    evidence = r.text;
  }
  return bits;
}

// Products 1 + 2^-i + 2^-j + 2^-(i+j) less their first three bits.
void probe_products(const Bench& bench, int minuend, int slot, ProbeReport& report) {
  int exact = 0;
  bool cut = false;
  std::string evidence;
  for (int sum = 4; sum <= 104 && !cut; ++sum) {
    const int i = sum / 2, j = sum - i;
    const double a = 1 + power(-i), b = 1 + power(-j), high = 1 + power(-i) + power(-j);
    if (decode(bench.a(), encode(bench.a(), a)) != a || decode(bench.b(), encode(bench.b(), b)) != b) break;
    std::vector<std::uint64_t> wa(static_cast<std::size_t>(bench.k()), 0), wb = wa;
    std::uint64_t c = 0;
    if (minuend == slot_c)
      c = encode(bench.c(), -high);
    else if (decode(bench.a(), encode(bench.a(), high)) == high) {
      wa[static_cast<std::size_t>(minuend)] = encode(bench.a(), -high);
      wb[static_cast<std::size_t>(minuend)] = encode(bench.b(), 1);
    } else {
      break;
    }
    if (minuend == slot_c && (decode(bench.c(), c) != -high || j >= report.estimate.sum_bits)) break;
    wa[static_cast<std::size_t>(slot)] = encode(bench.a(), a);
    wb[static_cast<std::size_t>(slot)] = encode(bench.b(), b);
    const auto r = bench.run_words(wa, wb, c,
                                   "p" + std::to_string(slot) + " = (1 + 2^-" + std::to_string(i) + ") (1 + 2^-" +
                                       std::to_string(j) + ") less its first three bits");
    evidence = r.text;
    cut = r.d != power(-sum);
    if (!cut) exact = sum;
  }
  const bool rounded = cut && (minuend == slot_c || exact + 1 < report.estimate.sum_bits);
  report.estimate.product_bits = rounded ? exact + 1 : 0;
  add(report, "products", rounded ? "rounded to " + std::to_string(exact + 1) + " bits" : "exact as far as seen",
      evidence);
}

}  // namespace

void probe_chain(const Bench& bench, const Tree& tree, ProbeReport& report) {
  Engine& e = report.estimate;
  const Tree* node = &tree;
  const bool c_last = bench.k() > 1 && tree.children[0].leaf == slot_c && !tree.children[1].children.empty();
  if (c_last) node = &tree.children[1];
  e.join = c_last ? Join::last : Join::first;
  e.block = bench.k();
  add(report, "place of c", c_last ? "added last" : "start of the chain", "tree");
  e.lanes = std::all_of(node->children.begin(), node->children.end(), [](const Tree& t) { return !t.children.empty(); })
                ? static_cast<int>(node->children.size())
                : 1;
  add(report, "chains", std::to_string(e.lanes), node->text());
  const std::vector<int> pair = chain_order(*node);
  e.reverse_pairs = !c_last && e.lanes == 1 && pair[0] == slot_c && pair[1] == 1;
  if (!c_last) add(report, "order of pairs", e.reverse_pairs ? "second first" : "first first", node->text());

  std::string evidence;
  const int bits = bits_of_sums(bench, pair[0], pair[1], evidence);
  e.sum_bits = std::max(bits, 2);
  e.output_fraction_bits = std::min(e.sum_bits - 1, shape_of(e.c).fraction_bits);
  add(report, "bits of partial sums", std::to_string(bits), evidence);
  std::string shown;
  const bool c_base = pair[0] == slot_c;
  const std::string mode = !c_base && pair.size() < 3
                               ? "not observable"
                               : rounding_of(bench, c_base ? std::vector{slot_c} : std::vector{pair[0], pair[1]},
                                             c_base ? pair[1] : pair[2], power(1 - bits), e.rounding, shown);
  add(report, "rounding of partial sums", mode, shown);
  if (c_last) {
    const int last_bits = bits_of_sums(bench, slot_c, pair[0], evidence);
    e.output_fraction_bits = std::max(last_bits - 1, 1);
    const std::string last = rounding_of(bench, {slot_c}, pair[0], power(1 - last_bits), e.join_rounding, shown = "");
    add(report, "rounding of the last addition", last + ", " + std::to_string(last_bits) + " bits", shown);
  }
  probe_products(bench, pair[0], pair[1], report);
}

}  // namespace vernier::model
