// Entries of quadruple products by the million, of every type and contract, against MPFR: errors as shares of the
// promise, and results that are rounded once. Writes one JSON object; fails where a promise is broken.
//
//     quad_campaign --entries 1000000 --threads 16 --output bench/results/quad_campaign.json
#include <mpfr.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/cpu_features.hpp"
#include "support/quad_values.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::quad_campaign {
namespace {

using Json = nlohmann::ordered_json;

constexpr mpfr_prec_t exact_bits = 512;  // of sums of products of the data below: nothing is rounded

// A number of that many bits; what is rounded stops the campaign.
class Real {
 public:
  Real() { mpfr_init2(x_, exact_bits), mpfr_set_zero(x_, 1); }
  ~Real() { mpfr_clear(x_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;

  mpfr_t& get() { return x_; }
  void set(double x) { mpfr_set_d(x_, x, MPFR_RNDN); }
  void set(const dd& x) {
    mpfr_set_d(x_, x.hi, MPFR_RNDN);
    exactly(mpfr_add_d(x_, x_, x.lo, MPFR_RNDN));
  }
#if defined(__SIZEOF_FLOAT128__)
  void set(binary128 x) {
    set(0.0);
    for (int part = 0; part < 3; ++part) {
      const auto leading = static_cast<double>(x);
      exactly(mpfr_add_d(x_, x_, leading, MPFR_RNDN));
      x -= leading;
    }
  }
#endif
  void add_product(Real& x, Real& y) { exactly(mpfr_fma(x_, x.x_, y.x_, x_, MPFR_RNDN)); }
  static void exactly(int ternary) {
    if (ternary != 0) throw std::runtime_error("the reference was rounded");
  }

 private:
  mpfr_t x_;
};

mpfr_rnd_t direction_of(Rounding r) {
  return r == Rounding::down          ? MPFR_RNDD
         : r == Rounding::up          ? MPFR_RNDU
         : r == Rounding::toward_zero ? MPFR_RNDZ
                                      : MPFR_RNDN;
}

bool same_bits(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

bool is_rounded_once(Real& exact, const dd& t, Rounding rounding) {
  const double hi = mpfr_get_d(exact.get(), MPFR_RNDN);
  Real rest;
  Real::exactly(mpfr_sub_d(rest.get(), exact.get(), hi, MPFR_RNDN));
  return same_bits(t.hi, hi) &&
         same_bits(t.lo, mpfr_zero_p(rest.get()) ? 0 : mpfr_get_d(rest.get(), direction_of(rounding)));
}
#if defined(__SIZEOF_FLOAT128__)
bool is_rounded_once(Real& exact, binary128 t, Rounding rounding) {
  Real found;
  found.set(t);
  mpfr_prec_round(exact.get(), 113, direction_of(rounding));
  return mpfr_equal_p(exact.get(), found.get()) != 0;
}
#endif

struct Arguments {
  double entries = 1e6;
  int threads = 1;
  std::uint64_t seed = 1;
  std::string engine, output, commit;
};

struct Outcome {
  std::int64_t entries = 0, wrong = 0;
  double worst = 0;  // error as a share of the promise
};

// What is promised beside |A||B|: k 2^-bits + 2^-unit; bits = 0: one rounding.
struct Promise {
  const char* contract;
  int bits, unit;
};

template <class TC, class TA, class TB>
class Product {
 public:
  Product(Random& random, const Promise& promise, const std::string& engine) : promise_(promise) {
    k_ = random.integer(0, 3) == 0 ? random.integer(1, 300) : random.integer(1, 60);
    fill(random, a_, m * k_);
    fill(random, b_, k_ * n);
    if (random.integer(0, 3) == 0) cancel(random);
    QuadOptions options;
    options.contract = QuadContract::parse(promise.contract);
    options.engine = engine;
    options.threads = 1;
    c_.resize(static_cast<std::size_t>(m * n));
    quad_gemm(Op::none, Op::none, m, n, k_, 1.0, a_.data(), m, b_.data(), k_, 0.0, c_.data(), m, options);
    rounding_ = options.contract.rounding;
  }

  void check(Outcome& outcome) {
    std::vector<Real> a(a_.size()), b(b_.size());
    for (std::size_t e = 0; e < a_.size(); ++e) a[e].set(a_[e]);
    for (std::size_t e = 0; e < b_.size(); ++e) b[e].set(b_[e]);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        Real sum, magnitude, x, y;
        for (std::int64_t l = 0; l < k_; ++l) {
          Real &p = a[static_cast<std::size_t>(i + l * m)], &q = b[static_cast<std::size_t>(l + j * k_)];
          sum.add_product(p, q);
          mpfr_abs(x.get(), p.get(), MPFR_RNDN), mpfr_abs(y.get(), q.get(), MPFR_RNDN);
          magnitude.add_product(x, y);
        }
        judge(sum, magnitude, c_[static_cast<std::size_t>(i + j * m)], outcome);
      }
  }

 private:
  static constexpr std::int64_t m = 24, n = 24;

  template <class T>
  static void fill(Random& random, std::vector<T>& x, std::int64_t count) {
    const double phi = 2 * random.uniform();
    x.resize(static_cast<std::size_t>(count));
    for (T& e : x) e = random_quad(random, phi, static_cast<const T*>(nullptr));
  }

  // Pairs of terms that cancel, up to a tiny part of some.
  void cancel(Random& random) {
    for (std::int64_t l = 1; l < k_; l += 2) {
      for (std::int64_t i = 0; i < m; ++i)
        a_[static_cast<std::size_t>(i + l * m)] = a_[static_cast<std::size_t>(i + (l - 1) * m)];
      for (std::int64_t j = 0; j < n; ++j)
        if (random.integer(0, 20) != 0)
          negate(b_[static_cast<std::size_t>(l - 1 + j * k_)], b_[static_cast<std::size_t>(l + j * k_)]);
    }
  }
  static void negate(const dd& x, dd& y) { y = dd(-x.hi, -x.lo); }
  template <class T>
  static void negate(const T& x, T& y) {
    y = -x;
  }

  void judge(Real& sum, Real& magnitude, const TC& t, Outcome& outcome) {
    ++outcome.entries;
    if (promise_.bits == 0) {
      outcome.wrong += is_rounded_once(sum, t, rounding_) ? 0 : 1;
      return;
    }
    Real found, allowed, part;
    found.set(t);
    mpfr_sub(found.get(), found.get(), sum.get(), MPFR_RNDN);
    mpfr_abs(found.get(), found.get(), MPFR_RNDN);
    mpfr_mul_ui(allowed.get(), magnitude.get(), static_cast<unsigned long>(k_), MPFR_RNDN);
    mpfr_div_2ui(allowed.get(), allowed.get(), static_cast<unsigned long>(promise_.bits), MPFR_RNDN);
    mpfr_div_2ui(part.get(), magnitude.get(), static_cast<unsigned long>(promise_.unit), MPFR_RNDN);
    mpfr_add(allowed.get(), allowed.get(), part.get(), MPFR_RNDN);
    if (mpfr_cmp(found.get(), allowed.get()) > 0) ++outcome.wrong;
    if (mpfr_zero_p(found.get()) != 0) return;
    mpfr_div(found.get(), found.get(), allowed.get(), MPFR_RNDU);
    outcome.worst = std::max(outcome.worst, mpfr_get_d(found.get(), MPFR_RNDU));
  }

  const Promise& promise_;
  Rounding rounding_ = Rounding::nearest;
  std::int64_t k_;
  std::vector<TA> a_;
  std::vector<TB> b_;
  std::vector<TC> c_;
};

template <class TC, class TA, class TB>
Json campaign(const char* type, const Promise& promise, const Arguments& arguments) {
  std::int64_t entries = 0, wrong = 0;
  double worst = 0;
  const auto products = static_cast<std::int64_t>(arguments.entries / (24 * 24)) + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(arguments.threads) reduction(+ : entries, wrong) \
    reduction(max : worst)
  for (std::int64_t p = 0; p < products; ++p) {
    Random random(arguments.seed * 1000003 + static_cast<std::uint64_t>(p));
    Outcome outcome;
    Product<TC, TA, TB>(random, promise, arguments.engine).check(outcome);
    entries += outcome.entries, wrong += outcome.wrong;
    worst = std::max(worst, outcome.worst);
    mpfr_free_cache();
  }
  Json json = {{"type", type}, {"contract", promise.contract}, {"entries", entries}, {"wrong", wrong}};
  if (promise.bits != 0) json["worst_share"] = worst;
  std::cerr << json.dump() << '\n';
  return json;
}

Json all_of(const Arguments& arguments) {
  Json list = Json::array();
  for (const Promise& p : {Promise{"dd", 106, 106},
                           {"bits(40)", 40, 106},
                           {"bits(140)", 140, 106},
                           {"exact", 0, 0},
                           {"exact+down", 0, 0},
                           {"exact+up", 0, 0},
                           {"exact+toward-zero", 0, 0}}) {
    list.push_back(campaign<dd, double, double>("double x double -> dd", p, arguments));
    list.push_back(campaign<dd, dd, double>("dd x double -> dd", p, arguments));
    list.push_back(campaign<dd, dd, dd>("dd x dd -> dd", p, arguments));
  }
#if defined(__SIZEOF_FLOAT128__)
  for (const Promise& p : {Promise{"fp128", 113, 113},
                           {"bits(60)", 60, 113},
                           {"exact", 0, 0},
                           {"exact+down", 0, 0},
                           {"exact+up", 0, 0},
                           {"exact+toward-zero", 0, 0}}) {
    list.push_back(campaign<binary128, double, double>("double x double -> binary128", p, arguments));
    list.push_back(campaign<binary128, binary128, binary128>("binary128 x binary128 -> binary128", p, arguments));
  }
#endif
  return list;
}

int main_of(int count, char** words) {
  Arguments arguments;
  CLI::App app("Entries of quadruple products against MPFR");
  app.add_option("--entries", arguments.entries, "of each type and contract")->check(CLI::PositiveNumber);
  app.add_option("--threads", arguments.threads, "products at once")->check(CLI::PositiveNumber);
  app.add_option("--seed", arguments.seed, "of the data");
  app.add_option("--engine", arguments.engine, "an int8 engine; none: the best");
  app.add_option("--output", arguments.output, "a file for the JSON; none: stdout");
  app.add_option("--commit", arguments.commit, "written into the JSON");
  CLI11_PARSE(app, count, words);
  Json json = {
      {"processor", processor_name()}, {"engine", arguments.engine.empty() ? default_engine() : arguments.engine},
      {"version", version()},          {"commit", arguments.commit},
      {"seed", arguments.seed},        {"reference", std::string("MPFR ") + mpfr_get_version()},
      {"campaigns", all_of(arguments)}};
  std::int64_t wrong = 0;
  for (const Json& c : json["campaigns"]) wrong += c["wrong"].get<std::int64_t>();
  json["wrong"] = wrong;
  if (arguments.output.empty())
    std::cout << json.dump(1) << '\n';
  else
    std::ofstream(arguments.output) << json.dump(1) << '\n';
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace vernier::test::quad_campaign

int main(int count, char** words) {
  try {
    return vernier::test::main_of(count, words);
  } catch (const std::exception& error) {
    std::cerr << "quad_campaign: " << error.what() << '\n';
    return 2;
  }
}
