// Probes of a block's one rounding: how many bits a result keeps, which way it goes, in one step or in two.
//
// A result longer than F bits needs a sum that carries, and a sum that carries far enough needs many terms: so each
// question is put to sums of 1, 2, 4, ... equal terms and to the largest sum of all.
#include <algorithm>
#include <cmath>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

// Terms with the largest exponent 2^level and their sum; `tail` more goes into a slot of its own, or into c.
struct Stack {
  std::vector<Bench::Term> terms;
  double sum = 0;
  int level = 0;
  int tail_slot = slot_c;
  int carries() const { return std::ilogb(sum) - level; }
  int leading() const { return std::ilogb(sum); }
};

struct Setting {
  const Bench& bench;
  const std::vector<int>& slots;
  const Engine& e;
  bool c_first() const { return e.join == Join::first; }
  int kept_below() const { return std::min(e.fraction_bits, 100); }  // of the largest exponent
};

// count terms of 2^level times factor^2 (times factor where products are normalised, and would leave 2^level above),
// c among them where it takes part from the start; a free slot for the tail.
Stack stack_of(const Setting& s, int count, double factor, bool all_slots, int level) {
  Stack stack;
  stack.level = level;
  const double b = s.e.normalise_products ? 1 : factor, value = factor * b, one = power(level);
  std::size_t at = 0;
  if (s.c_first()) stack.terms.push_back({slot_c, factor * one});
  while (static_cast<int>(stack.terms.size()) < count && at < s.slots.size())
    stack.terms.push_back({s.slots[at++], value * one, factor == 1 ? 0 : s.bench.factor_of(b, level)});
  for (const Bench::Term& t : stack.terms) stack.sum += t.value;
  stack.tail_slot = all_slots ? slot_c : s.slots.back();
  return stack;
}

std::vector<Stack> stacks_of(const Setting& s) {
  const int slots = static_cast<int>(s.slots.size()), most = slots - 1 + (s.c_first() ? 1 : 0);
  const FloatShape a = shape_of(s.bench.a()), b = shape_of(s.bench.b()), out = shape_of(s.bench.c());
  const int room = out.emax() - 4 - static_cast<int>(std::bit_width(static_cast<unsigned>(slots)));
  const int wanted = std::max(s.bench.bottom + std::min(s.kept_below(), 40) + 2, 0);
  const int level = std::min({wanted, room, a.emax() + b.emax() - 1});
  std::vector<Stack> all;
  if (s.c_first()) all.push_back(stack_of(s, 1, 1, false, std::min(wanted, room)));
  for (int n = s.c_first() ? 2 : 1; n <= most; n *= 2) all.push_back(stack_of(s, n, 1, false, level));
  for (const double factor : {1.5, 1.75, 2 - power(-5)}) {
    all.push_back(stack_of(s, most, factor, false, level));
    if (s.c_first()) all.push_back(stack_of(s, most + 1, factor, true, level));
  }
  return all;
}

// The stack plus `tail`; `in_c` of it goes into c, where c takes part.
Bench::Result run(const Setting& s, const Stack& stack, double sign, double tail, double in_c = 0) {
  std::vector<Bench::Term> terms = stack.terms;
  const bool has_c = s.c_first();
  const auto together = [&](bool tail_in_c) {
    std::vector<Bench::Term> all = terms;
    if (has_c) all[0].value += in_c + (tail_in_c ? tail : 0);
    const double rest = (tail_in_c ? 0 : tail) + (has_c ? 0 : in_c);
    if (rest != 0) all.push_back({stack.tail_slot, rest});
    for (Bench::Term& t : all) t.value *= sign;
    return s.bench.run(all);
  };
  if (stack.tail_slot != slot_c) {
    const auto r = together(false);
    if (r.possible) return r;
  }
  // On the way through earlier blocks c is rounded: only short tails reach the last one.
  if (!has_c || stack.carries() < 2) return {0, 0, false, ""};
  return together(true);
}

struct Kept {
  int bits = 0;
  bool lost = false;  // a bit was seen to go that the alignment keeps
  std::string evidence;
};

Kept output_bits(const Setting& s, const std::vector<Stack>& stacks) {
  Kept kept;
  const int most = shape_of(s.bench.c()).fraction_bits;
  for (const Stack& stack : stacks) {
    const auto bare = run(s, stack, 1, 0);
    if (!bare.possible || bare.d != stack.sum) continue;
    for (int x = 1; x <= most + 1; ++x) {
      if (stack.leading() - x < stack.level - s.kept_below()) break;
      const double tail = power(stack.leading() - x);
      const auto r = run(s, stack, 1, tail);
      if (!r.possible) break;
      if (r.d != stack.sum + tail) {
        kept.lost = kept.lost || x > kept.bits;
        break;
      }
      if (x <= kept.bits) continue;
      kept = {x, false, r.text};
    }
  }
  return kept;
}

// Quarters of the last place on top of a stack: all of them, or only halves where the alignment cuts quarters.
bool round_on_stack(const Setting& s, const Stack& stack, bool halves, RoundingTable& table, std::string& shown) {
  const int place = stack.leading() - s.e.output_fraction_bits;
  const double unit = power(place);
  if (place - (halves ? 1 : 2) < stack.level - s.kept_below() || std::fmod(stack.sum, 2 * unit) != 0) return false;
  const auto bare = run(s, stack, 1, 0);
  if (!bare.possible || bare.d != stack.sum) return false;
  table = {};
  table.only_halves = halves;
  fill(table, stack.sum, unit, halves ? 2 : 3, shown,
       [&](double sign, int odd, int q) { return run(s, stack, sign, unit * q / 4, odd * unit); });
  return table.complete;
}

