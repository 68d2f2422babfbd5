// Linear systems by the thousand: verified_solve and verified_determinant against solutions in MPFR, or known integers.
// Writes one JSON object; fails where an interval misses the exact solution or determinant.
//
//     verified_campaign --systems 10000 --large 1000,1500,2000 --threads 16 --output
//     bench/results/verified_campaign.json
//     verified_campaign --systems 0 --known 4000 --seconds 120 --threads 12
#include <mpfr.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/cpu_features.hpp"
#include "families.hpp"
#include "known_systems.hpp"
#include "program.hpp"
#include "support/conditioned.hpp"
#include "vernier/verified.hpp"

namespace vernier::test::verified_campaign {
namespace {

using Json = nlohmann::ordered_json;

constexpr mpfr_prec_t precision = 2200;  // more than twice the bits that condition and grading take
constexpr long slack = -1500;            // log2 of the reference's own error beside its largest entry

class Numbers {
 public:
  explicit Numbers(std::int64_t count) : x_(static_cast<std::size_t>(count)) {
    for (auto& x : x_) mpfr_init2(x.value, precision);
  }
  ~Numbers() {
    for (auto& x : x_) mpfr_clear(x.value);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  mpfr_ptr operator[](std::int64_t i) { return x_[static_cast<std::size_t>(i)].value; }

 private:
  struct Number {
    mpfr_t value;
  };
  std::vector<Number> x_;
};

// Gauss with partial pivoting on A | b. x and det; false where a pivot is zero.
bool solve_in_mpfr(const Matrix<double>& a, const std::vector<double>& b, Numbers& x, mpfr_ptr det) {
  const std::int64_t n = a.rows(), columns = n + 1;
  Numbers w(n * columns + 1);
  const auto at = [&](std::int64_t i, std::int64_t j) { return w[i * columns + j]; };
  const mpfr_ptr factor = w[n * columns];
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) mpfr_set_d(at(i, j), a(i, j), MPFR_RNDN);
    mpfr_set_d(at(i, n), b[static_cast<std::size_t>(i)], MPFR_RNDN);
  }
  std::vector<std::int64_t> row(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) row[static_cast<std::size_t>(i)] = i;
  const auto of = [&](std::int64_t i) { return row[static_cast<std::size_t>(i)]; };
  mpfr_set_ui(det, 1, MPFR_RNDN);
  for (std::int64_t p = 0; p < n; ++p) {
    std::int64_t best = p;
    for (std::int64_t i = p + 1; i < n; ++i)
      if (mpfr_cmpabs(at(of(i), p), at(of(best), p)) > 0) best = i;
    if (best != p)
      std::swap(row[static_cast<std::size_t>(p)], row[static_cast<std::size_t>(best)]), mpfr_neg(det, det, MPFR_RNDN);
    if (mpfr_zero_p(at(of(p), p)) != 0) return false;
    mpfr_mul(det, det, at(of(p), p), MPFR_RNDN);
    for (std::int64_t i = p + 1; i < n; ++i) {
      if (mpfr_zero_p(at(of(i), p)) != 0) continue;
      mpfr_div(factor, at(of(i), p), at(of(p), p), MPFR_RNDN);
      mpfr_neg(factor, factor, MPFR_RNDN);
      for (std::int64_t j = p + 1; j < columns; ++j)
        mpfr_fma(at(of(i), j), factor, at(of(p), j), at(of(i), j), MPFR_RNDN);
    }
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    mpfr_set(x[i], at(of(i), n), MPFR_RNDN);
    for (std::int64_t j = i + 1; j < n; ++j) {
      mpfr_mul(factor, at(of(i), j), x[j], MPFR_RNDN);
      mpfr_sub(x[i], x[i], factor, MPFR_RNDN);
    }
    mpfr_div(x[i], x[i], at(of(i), i), MPFR_RNDN);
  }
  return true;
}

// low <= x <= high, up to the error of x.
bool holds(double low, double high, mpfr_ptr x, mpfr_ptr error, mpfr_ptr work) {
  mpfr_add(work, x, error, MPFR_RNDU);
  if (mpfr_cmp_d(work, low) < 0) return false;
  mpfr_sub(work, x, error, MPFR_RNDD);
  return mpfr_cmp_d(work, high) <= 0;
}

struct Tally {
  std::int64_t systems = 0, verified = 0, determinants = 0, wrong = 0, entries = 0, largest = 0;
  double widest = 0;  // interval beside its largest entry
  void add(const Tally& t) {
    systems += t.systems, verified += t.verified, determinants += t.determinants, wrong += t.wrong,
        entries += t.entries;
    widest = std::max(widest, t.widest), largest = std::max(largest, t.largest);
  }
};

struct Enclosure {
  bool verified;
  std::vector<double> low, high;
};

Enclosure enclose(const double* a, std::int64_t lda, const std::vector<double>& b, int threads) {
  const auto n = static_cast<std::int64_t>(b.size());
  Enclosure e{false, std::vector<double>(b.size()), std::vector<double>(b.size())};
  e.verified = verified_solve(n, 1, a, lda, b.data(), n, e.low.data(), e.high.data(), n,
                              {.contract = Contract::fp64(), .threads = threads})
                   .verified;
  return e;
}

void note_width(const Enclosure& e, Tally& tally) {
  double largest = 0, width = 0;
  for (std::size_t i = 0; i < e.low.size(); ++i) {
    largest = std::max(largest, std::max(std::fabs(e.low[i]), std::fabs(e.high[i])));
    width = std::max(width, e.high[i] - e.low[i]);
  }
  if (largest > 0) tally.widest = std::max(tally.widest, width / largest);
}

Tally check(const Matrix<double>& a, const std::vector<double>& b) {
  Tally tally{.systems = 1, .largest = a.rows()};
  const std::int64_t n = a.rows();
  const Enclosure e = enclose(a.data(), a.ld(), b, 1);
  DeterminantInterval interval;
  const bool has_determinant =
      n <= 60 &&
      verified_determinant(n, a.data(), a.ld(), interval, {.contract = Contract::fp64(), .threads = 1}).verified;
  if (!e.verified && !has_determinant) return tally;
  Numbers x(n), other(3);
  const mpfr_ptr det = other[0], error = other[1], work = other[2];
  if (!solve_in_mpfr(a, b, x, det)) {
    tally.wrong += e.verified ? 1 : 0;
    return tally;
  }
  if (has_determinant) {
    ++tally.determinants;
    mpfr_abs(error, det, MPFR_RNDU);
    mpfr_mul_2si(error, error, slack, MPFR_RNDU);
    mpfr_mul_2si(det, det, -interval.exponent, MPFR_RNDN);
    mpfr_mul_2si(error, error, -interval.exponent, MPFR_RNDU);
    tally.wrong += holds(interval.low, interval.high, det, error, work) ? 0 : 1;
  }
  if (!e.verified) return tally;
  ++tally.verified;
  mpfr_set_ui(error, 0, MPFR_RNDN);
  for (std::int64_t i = 0; i < n; ++i)
    if (mpfr_cmpabs(x[i], error) > 0) mpfr_abs(error, x[i], MPFR_RNDU);
  mpfr_mul_2si(error, error, slack, MPFR_RNDU);
  for (std::int64_t i = 0; i < n; ++i) {
    ++tally.entries;
    const auto at = static_cast<std::size_t>(i);
    tally.wrong += holds(e.low[at], e.high[at], x[i], error, work) ? 0 : 1;
  }
  note_width(e, tally);
  return tally;
}

// x is known.
Tally check_known(const double* a, std::int64_t lda, const std::vector<double>& b, const std::vector<double>& x,
                  int threads) {
  Tally tally{.systems = 1, .largest = static_cast<std::int64_t>(b.size())};
  const Enclosure e = enclose(a, lda, b, threads);
  if (!e.verified) return tally;
  tally.verified = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ++tally.entries;
    tally.wrong += e.low[i] <= x[i] && x[i] <= e.high[i] ? 0 : 1;
  }
  note_width(e, tally);
  return tally;
}

