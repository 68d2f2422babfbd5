// The probe: finds out what an engine computes from outputs alone. Nothing is compared with an expected value.
#include <algorithm>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

bool is_chain(const Tree& tree) {
  return tree.children.size() <= 2 && std::all_of(tree.children.begin(), tree.children.end(), is_chain);
}

// A chain from c, each sum of which is cut as a block's terms are.
bool is_blocks_of_one(const Bench& bench, const Tree& tree) {
  const Tree* first = &tree;
  while (first->children.size() == 2 && !first->children[0].children.empty()) first = &first->children[0];
  std::string evidence;
  return first->children.size() == 2 && first->children[0].leaf == slot_c && first->children[1].leaf == 0 &&
         kept_bits_of_one(bench, 0, evidence) >= 0;
}

// Without a tree (formats of narrow range) all slots are taken for one block.
void probe_without_tree(const Bench& bench, ProbeReport& report) {
  report.tree = "not observable";
  std::vector<int> slots;
  for (int i = 0; i < bench.k(); ++i) slots.push_back(i);
  report.findings.push_back({"block length", "not observable", "needs the tree"});
  report.estimate.block = bench.k();
  probe_block_details(bench, slots, slots, report);
}

}  // namespace

ProbeReport probe(const MatrixEngine& engine) {
  Bench bench(engine);
  ProbeReport report;
  Engine& e = report.estimate;
  e.a = engine.a(), e.b = engine.b(), e.c = engine.c();
  e.k = engine.k();
  if (is_integer(engine.a())) {
    probe_integer(bench, report);
    return report;
  }
  e.output_fraction_bits = shape_of(e.c).fraction_bits;
  e.nan = shape_of(e.c).infinity() | 1;
  probe_inputs(bench, report);
  if (e.flush_inputs) bench.leave_subnormals();
  Tree tree;
  std::string evidence;
  if (!find_tree(bench, tree, evidence)) {
    report.findings.push_back({"accumulation tree", "not observable", evidence});
    probe_without_tree(bench, report);
  } else {
    report.tree = tree.text();
    report.findings.push_back({"accumulation tree", report.tree, evidence});
    const bool chain = is_chain(tree) && !is_blocks_of_one(bench, tree);
    e.sum = chain ? Sum::chain : Sum::block;
    report.findings.push_back({"kind", chain ? "chain" : "block", "nodes of the tree"});
    if (chain)
      probe_chain(bench, tree, report);
    else
      probe_block(bench, tree, report);
  }
  probe_specials(bench, report);
  return report;
}

const std::string& ProbeReport::value(std::string_view topic) const {
  static const std::string none;
  for (const Finding& f : findings)
    if (f.topic == topic) return f.value;
  return none;
}

std::string ProbeReport::text() const {
  std::size_t width = 0;
  for (const Finding& f : findings) width = std::max(width, f.topic.size());
  std::string out;
  for (const Finding& f : findings) {
    out += f.topic + std::string(width + 2 - f.topic.size(), ' ') + f.value + "\n";
    if (!f.evidence.empty()) out += std::string(width + 2, ' ') + "  " + f.evidence + "\n";
  }
  return out;
}

// Probes of the exponent with which exact zeros take part in the alignment of a block.

