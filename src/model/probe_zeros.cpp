// Probes of the exponent with which exact zeros take part in the alignment of a block.
#include <algorithm>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

// A sum that reaches the smallest output only if its last term is not cut below the exponent that zeros count with.
Bench::Result run_at_floor(const Bench& bench, const std::vector<int>& slots, int g) {
  const FloatShape out = shape_of(bench.c());
  const int tiny = out.emin() - out.fraction_bits;  // exponent of the smallest output
  std::vector<Bench::Term> terms;
  std::size_t at = 0;
  int e = tiny - 1;
  // toward zero: 2^tiny - 2^(tiny - 1 - g) in pieces of 8 bits, and the last 2^(tiny - 1 - g)
  for (int left = g + 1; left > 0 && at + 1 < slots.size(); left -= 8, e -= 8) {
    const int bits = std::min(left, 8);
    terms.push_back({slots[at++], (power(bits) - 1) * power(e - bits + 1)});
  }
  terms.push_back({slots[at], power(tiny - 1 - g)});
  return bench.run(terms);
}

void probe_zero_exponent(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  Engine& e = report.estimate;
  const FloatShape out = shape_of(bench.c());
  const int tiny = out.emin() - out.fraction_bits;
  const bool to_nearest = e.rounding == Rounding::nearest_even;
  if (!cuts(report) || slots.size() < 4 || (!to_nearest && e.rounding != Rounding::toward_zero))
    return add(report, "exponent of zeros", unseen, "");
  int kept = -1;
  bool lost = false;
  std::string evidence;
  for (int g = 1; g <= e.fraction_bits + 2 && !lost; ++g) {
    const auto r = to_nearest ? bench.run({{slots[0], power(tiny - 1)}, {slots[1], power(tiny - 1 - g)}})
                              : run_at_floor(bench, slots, g);
    if (!r.possible) break;
    evidence = r.text;
    lost = r.d == 0;
    if (!lost) kept = g;
  }
  if (kept < 0) return add(report, "exponent of zeros", unseen, evidence);
  const int exponent = tiny - 1 - kept + e.fraction_bits;
  e.zero_exponent = exponent;
  const bool bounded = !lost || exponent <= tiny - 1;
  add(report, "exponent of zeros", (bounded ? "at most " : "") + std::to_string(exponent), evidence);
}

// Does 0 * 2^big count with the exponent of big?
void probe_zero_times_large(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  const FloatShape a = shape_of(bench.a()), b = shape_of(bench.b());
  const int pretended = a.emin() + b.emax();
  const int f = report.estimate.fraction_bits;
  const double small = power(pretended - f - 1);
  std::vector<std::uint64_t> wa(static_cast<std::size_t>(bench.k()), 0), wb = wa;
  const auto alone = bench.run({{slots[1], small}});
  if (!alone.possible || alone.d != small || !cuts(report)) return add(report, "zero times a large number", unseen, "");
  const auto i = static_cast<std::size_t>(slots[0]), j = static_cast<std::size_t>(slots[1]);
  wb[i] = encode(bench.b(), power(b.emax()));
  for (int x = a.emin(); x <= a.emax() && wa[j] == 0; ++x)
    if (decode(bench.b(), encode(bench.b(), small / power(x))) == small / power(x)) {
      wa[j] = encode(bench.a(), power(x));
      wb[j] = encode(bench.b(), small / power(x));
    }
  const auto r = bench.run_words(wa, wb, 0,
                                 "p" + std::to_string(slots[0]) + " = 0 * " + show(power(b.emax())) + ", p" +
                                     std::to_string(slots[1]) + " = " + show(small));
  report.estimate.zero_keeps_exponent = r.d != small;
  add(report, "zero times a large number", r.d == small ? "counts as zero" : "raises the largest exponent", r.text);
}

}  // namespace

void probe_zeros(const Bench& bench, const std::vector<int>& slots, ProbeReport& report) {
  probe_zero_exponent(bench, slots, report);
  probe_zero_times_large(bench, slots, report);
}

}  // namespace vernier::model
