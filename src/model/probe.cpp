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

}  // namespace vernier::model
