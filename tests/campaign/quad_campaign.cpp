// Entries of quadruple products by the million, of every type and contract, against MPFR: errors as shares of the
// promise, and results that are rounded once, half of them alpha AB + beta C. Writes one JSON object; fails where a
// promise is broken.
//
//     quad_campaign --entries 1000000 --threads 16 --output bench/results/quad_campaign.json
#include <algorithm>
#include <complex>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/cpu_features.hpp"
#include "mpfr_real.hpp"
#include "program.hpp"
#include "support/quad_values.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::quad_campaign {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  double entries = 1e6;
  int threads = 1;
  std::uint64_t seed = 1;
  std::string engine, output, commit;
  std::vector<std::string> contracts;  // none: all
  std::string types;                   // those whose name holds this
  bool wants(const char* contract) const {
    return contracts.empty() || std::find(contracts.begin(), contracts.end(), contract) != contracts.end();
  }
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

template <class T>
struct ComplexOf {
  using type = std::complex<double>;
};
template <>
struct ComplexOf<dd> {
  using type = complex_dd;
};
#if defined(__SIZEOF_FLOAT128__)
template <>
struct ComplexOf<binary128> {
  using type = complex_binary128;
};
#endif

// Parts = 2: of complex matrices, whose rows of C are looked at part by part.
template <class TC, class TA, class TB, int Parts>
class Product {
 public:
  Product(Random& random, const Promise& promise, const std::string& engine) : promise_(promise) {
    k_ = random.integer(0, 3) == 0 ? random.integer(1, 300) : random.integer(1, 60);
    fill(random, a_, Parts * m * k_);
    fill(random, b_, Parts * k_ * n);
    if (random.integer(0, 3) == 0) cancel(random);
    QuadOptions options;
    options.contract = QuadContract::parse(promise.contract);
    options.engine = engine;
    options.threads = 1;
    fill(random, c_, Parts * m * n);
    if (promise.bits == 0 && random.integer(0, 1) == 0)  // T alone, or an update of C
      alpha_ = std::ldexp(random.scattered(1), static_cast<int>(random.integer(-3, 3))), beta_ = random.scattered(1);
    old_ = c_;
    if constexpr (Parts == 1)
      multiply(a_.data(), b_.data(), c_.data(), options);
    else
      multiply(reinterpret_cast<const typename ComplexOf<TA>::type*>(a_.data()),
               reinterpret_cast<const typename ComplexOf<TB>::type*>(b_.data()),
               reinterpret_cast<typename ComplexOf<TC>::type*>(c_.data()), options);
    rounding_ = options.contract.rounding;
  }

  void check(Outcome& outcome) {
    std::vector<Real> a(a_.size()), b(b_.size());
    for (std::size_t e = 0; e < a_.size(); ++e) a[e].set(a_[e]);
    for (std::size_t e = 0; e < b_.size(); ++e) b[e].set(b_[e]);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < Parts * m; ++i) {
        Real sum, magnitude, x, y;
        for (std::int64_t l = 0; l < Parts * k_; ++l) {
          // Parts of A and B that meet: real ones, imaginary ones with a minus; for the imaginary part one of each.
          const std::int64_t own = l % Parts, other = Parts == 2 && i % 2 == 1 ? 1 - own : own;
          Real &p = a[static_cast<std::size_t>(i / Parts * Parts + own + l / Parts * Parts * m)],
               &q = b[static_cast<std::size_t>(l / Parts * Parts + other + j * Parts * k_)];
          mpfr_set(x.get(), p.get(), MPFR_RNDN);
          if (own == 1 && other == 1) mpfr_neg(x.get(), x.get(), MPFR_RNDN);
          sum.add_product(x, q);
          mpfr_abs(x.get(), x.get(), MPFR_RNDN), mpfr_abs(y.get(), q.get(), MPFR_RNDN);
          magnitude.add_product(x, y);
        }
        if (beta_ != 0) {
          x.set(alpha_), y.set(0.0);
          y.add_product(sum, x);
          sum.set(beta_), x.set(old_[static_cast<std::size_t>(i + j * Parts * m)]);
          y.add_product(sum, x);
          mpfr_swap(sum.get(), y.get());
        }
        judge(sum, magnitude, c_[static_cast<std::size_t>(i + j * Parts * m)], outcome);
      }
  }

 private:
  static constexpr std::int64_t m = 24, n = 24;

  template <class A, class B, class C>
  void multiply(const A* a, const B* b, C* c, const QuadOptions& options) const {
    quad_gemm(Op::none, Op::none, m, n, k_, alpha_, a, m, b, k_, beta_, c, m, options);
  }

  template <class T>
  static void fill(Random& random, std::vector<T>& x, std::int64_t count) {
    const double phi = 2 * random.uniform();
    x.resize(static_cast<std::size_t>(count));
    for (T& e : x) e = random_quad(random, phi, static_cast<const T*>(nullptr));
  }

  // Pairs of terms that cancel, up to a tiny part of some.
  void cancel(Random& random) {
    for (std::int64_t l = 1; l < k_; l += 2) {
      for (std::int64_t i = 0; i < Parts * m; ++i)
        a_[static_cast<std::size_t>(i + l * Parts * m)] = a_[static_cast<std::size_t>(i + (l - 1) * Parts * m)];
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t e = Parts * (l + j * k_); e < Parts * (l + 1 + j * k_); ++e)
          if (random.integer(0, 20) != 0)
            negate(b_[static_cast<std::size_t>(e - Parts)], b_[static_cast<std::size_t>(e)]);
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
    mpfr_mul_ui(allowed.get(), magnitude.get(), static_cast<unsigned long>(Parts * k_), MPFR_RNDN);
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
  std::vector<TC> c_, old_;
  double alpha_ = 1, beta_ = 0;
};

