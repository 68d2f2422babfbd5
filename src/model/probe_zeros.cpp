// Probes of the exponent with which exact zeros take part in the alignment of a block.
#include <algorithm>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
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
