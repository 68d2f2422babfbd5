// Probes of subnormal numbers, special values, zeros, and of integer engines.
#include <cmath>
#include <cstdio>

#include "model/bench.hpp"
#include "model/spec.hpp"

namespace vernier::model {
namespace {

std::string hex(std::uint64_t word) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(word));
  return text;
}

struct Words {
  std::vector<std::uint64_t> a, b;
  explicit Words(const Bench& bench) : a(static_cast<std::size_t>(bench.k()), 0), b(a) {}
};

// The largest power of two among the subnormal numbers, times another, in factor a (which = 0) or b. Smaller ones may
// be cut, since their product has the exponent of a normal number.
bool subnormal_kept(const Bench& bench, int which, std::string& evidence) {
  const Format tiny_format = which == 0 ? bench.a() : bench.b(), other = which == 0 ? bench.b() : bench.a();
  const FloatShape s = shape_of(tiny_format);
  const double tiny = power(s.emin() - 1);
  const double scale = power(std::min(shape_of(other).emax(), 100));
  Words w(bench);
  (which == 0 ? w.a : w.b)[0] = encode(tiny_format, tiny);
  (which == 0 ? w.b : w.a)[0] = encode(other, scale);
  const auto r = bench.run_words(
      w.a, w.b, 0, std::string(which == 0 ? "a0" : "b0") + " = " + show(tiny) + ", other factor " + show(scale));
  evidence = r.text;
  return r.d != 0;
}

void probe_subnormal_results(const Bench& bench, ProbeReport& report) {
  const FloatShape out = shape_of(bench.c());
  const double tiny = power(out.emin() - 1);
  const int last = bench.k() - 1;  // in the last block: no later one takes its result for a c
  const auto product = bench.run({{last, tiny}});
  if (product.possible) {
    report.estimate.flush_output = product.d == 0;
    add(report, "subnormal results", product.d == tiny ? "kept" : "flushed", product.text);
  } else {
    add(report, "subnormal results", unseen, "");
  }
  const auto mixed = bench.run({{slot_c, tiny}, {0, 2 * tiny}});
  const auto alone = bench.run({{slot_c, tiny}});
  if (mixed.possible) {
    report.estimate.flush_c = mixed.d == 2 * tiny;
    add(report, "subnormal c", mixed.d == 3 * tiny ? "kept" : "flushed", mixed.text);
  } else {
    // Products do not come near. A flushed negative result may keep its sign, where a flushed c is a zero beside zeros.
    report.estimate.flush_output = alone.d == 0;
    // (Additions that round down make -0 of -0 + 0 in any case.)
    const bool down = std::signbit(bench.run({{slot_c, -0.0}}).d);
    const bool moves = bench.run({{slot_c, -tiny}, {0, 1}}).d < 1 || bench.run({{slot_c, tiny}, {0, 1}}).d > 1;
    report.estimate.flush_c = alone.d == 0 && !moves && (down || !std::signbit(bench.run({{slot_c, -tiny}}).d));
    add(report, "subnormal c", alone.d != 0 ? "kept" : "flushed, or the result is", alone.text);
  }
}

void probe_zero_sign(const Bench& bench, ProbeReport& report) {
  Words w(bench);
  for (auto& x : w.a) x = encode(bench.a(), -0.0);
  for (auto& x : w.b) x = encode(bench.b(), 1);
  // A last addition that rounds down gives -0 for -0 beside +0: there c is +0.
  const bool down = report.estimate.join == Join::last && report.estimate.join_rounding == Rounding::down;
  const auto r = bench.run_words(w.a, w.b, encode(bench.c(), down ? 0.0 : -0.0),
                                 down ? "every product -0, c = 0" : "every term -0");
  report.estimate.zero_sign = std::signbit(r.d) ? ZeroSign::ieee : ZeroSign::positive;
  add(report, "sum of minus zeros", std::signbit(r.d) ? "-0" : "+0", r.text);
  if (report.estimate.sum != Sum::block || std::signbit(r.d)) return;
  // Blocks that start from +0 show it in a negative sum that underflows.
  const int emin = shape_of(bench.c()).emin(), tiny = emin - report.estimate.output_fraction_bits;
  for (const int x : {tiny - 1, tiny - 2, emin - 2}) {
    const auto under = bench.run({{slot_c, down ? 0.0 : -0.0}, {bench.k() - 1, -power(x)}});
    if (under.possible && under.d == 0 && std::signbit(under.d)) report.estimate.zero_sign = ZeroSign::ieee;
  }
}

