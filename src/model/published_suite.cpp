// The experiments of Fasi, Higham, Mikaitis and Pranesh (2021), in the order of the paper. Where the paper says that a
// constant moves with the number of alignment bits F, it does so here; F comes from the probe.
#include <algorithm>

#include "model/bench.hpp"
#include "model/spec.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model {
namespace {

class Suite {
 public:
  explicit Suite(const MatrixEngine& engine)
      : bench_(engine), estimate_(probe(engine).estimate), out_(shape_of(engine.c())), in_(shape_of(engine.a())) {
    f_ = estimate_.sum == Sum::block ? estimate_.fraction_bits : estimate_.sum_bits - 1;
    n_ = std::min(estimate_.block, bench_.k());
  }

  std::vector<Finding> run() {
    subnormals();
    accuracy();
    rounding();
    if (bench_.c() == Format::fp16) return found_;  // the paper looks at the accumulator in binary32 mode
    guard_digits();
    normalisation();
    carries();
    monotonicity();
    return found_;
  }

 private:
  using Terms = std::vector<Bench::Term>;

  double run(const Terms& terms) {
    const auto r = bench_.run(terms);
    text_ += (text_.empty() ? "" : "; ") + (r.possible ? r.text : "cannot be posed");
    posed_ = posed_ && r.possible;
    return r.possible ? r.d : NAN;
  }
  // No conclusion where the formats cannot hold what the experiment needs.
  void conclude(const char* topic, const std::string& value) {
    found_.push_back({topic, posed_ ? value : "cannot be posed", text_});
    text_.clear();
    posed_ = true;
  }

  void subnormals() {
    const double tiny = power(in_.emin() - in_.fraction_bits), least = power(out_.emin() - out_.fraction_bits);
    std::vector<std::uint64_t> a(static_cast<std::size_t>(bench_.k()), 0), b = a;
    a[0] = encode(bench_.a(), tiny);
    b[0] = encode(bench_.b(), 4);
    const auto in = bench_.run_words(a, b, 0, "a0 = " + show(tiny) + ", b0 = 4");
    text_ = in.text;
    conclude("subnormal inputs", in.d == 4 * tiny ? "supported" : "flushed");
    const double kept = run({{slot_c, least}});
    conclude("subnormal c", kept == least ? "supported" : "flushed");
    const double small = power(in_.emin() - 1);
    const double product = run({{0, small, 0.5}});
    const double difference = run({{0, 2 * small, 1}, {slot_c, -small}});
    conclude("subnormal results", product == small && difference == small ? "supported" : "flushed");
  }

  void accuracy() {
    const double x = 1 - power(-in_.fraction_bits - 1);
    const double exact = 4 * x * x;  // rounded to binary64 where that does not hold it
    const double d = run({{0, x * x, x}, {1, x * x, x}, {2, x * x, x}, {3, x * x, x}});
    const bool holds = 2 * (in_.fraction_bits + 1) <= 53;
    conclude("products", bench_.c() == Format::fp16 ? "see the next"
                         : !holds                   ? "rounded with the sum"
                         : d == exact               ? "exact"
                                                    : "rounded");
    if (bench_.c() == Format::fp16) {
      const double y = 1 - power(-11);
      const double sum = run({{0, y * y, y}, {1, y * power(-11), power(-11)}});
      conclude("products under 16-bit results", sum == 1 - power(-10) + power(-11) ? "exact" : "rounded");
      return;
    }
    bool all_one = true;
    for (int large = slot_c; large < 4; ++large) {
      Terms terms;
      for (int s = slot_c; s < 4; ++s) terms.push_back({s, s == large ? 1 : power(-f_ - 1)});
      all_one = all_one && run(terms) == 1;
    }
    conclude("additions start with the largest", all_one ? "yes" : "no");
  }

  void rounding() {
    const int f = out_.fraction_bits;
    if (bench_.c() == Format::fp16) {
      const double d = run({{0, power(-25)}, {1, power(-26)}});
      conclude("rounding to 16 bits", d == power(-24) ? "nearest" : d == 0 ? "toward zero or down" : "other");
      return;
    }
    const double up = run({{0, 2}, {1, 1.5 * power(-f)}}), down = run({{0, -2}, {1, -1.5 * power(-f)}});
    const bool away_up = up > 2, away_down = down < -2;
    conclude("rounding of the additions", away_up && away_down ? "nearest"
                                          : away_up            ? "up"
                                          : away_down          ? "down"
                                                               : "toward zero");
  }

