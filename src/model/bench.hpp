// A probe's workbench: places values into the slots of one dot product, runs it, and writes down what was done.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vernier/model.hpp"

namespace vernier::model {

inline constexpr int slot_c = -1;

// "2^-24", "-3*2^-25", "1.5", "inf"
std::string show(double value);

class Bench {
 public:
  explicit Bench(const MatrixEngine& engine);

  struct Term {
    int slot;
    double value;
    double factor = 0;  // if not 0: b; a is value / factor
  };
  struct Result {
    double d = 0;
    std::uint64_t bits = 0;
    bool possible = true;  // every term could be placed
    std::string text;      // inputs and outcome
  };

  // d of the given products (or c); everything else is +0. Each product is a times b with both exact, normal if
  // possible.
  Result run(const std::vector<Term>& terms) const { return run(terms, {}); }
  // The same with one product of the given encodings beside them.
  struct Words {
    int slot = slot_c;  // none
    std::uint64_t a = 0, b = 0;
  };
  Result run(const std::vector<Term>& terms, const Words& words) const;
  // The same for raw encodings.
  Result run_words(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b, std::uint64_t c,
                   const std::string& text) const;

  int k() const { return engine_.k(); }
  Format a() const { return engine_.a(); }
  Format b() const { return engine_.b(); }
  Format c() const { return engine_.c(); }

  // b of a product s^2 * 2^exponent whose factors both have the significand s.
  double factor_of(double s, int exponent) const;
  // Every later factor is a normal number.
  void leave_subnormals();

  int top = 0;     // 2^top is the largest convenient power: a product, within c, and no more than 2^40
  int bottom = 0;  // 2^bottom is the smallest power that is a product

 private:
  bool factor(double value, std::uint64_t& a, std::uint64_t& b) const;
  bool find_factors(double value, std::uint64_t& a, std::uint64_t& b) const;

  struct Factors {
    std::uint64_t a = 0, b = 0;
    bool found = false;
  };
  const MatrixEngine& engine_;
  bool only_normal_ = false;
  mutable std::map<double, Factors> factors_;  // the trees ask for the same few values thousands of times
};

// Names of a rounding found from outcomes: rounded[sign][odd][quarter - 1] says whether a magnitude of n + quarter / 4
// units (n odd or even) was rounded away from zero. "other" if no mode does this.
struct RoundingTable {
  bool away[2][2][3] = {};
  bool complete = true;
  bool only_halves = false;  // the others were not tried
};
std::string classify(const RoundingTable& table, Rounding& mode);
// Fills it in: pose(sign, odd, quarter) gives base + (odd + quarter / 4) unit with that sign. shown: of n even, those
// of `least_shown` quarters and more.
void fill(RoundingTable& table, double base, double unit, int least_shown, std::string& shown,
          const std::function<Bench::Result(double sign, int odd, int quarter)>& pose);
// The mode that does all this, "" if none does. halves: the magnitude was cut to whole halves first.
std::string fitting_mode(const RoundingTable& table, Rounding& mode, bool halves);

// The smallest result that one product reaches, 2^exponent. cut: the alignment takes what is smaller, not the output.
struct Smallest {
  bool seen = false, cut = false;
  int exponent = 0;
  std::string evidence;
};
// exponent: that of the result if not even the smallest normal number is reached.
Smallest smallest_result(const Bench& bench, const std::vector<int>& slots, int exponent);

// The accumulation tree by masking (Xiang et al., FPRev, arXiv 2411.00442): leaves are c and the products.
struct Tree {
  int leaf = -2;  // slot_c, a product's index, or -2 for an inner node
  std::vector<Tree> children;
  std::vector<int> leaves() const;
  std::string text() const;
};
bool find_tree(const Bench& bench, Tree& tree, std::string& evidence);

inline constexpr const char* unseen = "not observable";
inline double power(int e) { return std::ldexp(1.0, e); }
inline void add(ProbeReport& report, std::string topic, std::string value, std::string evidence) {
  report.findings.push_back({std::move(topic), std::move(value), std::move(evidence)});
}
inline bool cuts(const ProbeReport& report) { return report.value("F") != unseen && report.value("F") != "unlimited"; }

// Probes by kind; each adds findings and sets fields of the estimate.
void probe_inputs(const Bench& bench, ProbeReport& report);
void probe_block(const Bench& bench, const Tree& tree, ProbeReport& report);
// F of blocks of one product; -1: none, the sums are those of a chain.
int kept_bits_of_one(const Bench& bench, int slot, std::string& evidence);
void probe_output(const Bench& bench, const std::vector<int>& slots, ProbeReport& report);  // of block sums
void probe_zeros(const Bench& bench, const std::vector<int>& slots, ProbeReport& report);
// The slots of the first block, which c joins, and of the last one, whose sum is the result.
void probe_block_details(const Bench& bench, const std::vector<int>& first, const std::vector<int>& last,
                         ProbeReport& report);
void probe_chain(const Bench& bench, const Tree& tree, ProbeReport& report);
void probe_integer(const Bench& bench, ProbeReport& report);
void probe_specials(const Bench& bench, ProbeReport& report);

}  // namespace vernier::model