// Which NaN of several a chain hands on: every pair of a factor a, a factor b and the sum before them, told apart by
// their payloads. The sum is c, or a product before where c comes last.
void probe_nan_rule(const Bench& bench, ProbeReport& report) {
  const bool last = report.estimate.join == Join::last;
  const int slot = last ? report.estimate.lanes : 0;
  if (report.estimate.sum != Sum::chain || slot >= bench.k()) return;
  const int bits = shape_of(bench.c()).fraction_bits, up_a = bits - shape_of(bench.a()).fraction_bits,
            up_b = bits - shape_of(bench.b()).fraction_bits;
  if (up_a < 0 || up_b < 0) return;
  const std::uint64_t nan = encode(bench.c(), NAN),
                      payload[3] = {nan | std::uint64_t{1} << up_a, nan | std::uint64_t{2} << up_b,
                                    nan | std::uint64_t{3} << (last ? up_a : 0)};
  const auto run = [&](bool a, bool b, bool s, const char* text) {
    Words w(bench);
    if (last && s) w.a[0] = encode(bench.a(), NAN) | 3;
    w.a[slot] = a ? encode(bench.a(), NAN) | 1 : encode(bench.a(), 1);
    w.b[slot] = b ? encode(bench.b(), NAN) | 2 : encode(bench.b(), 1);
    return bench.run_words(w.a, w.b, !last && s ? payload[2] : 0, text);
  };
  const auto ab = run(true, true, false, "a = NaN 1, b = NaN 2"), as = run(true, false, true, "a = NaN 1, sum = NaN 3"),
             bs = run(false, true, true, "b = NaN 2, sum = NaN 3");
  const std::string evidence =
      ab.text + " " + hex(ab.bits) + "; " + as.text + " " + hex(as.bits) + "; " + bs.text + " " + hex(bs.bits);
  const bool a_b = ab.bits == payload[0], a_s = as.bits == payload[0], b_s = bs.bits == payload[1];
  const bool hands_on = (a_b || ab.bits == payload[1]) && (a_s || as.bits == payload[2]) &&
                        (b_s || bs.bits == payload[2]) && !(a_b && b_s && !a_s) && !(!a_b && !b_s && a_s);
  if (!hands_on)
    return add(report, "NaNs", ab.bits == as.bits && ab.bits == bs.bits ? "one for all" : "other", evidence);
  NanRule& rule = report.estimate.nan_rule;
  if (a_b && a_s)
    rule = b_s ? NanRule::abs : NanRule::asb;
  else if (!a_b && b_s)
    rule = a_s ? NanRule::bas : NanRule::bsa;
  else
    rule = a_b ? NanRule::sab : NanRule::sba;
  add(report, "NaNs", "the first of " + std::string(name_of(rule)), evidence);
}

void probe_nan(const Bench& bench, ProbeReport& report) {
  const FloatShape s = shape_of(bench.a());
  Words w(bench);
  if (s.specials == SpecialCodes::none) {
    const auto r = bench.run_words(w.a, w.b, encode(bench.c(), NAN), "c = NaN");
    report.estimate.nan = r.bits;
    return add(report, "NaN", hex(r.bits), r.text);
  }
  w.a[0] = encode(bench.a(), NAN);
  w.b[0] = encode(bench.b(), 1);
  const auto nan = bench.run_words(w.a, w.b, 0, "a0 = NaN, b0 = 1");
  report.estimate.nan = nan.bits;
  add(report, "NaN", hex(nan.bits), nan.text);
  if (s.specials != SpecialCodes::ieee || shape_of(bench.b()).specials != SpecialCodes::ieee) return;
  w.a[0] = encode(bench.a(), INFINITY);
  w.b[0] = 0;
  const auto invalid = bench.run_words(w.a, w.b, 0, "a0 = inf, b0 = 0");
  if (invalid.bits != nan.bits) {
    report.estimate.nan = invalid.bits;
    add(report, "NaN of an invalid operation", hex(invalid.bits), invalid.text);
  }
  probe_nan_rule(bench, report);
  w.b[0] = encode(bench.b(), 1);
  const auto minus = bench.run_words(w.a, w.b, encode(bench.c(), -INFINITY), "a0 b0 = inf, c = -inf");
  const auto plus = bench.run_words(w.a, w.b, encode(bench.c(), -1), "a0 b0 = inf, c = -1");
  const bool ieee = std::isnan(invalid.d) && std::isnan(minus.d) && plus.d == INFINITY;
  add(report, "infinities", ieee ? "as in IEEE 754" : "other", invalid.text + "; " + minus.text + "; " + plus.text);
}