namespace {

// Terms whose sum lies 2^x on one side of a place where the rounding turns: `whole` without the 2^x.
struct Edge {
  std::vector<Bench::Term> terms;
  double whole = 0;
};

// The smallest results turn at 2^tiny toward zero, at half of it ties away, at three halves to nearest. Up and down are
// like toward zero on the side where they are. The small term is taken away, so that no cut before the rounding hides
// it; an alignment that rounds down (up) would keep every negative (positive) term.
Edge edge(const Bench& bench, const std::vector<int>& slots, const Engine& e, int x) {
  const int tiny = shape_of(bench.c()).emin() - e.output_fraction_bits;
  const double sign = e.rounding == Rounding::up || e.alignment == Rounding::down ? -1 : 1;
  const auto at = [&](std::size_t i) { return slots[std::min(i, slots.size() - 1)]; };
  Edge edge;
  if (e.rounding == Rounding::nearest_even) {
    edge.terms = {{at(0), sign * power(tiny)}, {at(1), sign * power(tiny - 1)}};
    edge.whole = sign * 2 * power(tiny);
  } else {
    const int turn = e.rounding == Rounding::nearest_away ? tiny - 1 : tiny;
    edge.terms = {{at(0), sign * power(turn)}};
    edge.whole = sign * power(tiny);
  }
  edge.terms.push_back({at(2), -sign * power(x)});
  return edge;
}

void probe_zero_exponent(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  Engine& e = report.estimate;
  const int tiny = shape_of(bench.c()).emin() - e.output_fraction_bits;
  const bool opposed = e.rounding == Rounding::up     ? e.alignment == Rounding::down || e.alignment == Rounding::up
                       : e.rounding == Rounding::down ? e.alignment == Rounding::down || e.alignment == Rounding::up
                                                      : false;
  const std::size_t terms = e.rounding == Rounding::nearest_even ? 3 : 2;
  if (!cuts(report) || slots.size() < terms || e.flush_output || opposed)
    return add(report, "exponent of zeros", unseen, "");
  const int away = e.alignment == Rounding::nearest_away ? 1 : 0;  // half a unit counts as one
  const Smallest alone = smallest_result(bench, slots, tiny);      // the alignment's unit if two halves do not count
  std::string evidence = alone.evidence;
  int kept = alone.exponent;  // the exponent of the smallest term that counts
  bool lost = alone.seen && alone.cut, any = lost;
  for (int x = tiny - 1; x >= tiny - e.fraction_bits - 3 && !lost; --x) {
    const Edge at = edge(bench, slots, e, x);
    const auto r = bench.run(at.terms);
    if (!r.possible) break;
    evidence = r.text;
    lost = r.d == at.whole;
    if (!lost) kept = x, any = true;
    if (lost) kept += away;
  }
  if (!any) return add(report, "exponent of zeros", unseen, evidence);
  const int exponent = kept + e.fraction_bits;
  e.zero_exponent = exponent;
  const bool bounded = !lost || exponent <= tiny;
  add(report, "exponent of zeros", (bounded ? "at most " : "") + std::to_string(exponent), evidence);
}

// Does 0 * 2^big count with the exponent of big? It would cut what is small, a product or c, and it would turn a sum of
// the smallest results that is rounded to nearest.
void probe_zero_times_large(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  const Engine& e = report.estimate;
  const FloatShape a = shape_of(bench.a()), b = shape_of(bench.b()), out = shape_of(bench.c());
  const int pretended = a.emin() + b.emax(), tiny = out.emin() - e.output_fraction_bits;
  const double small = power(pretended - e.fraction_bits - 1);
  std::vector<std::vector<Bench::Term>> trials;
  if (cuts(report)) {
    if (slots.size() >= 2) trials.push_back({{slots[1], small}});
    if (slots.size() >= 3) trials.push_back({{slots[1], power(tiny)}, {slots[2], power(tiny - 1)}});
    if (e.join == Join::first) trials.push_back({{slot_c, small}});
  }
  for (const std::vector<Bench::Term>& terms : trials) {
    const auto alone = bench.run(terms);
    if (!alone.possible || alone.d == 0 || (terms.size() == 1 && alone.d != small) ||
        (terms.size() == 2 && pretended - e.fraction_bits < tiny))
      continue;
    const auto r = bench.run(terms, {slots[0], 0, encode(bench.b(), power(b.emax()))});
    report.estimate.zero_keeps_exponent = r.d != alone.d;
    return add(report, "zero times a large number", r.d == alone.d ? "counts as zero" : "raises the largest exponent",
               r.text);
  }
  add(report, "zero times a large number", unseen, "");
}

}  // namespace

void probe_zeros(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  probe_zero_exponent(bench, slots, report);
  probe_zero_times_large(bench, slots, report);
}

}  // namespace vernier::model