// The same in the smallest results, where no sum needs to carry.
bool round_small_results(const Setting& s, bool halves, RoundingTable& table, std::string& shown) {
  const FloatShape out = shape_of(s.bench.c());
  const int tiny = out.emin() - s.e.output_fraction_bits;
  if (s.e.flush_output || s.slots.size() < (halves ? 2 : 3)) return false;
  std::vector<Bench::Term> parts{{s.slots[0], power(tiny - 1)}, {s.slots[1], power(tiny - (halves ? 1 : 2))}};
  if (!halves) parts.push_back({s.slots[2], power(tiny - 2)});
  const auto kept = s.bench.run(parts);
  if (!kept.possible || kept.d != power(tiny)) return false;
  table = {};
  table.only_halves = halves;
  fill(table, 0, power(tiny), halves ? 2 : 3, shown, [&](double sign, int odd, int q) {
    std::vector<Bench::Term> terms;
    for (const auto& [bit, e] : {std::pair{odd, tiny}, std::pair{q & 2, tiny - 1}, std::pair{q & 1, tiny - 2}})
      if (bit != 0) terms.push_back({s.slots[terms.size()], sign * power(e)});
    return s.bench.run(terms);
  });
  return table.complete;
}

bool find_rounding(const Setting& s, const std::vector<Stack>& stacks, RoundingTable& table, std::string& shown) {
  for (const bool halves : {false, true}) {
    for (const Stack& stack : stacks)
      if (round_on_stack(s, stack, halves, table, shown = "")) return true;
    if (round_small_results(s, halves, table, shown = "")) return true;
  }
  return false;
}

// A little beside a tie (to nearest) or beside an exact result (up, down): how far down does the rounding see it?
void probe_early_rounding(const Setting& s, const std::vector<Stack>& stacks, int known, ProbeReport& report) {
  Engine& e = report.estimate;
  if (e.rounding == Rounding::toward_zero || e.rounding == Rounding::nearest_away || !cuts(report)) return;
  const bool tie = e.rounding == Rounding::nearest_even;
  const double sign = e.rounding == Rounding::down ? -1 : 1;
  int seen = known;
  bool lost = false;
  std::string evidence;
  for (const Stack& stack : stacks) {
    const auto bare = run(s, stack, sign, 0);
    if (known != 0 || !bare.possible || bare.d != sign * stack.sum) continue;
    const int place = stack.leading() - e.output_fraction_bits;
    if (std::fmod(stack.sum, power(place + 1)) != 0) continue;
    for (int x = e.output_fraction_bits + (tie ? 2 : 1); stack.leading() - x >= stack.level - s.kept_below(); ++x) {
      // The half place stands in c, if c takes part and no earlier block rounds it; else in a product.
      const double half = tie ? power(place - 1) : 0;
      std::vector<Bench::Term> terms = stack.terms;
      if (s.c_first() && stack.carries() >= 2)
        terms[0].value += half;
      else if (half != 0 && terms.size() + 1 < s.slots.size() + (s.c_first() ? 1 : 0))
        terms.push_back({s.slots[s.slots.size() - 2], half});
      else if (half != 0)
        break;
      if (stack.tail_slot == slot_c)
        terms[0].value += power(stack.leading() - x);
      else
        terms.push_back({stack.tail_slot, power(stack.leading() - x)});
      for (Bench::Term& t : terms) t.value *= sign;
      const auto r = s.bench.run(terms);
      if (!r.possible) break;
      lost = r.d == sign * stack.sum;
      if (lost || x > seen) evidence = r.text;
      if (lost) break;
      seen = std::max(seen, x);
    }
    if (lost) break;
  }
  if (known == 0 && !lost && seen == 0) return add(report, "roundings of the output", unseen, evidence);
  const bool two = known != 0 || lost;
  if (two) e.early_fraction_bits = std::max(seen, e.output_fraction_bits + (tie ? 1 : 0));
  add(report, "roundings of the output",
      two ? "two, the first to " + std::to_string(e.early_fraction_bits) + " fraction bits" : "one", evidence);
}

}  // namespace

void probe_output(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  Engine& e = report.estimate;
  const Setting s{bench, slots, e};
  const std::vector<Stack> stacks = stacks_of(s);
  // Where c comes last, it has shown the bits already.
  const int most = s.c_first() ? shape_of(bench.c()).fraction_bits : e.output_fraction_bits;
  Kept kept = output_bits(s, stacks);
  e.output_fraction_bits = most;
  bool exact = kept.lost || kept.bits == most;
  if (!exact) {  // the alignment keeps no more than that: the smallest results may show it
    const Smallest small =
        e.flush_output || slots.size() < 2 ? Smallest{} : smallest_result(bench, slots, shape_of(bench.c()).emin());
    const int bits = shape_of(bench.c()).emin() - small.exponent;
    if (small.seen && !small.cut && bits > kept.bits) kept = {bits, exact = true, small.evidence};
  }
  if (exact) e.output_fraction_bits = kept.bits;
  add(report, "output fraction bits", kept.bits == 0 ? unseen : (exact ? "" : "at least ") + std::to_string(kept.bits),
      kept.evidence);
  RoundingTable table;
  std::string shown;
  table.complete = find_rounding(s, stacks, table, shown);
  const std::string mode = classify(table, e.rounding);
  int known = 0;
  std::string early = mode;
  if (mode == "other" && !(early = fitting_mode(table, e.rounding, true)).empty()) known = e.output_fraction_bits + 1;
  add(report, "output rounding", early.empty() ? mode : early, shown);
  probe_early_rounding(s, stacks, known, report);
}

}  // namespace vernier::model
