// The order of accumulation as a tree, from outputs alone (FPRev, arXiv 2411.00442).
//
// With +M in leaf i, -M in leaf j and a unit in every other leaf, where M swallows units, the output counts the units
// that join after M and -M have met: all those outside the smallest subtree that holds i and j.
#include <algorithm>
#include <cmath>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

using Sizes =
    std::vector<std::vector<int>>;  // leaves under the lowest common ancestor; leaf 0 is c, leaf i + 1 product i

// Groups of leaves that meet below `size` leaves.
std::vector<std::vector<int>> classes_below(const Sizes& sizes, const std::vector<int>& leaves, int size) {
  std::vector<std::vector<int>> groups;
  for (int leaf : leaves) {
    const auto home =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return sizes[g[0]][leaf] < size; });
    if (home == groups.end())
      groups.push_back({leaf});
    else
      home->push_back(leaf);
  }
  return groups;
}

Tree build(const Sizes& sizes, const std::vector<int>& leaves) {
  if (leaves.size() == 1) return Tree{leaves[0] - 1, {}};
  int size = 0;
  for (int leaf : leaves) size = std::max(size, leaf == leaves[0] ? 0 : sizes[leaves[0]][leaf]);
  Tree node;
  for (const auto& group : classes_below(sizes, leaves, size)) {
    if (group.size() == leaves.size()) return Tree{};  // inconsistent: no tree
    node.children.push_back(build(sizes, group));
  }
  return node;
}

// Units outside the subtree that joins +M in leaf i and -M in leaf j; -1: no count. An engine that rounds toward zero
// swallows units only under a number of their own sign, so that the other way round may fail.
int count_outside(const Bench& bench, int i, int j, double big, double unit) {
  const int n = bench.k() + 1;
  std::vector<Bench::Term> terms;
  for (int l = 0; l < n; ++l) terms.push_back({l - 1, l == i ? big : l == j ? -big : unit});
  const auto r = bench.run(terms);
  const double count = r.d / unit;
  return r.possible && count == std::floor(count) && count >= 0 && count <= n - 2 ? static_cast<int>(count) : -1;
}

bool sound(const Tree& tree) {
  if (tree.children.empty()) return tree.leaf != -2;
  return std::all_of(tree.children.begin(), tree.children.end(), sound);
}

}  // namespace

std::vector<int> Tree::leaves() const {
  if (children.empty()) return {leaf};
  std::vector<int> all;
  for (const Tree& t : children)
    for (int l : t.leaves()) all.push_back(l);
  return all;
}

std::string Tree::text() const {
  if (children.empty()) return leaf == slot_c ? "c" : std::to_string(leaf);
  std::string s = "(";
  for (const Tree& t : children) s += (s.size() > 1 ? " " : "") + t.text();
  return s + ")";
}

namespace {

// M swallows the sum of all units, as another block may hand it on; and no unit is lost where there is no M.
bool units_count(const Bench& bench, double big, double unit) {
  double sum = unit;
  while (std::fabs(sum) < (bench.k() + 1) * std::fabs(unit)) sum *= 2;
  const auto above = bench.run({{slot_c, big}, {0, sum}}), below = bench.run({{slot_c, sum}, {0, big}});
  std::vector<Bench::Term> all{{slot_c, unit}};
  for (int i = 0; i < bench.k(); ++i) all.push_back({i, unit});
  return above.d == big && below.d == big && bench.run(all).d == (bench.k() + 1) * unit;
}

// With M and units of one sign: sums that are rounded up swallow no positive units.
bool find_tree(const Bench& bench, double big, double unit, Tree& tree, std::string& evidence) {
  const int n = bench.k() + 1;
  std::vector<Bench::Term> all_units{{slot_c, big}};
  for (int i = 0; i < bench.k(); ++i) all_units.push_back({i, unit});
  const auto swallowed = bench.run(all_units);
  const auto cancelled = bench.run({{slot_c, big}, {0, -big}});
  if (!swallowed.possible || swallowed.d != big || cancelled.d != 0 || !units_count(bench, big, unit)) {
    evidence = "no product is small enough beside the largest one: " + swallowed.text;
    return false;
  }
  Sizes sizes(static_cast<std::size_t>(n), std::vector<int>(static_cast<std::size_t>(n), 0));
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      const int outside = std::max(count_outside(bench, i, j, big, unit), count_outside(bench, j, i, big, unit));
      if (outside < 0) {
        evidence =
            "no tree: slots " + std::to_string(i - 1) + " and " + std::to_string(j - 1) + " give no count of units";
        return false;
      }
      sizes[i][j] = sizes[j][i] = n - outside;
    }
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  tree = build(sizes, all);
  evidence =
      show(big) + " and " + show(-big) + " in two slots, " + show(unit) + " in all others: d counts those outside";
  return sound(tree);
}

}  // namespace

// Subnormal units reach furthest below M, but some engines cut their sums, where they are a c.
bool find_tree(const Bench& bench, Tree& tree, std::string& evidence) {
  const FloatShape out = shape_of(bench.c());
  const double big = power(bench.top);
  for (const int least : {out.emin() - out.fraction_bits, out.emin()}) {
    const double unit = power(std::max({bench.bottom, bench.top - 60, least}));
    if (find_tree(bench, big, unit, tree, evidence) || find_tree(bench, -big, -unit, tree, evidence)) return true;
  }
  return false;
}

}  // namespace vernier::model
