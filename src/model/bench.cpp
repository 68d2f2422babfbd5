#include "model/bench.hpp"

#include <algorithm>
#include <cstdio>

#include "model/spec.hpp"

namespace vernier::model {
namespace {

bool exact_code(Format format, double value, std::uint64_t& word) {
  word = encode(format, value);
  return decode(format, word) == value;
}

// 2^exponent lies between the smallest and the largest number of the format.
bool in_range(Format format, int exponent) {
  if (is_integer(format)) return exponent >= 0 && exponent < 8;
  const FloatShape s = shape_of(format);
  return exponent >= s.emin() - s.fraction_bits && exponent <= s.emax();
}

bool is_normal(Format format, double value) {
  return is_integer(format) || std::fabs(value) >= std::ldexp(1.0, shape_of(format).emin());
}

// value = m 2^e with the smallest integer m.
std::pair<double, int> odd_parts(double value) {
  int e = 0;
  double m = std::frexp(value, &e);
  for (; m != std::floor(m); m *= 2) --e;
  return {m, e};
}

}  // namespace

std::string show(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const auto [m, e] = odd_parts(value);
  char text[64];
  if (std::fabs(value) < 4096 && e >= -4)
    std::snprintf(text, sizeof text, "%.10g", value);
  else if (std::fabs(m) == 1)
    std::snprintf(text, sizeof text, "%s2^%d", m < 0 ? "-" : "", e);
  else if (std::fabs(m) < 1e6)
    std::snprintf(text, sizeof text, "%.0f*2^%d", m, e);
  else if (e == 0 && std::fabs(value) < 1e12)
    std::snprintf(text, sizeof text, "%.0f", value);
  else
    std::snprintf(text, sizeof text, "%a", value);
  return text;
}

Bench::Bench(const MatrixEngine& engine) : engine_(engine) {
  if (is_integer(engine.a())) return;
  const FloatShape a = shape_of(engine.a()), b = shape_of(engine.b());
  bottom = a.emin() - a.fraction_bits + b.emin() - b.fraction_bits;
  top = std::min({a.emax() + b.emax(), shape_of(engine.c()).emax() - 2, 40});
}

void Bench::leave_subnormals() {
  only_normal_ = true;
  bottom = shape_of(engine_.a()).emin() + shape_of(engine_.b()).emin();
  factors_.clear();
}

double Bench::factor_of(double s, int exponent) const {
  const int a = shape_of(engine_.a()).emax(), b = shape_of(engine_.b()).emax();
  return std::ldexp(s, std::max(exponent - a, std::min(exponent / 2, b)));
}

bool Bench::factor(double value, std::uint64_t& a, std::uint64_t& b) const {
  const auto [known, unknown] = factors_.try_emplace(value);
  Factors& factors = known->second;
  if (unknown) factors.found = find_factors(value, factors.a, factors.b);
  a = factors.a, b = factors.b;
  return factors.found;
}

bool Bench::find_factors(double value, std::uint64_t& a, std::uint64_t& b) const {
  a = b = 0;
  if (value == 0) return true;
  const auto [m, e] = odd_parts(std::fabs(value));
  const double sign = value < 0 ? -1 : 1;
  if (m > 1 << 24) return false;
  bool found = false;
  for (long f = 1; f <= 4096 && f <= m; f += 2) {
    if (std::fmod(m, static_cast<double>(f)) != 0) continue;
    const double g = m / static_cast<double>(f);
    for (int i = 0; i < 700; ++i) {  // x = e/2, e/2 - 1, e/2 + 1, ...
      const int x = e / 2 + ((i & 1) != 0 ? -(i + 1) / 2 : i / 2);
      const double u = sign * std::ldexp(g, x), v = std::ldexp(static_cast<double>(f), e - x);
      if (!in_range(engine_.a(), x + std::ilogb(g)) ||
          !in_range(engine_.b(), e - x + std::ilogb(static_cast<double>(f))))
        continue;
      std::uint64_t wa = 0, wb = 0;
      if (!exact_code(engine_.a(), u, wa) || !exact_code(engine_.b(), v, wb)) continue;
      const bool normal = is_normal(engine_.a(), u) && is_normal(engine_.b(), v);
      if (only_normal_ && !normal) continue;
      if (!found || normal) {
        a = wa;
        b = wb;
        found = true;
      }
      if (normal) return true;
    }
  }
  return found;
}

Bench::Result Bench::run(const std::vector<Term>& terms, const Words& words) const {
  std::vector<std::uint64_t> a(static_cast<std::size_t>(k()), 0), b = a;
  std::uint64_t c = 0;
  Result r;
  std::string text;
  for (const Term& t : terms) {
    text += (text.empty() ? "" : ", ");
    if (t.slot == slot_c) {
      r.possible = r.possible && exact_code(engine_.c(), t.value, c);
      text += "c = " + show(t.value);
    } else {
      const auto i = static_cast<std::size_t>(t.slot);
      r.possible = r.possible && i < a.size() &&
                   (t.factor == 0
                        ? factor(t.value, a[i], b[i])
                        : exact_code(engine_.a(), t.value / t.factor, a[i]) && exact_code(engine_.b(), t.factor, b[i]));
      text += "p" + std::to_string(t.slot) + " = " +
              (t.factor == 0 ? show(t.value) : show(t.value / t.factor) + " * " + show(t.factor));
    }
  }
  if (!r.possible) return r;
  if (words.slot != slot_c) {
    const auto i = static_cast<std::size_t>(words.slot);
    a[i] = words.a, b[i] = words.b;
    text += ", p" + std::to_string(words.slot) + " = " + show(decode(engine_.a(), words.a)) + " * " +
            show(decode(engine_.b(), words.b));
  }
  return run_words(a, b, c, text);
}

Bench::Result Bench::run_words(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b,
                               std::uint64_t c, const std::string& text) const {
  Result r;
  r.bits = engine_.dot(a.data(), b.data(), c);
  r.d = decode(engine_.c(), r.bits);
  r.text = text + ": d = " + show(r.d);
  return r;
}

Smallest smallest_result(const Bench& bench, const std::vector<int>& slots, int exponent) {
  Smallest found{.exponent = exponent};
  const FloatShape out = shape_of(bench.c());
  for (int x = out.emin(); x >= out.emin() - out.fraction_bits; --x) {
    const auto r = bench.run({{slots[0], power(x)}});
    if (!r.possible) return found;
    if (r.d != power(x)) break;
    found.exponent = x;
    found.evidence = r.text;
  }
  const double half = power(found.exponent - 1);
  const auto halves = bench.run({{slots[0], half}, {slots[1], half}});
  found.seen = !found.evidence.empty() && halves.possible;
  found.cut = halves.d != 2 * half;
  found.evidence += "; " + halves.text;
  return found;
}

std::string fitting_mode(const RoundingTable& table, Rounding& mode, bool halves) {
  for (int m = 0; m < 5; ++m) {
    bool fits = true;
    for (int s = 0; s < 2; ++s)
      for (int odd = 0; odd < 2; ++odd)
        for (int q = table.only_halves ? 2 : 1; q <= (table.only_halves ? 2 : 3); ++q) {
          const int seen = halves ? q & 2 : q;
          fits = fits && table.away[s][odd][q - 1] ==
                             rounds_up(static_cast<RoundingMode>(m), s != 0, odd != 0, seen >= 2, (seen & 1) != 0);
        }
    if (!fits) continue;
    mode = static_cast<Rounding>(m);
    return to_string(mode);
  }
  return "";
}

void fill(RoundingTable& table, double base, double unit, int least_shown, std::string& shown,
          const std::function<Bench::Result(double sign, int odd, int quarter)>& pose) {
  for (int s = 0; s < 2; ++s)
    for (int odd = 0; odd < 2; ++odd)
      for (int q = table.only_halves ? 2 : 1; q <= (table.only_halves ? 2 : 3); ++q) {
        const Bench::Result r = pose(s != 0 ? -1 : 1, odd, q);
        table.complete = table.complete && r.possible;
        table.away[s][odd][q - 1] = (std::fabs(r.d) - base) / unit > odd;
        if (q >= least_shown && odd == 0) shown += (shown.empty() ? "" : "; ") + r.text;
      }
}

std::string classify(const RoundingTable& table, Rounding& mode) {
  if (!table.complete) return "not observable";
  const std::string name = fitting_mode(table, mode, false);
  return name.empty() ? "other" : name;
}

}  // namespace vernier::model