  // p0 = 1, p1 = -(1 - 2^-g) and c = -(2^-g - 2^-(F+1)) leave 2^-(F+1); g moves c's last bit to where it is cut.
  Terms cancelling() const {
    const int g = std::max(0, f_ - out_.fraction_bits);
    Terms terms{{0, 1}, {slot_c, -(power(-g) - power(-f_ - 1))}};
    if (g > 0) terms.push_back({1, -(1 - power(-g))});
    return terms;
  }

  void guard_digits() {
    const double d = run(cancelling());
    conclude("guard digits", d == power(-f_) ? "none" : d == power(-f_ - 1) ? "present" : "other");
  }

  void normalisation() {
    const int f = out_.fraction_bits;
    const double below = 1 - power(-f - 1), t = power(-f_ - 1);
    double d = 0, plain = 0;
    if (n_ * t - power(-f - 1) >= power(-f)) {  // the paper's: c = 1 - 2^-24 and all products 2^-24
      Terms terms{{slot_c, below}};
      for (int s = 0; s < n_; ++s) terms.push_back({s, t});
      d = run(terms);
      plain = 1;
    } else {  // too few products to carry into the result: take the excess away again
      Terms terms{{slot_c, below}, {0, power(-f - 1)}};
      for (int s = 1; s <= 1 << (f_ - f); ++s) terms.push_back({s, t});  // together the last bit of c
      terms.push_back({n_ - 1, -power(-f - 1)});
      d = run(terms);
      plain = below;
    }
    conclude("normalisation in addition", d > plain ? "only at the end" : "after each addition");
    Terms terms = cancelling();
    terms.push_back({2, -power(-f_ - 1)});
    const double s = run(terms);
    conclude("normalisation in subtraction", s == power(-f_) ? "only at the end"
                                             : s == 0        ? "after each addition"
                                                             : "other");
  }

  void carries() {
    const int f = out_.fraction_bits;
    const double c = 1 + power(-f + 1) + power(-f);
    bool exact = true;
    for (int small = 0; small < 4; ++small) {
      Terms terms{{slot_c, c}};
      for (int s = 0; s < 4; ++s) terms.push_back({s, s == small ? power(-f) : 1});
      exact = exact && run(terms) == 4 + power(-f + 2);
    }
    conclude("two carry bits", estimate_.sum == Sum::chain ? "not needed" : exact ? "yes" : "no");
    const double eight = run({{slot_c, 1.875}, {0, 1}, {1, 1.5}, {2, 1.75}, {3, 1.875}});
    conclude("third carry bit", eight == 8 ? "no overflow" : "overflow");
    const double d = run({{slot_c, c}, {0, 1}, {1, 1}, {2, 1}, {3, 1}});
    conclude("rounding of the final normalisation", d == 5 ? "toward zero" : "nearest");
  }

  void monotonicity() {
    const int f = out_.fraction_bits;
    const double t = power(-f_ - 1);
    for (const double last : {t, -0.75}) {
      Terms lower{{slot_c, 1 - power(-f - 1)}};
      for (int s = 0; s < n_; ++s) lower.push_back({s, s == n_ - 1 ? last : t});
      Terms upper = lower;
      upper[0].value = 1;
      const double l = run(lower), u = run(upper);
      if (l > u) return conclude("monotonic", "no");
    }
    conclude("monotonic", "no violation found");
  }

  Bench bench_;
  Engine estimate_;
  FloatShape out_, in_;
  int f_ = 0, n_ = 0;
  std::string text_;
  bool posed_ = true;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> published_suite(const MatrixEngine& engine) {
  if (is_integer(engine.a()) || engine.k() < 4)
    throw Error(Status::invalid_argument, "the published suite needs a floating-point engine with at least 4 products");
  return Suite(engine).run();
}

}  // namespace vernier::model