template <class TC, class TA, class TB, int Parts = 1>
void campaign(const char* type, const Promise& promise, const Arguments& arguments, Json& list) {
  if (std::string_view(type).find(arguments.types) == std::string_view::npos) return;
  std::int64_t entries = 0, wrong = 0;
  double worst = 0;
  const auto products = static_cast<std::int64_t>(arguments.entries / (24 * 24 * Parts)) + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(arguments.threads) reduction(+ : entries, wrong) \
    reduction(max : worst)
  for (std::int64_t p = 0; p < products; ++p) {
    Random random(arguments.seed * 1000003 + static_cast<std::uint64_t>(p));
    Outcome outcome;
    Product<TC, TA, TB, Parts>(random, promise, arguments.engine).check(outcome);
    entries += outcome.entries, wrong += outcome.wrong;
    worst = std::max(worst, outcome.worst);
    mpfr_free_cache();
  }
  Json json = {{"type", type}, {"contract", promise.contract}, {"entries", entries}, {"wrong", wrong}};
  if (promise.bits != 0) json["worst_share"] = worst;
  std::cerr << json.dump() << '\n';
  list.push_back(json);
}

Json all_of(const Arguments& arguments) {
  Json list = Json::array();
  for (const Promise& p : {Promise{"dd", 106, 106},
                           {"bits(40)", 40, 106},
                           {"bits(140)", 140, 106},
                           {"bits(226)", 226, 106},
                           {"exact", 0, 0},
                           {"exact+down", 0, 0},
                           {"exact+up", 0, 0},
                           {"exact+toward-zero", 0, 0}}) {
    if (!arguments.wants(p.contract)) continue;
    campaign<dd, double, double>("double x double -> dd", p, arguments, list);
    campaign<dd, dd, double>("dd x double -> dd", p, arguments, list);
    campaign<dd, dd, dd>("dd x dd -> dd", p, arguments, list);
    campaign<dd, double, double, 2>("complex double -> complex dd", p, arguments, list);
    campaign<dd, dd, dd, 2>("complex dd -> complex dd", p, arguments, list);
  }
#if defined(__SIZEOF_FLOAT128__)
  for (const Promise& p : {Promise{"fp128", 113, 113},
                           {"bits(60)", 60, 113},
                           {"bits(226)", 226, 113},
                           {"exact", 0, 0},
                           {"exact+down", 0, 0},
                           {"exact+up", 0, 0},
                           {"exact+toward-zero", 0, 0}}) {
    if (!arguments.wants(p.contract)) continue;
    campaign<binary128, double, double>("double x double -> binary128", p, arguments, list);
    campaign<binary128, binary128, binary128>("binary128 x binary128 -> binary128", p, arguments, list);
    campaign<binary128, double, double, 2>("complex double -> complex binary128", p, arguments, list);
    campaign<binary128, binary128, binary128, 2>("complex binary128 -> complex binary128", p, arguments, list);
  }
#endif
  return list;
}

bool campaign(const Arguments& arguments) {
  if (!(arguments.entries > 0)) throw std::invalid_argument("--entries: expected a positive number");
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
  return wrong == 0;
}

}  // namespace
}  // namespace vernier::test::quad_campaign

int main(int count, char** words) {
  vernier::test::quad_campaign::Arguments x;
  bool well = false;
  const int code = vernier::bench::program("quad_campaign", count, words,
                                           {{"--entries", &x.entries},  // of each type and contract
                                            {"--threads", &x.threads},  // products at once
                                            {"--seed", &x.seed},
                                            {"--engine", &x.engine},  // int8; none: the best
                                            {"--contracts", &x.contracts},
                                            {"--types", &x.types},    // whose name holds this: complex, dd x dd
                                            {"--output", &x.output},  // none: stdout
                                            {"--commit", &x.commit}},
                                           [&] { well = vernier::test::quad_campaign::campaign(x); });
  return code == 0 && !well ? 1 : code;
}