// A of integers, b = A x without rounding.
Tally check_integers(std::int64_t n, std::uint64_t seed, int threads) {
  Random random(seed);
  const auto a =
      Matrix<double>::of(n, n, [&](auto, auto) { return static_cast<double>(random.integer(-1000000, 1000000)); });
  std::vector<double> x, b(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(random.integer(-100000, 100000)));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] += a(i, j) * x[static_cast<std::size_t>(j)];
  return check_known(a.data(), a.ld(), b, x, threads);
}

std::vector<Family> all_families() {
  std::vector<Family> list;
  for (Family& f : families())
    if (!f.nonfinite) list.push_back(std::move(f));
  list.push_back({"condition to 1e14", 1e14, false, false, [](auto n, Random& r) {
                    return conditioned_matrix(n, std::pow(10.0, 2 + 12 * r.uniform()), Spectrum::geometric,
                                              static_cast<std::uint64_t>(r.integer(1, 1 << 30)), 2);
                  }});
  list.push_back({"Vandermonde", infinite, false, false, [](auto n, Random& r) {
                    std::vector<double> t;
                    for (std::int64_t i = 0; i < n; ++i) t.push_back(2 * r.uniform() - 1);
                    return Matrix<double>::of(n, n, [&](auto i, auto j) {
                      return std::pow(t[static_cast<std::size_t>(i)], static_cast<double>(j));
                    });
                  }});
  list.push_back({"Cauchy", infinite, false, false, [](auto n, Random& r) {
                    const double shift = 0.1 + r.uniform();
                    return Matrix<double>::of(n, n,
                                              [&](auto i, auto j) { return 1 / (static_cast<double>(i + j) + shift); });
                  }});
  return list;
}