void probe_overflow(const Bench& bench, ProbeReport& report) {
  const double big = power(shape_of(bench.c()).emax());
  const auto r = bench.run({{slot_c, big}, {bench.k() - 1, big}});
  if (!r.possible) return add(report, "overflow", unseen, "");
  report.estimate.overflow = std::isinf(r.d) ? Overflow::infinity : Overflow::largest;
  add(report, "overflow", std::isinf(r.d) ? "infinity" : show(r.d), r.text);
  // The largest number is 2 - 2^-p times 2^emax.
  if (report.estimate.sum == Sum::block && r.d > big && r.d < 2 * big)
    report.estimate.output_fraction_bits = -std::ilogb(2 - r.d / big);
}

// tf32 operands arrive as fp32 words: what becomes of the 13 bits too many?
void probe_tf32_bits(const Bench& bench, ProbeReport& report) {
  if (bench.a() != Format::tf32) return;
  Words ones(bench);
  ones.a[0] = 0x3f801fff;
  ones.b[0] = encode(bench.b(), 1);
  const auto one = bench.run_words(ones.a, ones.b, 0, "a0 = 1 + 2^-10 - 2^-23, b0 = 1");
  add(report, "bits beyond tf32", one.d == 1 ? "cut" : one.d == 1 + power(-10) ? "rounded" : "kept", one.text);
  Words w(bench);
  w.a[0] = 0x7f800001;
  w.b[0] = encode(bench.b(), 1);
  const auto r = bench.run_words(w.a, w.b, 0, "a0 = 0x7f800001, b0 = 1");
  add(report, "NaN with a payload in the ignored bits", std::isnan(r.d) ? "NaN" : "infinity", r.text);
}

}  // namespace

void probe_inputs(const Bench& bench, ProbeReport& report) {
  std::string a_text, b_text;
  const bool a = subnormal_kept(bench, 0, a_text), b = subnormal_kept(bench, 1, b_text);
  report.estimate.flush_inputs = !a && !b;
  add(report, "subnormal inputs",
      a && b   ? "kept"
      : a || b ? "kept on one side only"
               : "flushed",
      a_text + "; " + b_text);
  probe_subnormal_results(bench, report);
}

void probe_specials(const Bench& bench, ProbeReport& report) {
  probe_zero_sign(bench, report);
  probe_nan(bench, report);
  probe_tf32_bits(bench, report);
  probe_overflow(bench, report);
}

void probe_integer(const Bench& bench, ProbeReport& report) {
  Engine& e = report.estimate;
  e.sum = Sum::integer;
  e.block = bench.k();
  e.output_fraction_bits = 0;
  e.nan = 0;
  const double most = 2147483647.0;
  const auto over = bench.run({{slot_c, most}, {0, 1}});
  const bool wraps = over.d == -2147483648.0;
  e.overflow = wraps ? Overflow::wrap : Overflow::saturate_end;
  add(report, "overflow", wraps ? "wraps" : over.d == most ? "saturates" : "other", over.text);
  if (wraps) return;
  std::string evidence;
  for (int j = 1; j < bench.k(); ++j) {
    const auto r = bench.run({{slot_c, most}, {0, 1}, {j, -1}});
    evidence = r.text;
    if (!r.possible || r.d == most) continue;
    e.overflow = Overflow::saturate_blocks;
    e.block = j;
    return add(report, "place of saturation", "after every " + std::to_string(j) + " products", evidence);
  }
  add(report, "place of saturation", "at the end", evidence);
}

}  // namespace vernier::model