std::int64_t size_of(Random& random) {
  const std::int64_t kind = random.integer(0, 999);
  return kind < 870 ? random.integer(1, 24) : kind < 985 ? random.integer(25, 80) : random.integer(81, 240);
}

struct Arguments {
  std::int64_t systems = 1000, known = 0;
  double seconds = 1e9;  // no system of known solution is begun later
  bench::KnownSizes sizes;
  std::vector<std::int64_t> large;
  int threads = 1;
  std::uint64_t seed = 1;
  std::string output, commit;
};

Json json_of(const Tally& t) {
  return {{"systems", t.systems},           {"verified", t.verified}, {"entries", t.entries},
          {"determinants", t.determinants}, {"wrong", t.wrong},       {"widest_relative", t.widest},
          {"largest_n", t.largest}};
}

void known_campaign(const Arguments& arguments, std::map<std::string, Tally>& tallies) {
  const auto start = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(dynamic, 1) num_threads(arguments.threads)
  for (std::int64_t s = 0; s < arguments.known; ++s) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > arguments.seconds) continue;
    const bench::KnownRule rule = bench::known_rule(s, static_cast<std::int64_t>(arguments.seed), arguments.sizes);
    const KnownSystem system(rule);
    const Tally tally = check_known(system.a.data(), rule.n, system.b, system.x, 1);
#pragma omp critical
    tallies[std::string("known: ") + name_of(rule.family)].add(tally);
  }
}

bool campaign(const Arguments& arguments) {
  const std::vector<Family> list = all_families();
  std::map<std::string, Tally> tallies;
#pragma omp parallel for schedule(dynamic, 1) num_threads(arguments.threads)
  for (std::int64_t s = 0; s < arguments.systems; ++s) {
    Random random(arguments.seed * 1000003 + static_cast<std::uint64_t>(s));
    const Family& family = list[static_cast<std::size_t>(s) % list.size()];
    const std::int64_t n = size_of(random);
    const Matrix<double> a = family.make(n, random);
    std::vector<double> b;
    for (std::int64_t i = 0; i < n; ++i) b.push_back(random.normal());
    const Tally tally = check(a, b);
    mpfr_free_cache();
#pragma omp critical
    tallies[family.name].add(tally);
  }
  known_campaign(arguments, tallies);
  for (const std::int64_t n : arguments.large)
    tallies["integers, n from " + std::to_string(arguments.large.front())].add(
        check_integers(n, arguments.seed + static_cast<std::uint64_t>(n), arguments.threads));
  Tally all;
  Json json = {{"processor", processor_name()},
               {"engine", default_engine()},
               {"blas", native_blas()},
               {"version", version()},
               {"commit", arguments.commit},
               {"seed", arguments.seed},
               {"reference", std::string("MPFR ") + mpfr_get_version() + ", 2200 bits"}};
  for (const auto& [name, tally] : tallies) json["families"][name] = json_of(tally), all.add(tally);
  json["all"] = json_of(all);
  if (arguments.output.empty())
    std::cout << json.dump(1) << '\n';
  else
    std::ofstream(arguments.output) << json.dump(1) << '\n';
  return all.wrong == 0;
}

}  // namespace
}  // namespace vernier::test::verified_campaign

int main(int count, char** words) {
  vernier::test::verified_campaign::Arguments x;
  bool well = false;
  const int code = vernier::bench::program("verified_campaign", count, words,
                                           {{"--systems", &x.systems},  // small ones, to n = 240
                                            {"--known", &x.known},      // large ones, solutions known
                                            {"--seconds", &x.seconds},
                                            {"--least", &x.sizes.least},
                                            {"--common", &x.sizes.common},
                                            {"--most", &x.sizes.most},
                                            {"--large", &x.large},  // orders of systems of integers, solutions known
                                            {"--threads", &x.threads},  // systems at once
                                            {"--seed", &x.seed},
                                            {"--output", &x.output},  // none: stdout
                                            {"--commit", &x.commit}},
                                           [&] { well = vernier::test::verified_campaign::campaign(x); });
  return code == 0 && !well ? 1 : code;
}
