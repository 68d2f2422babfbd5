// Is a ratio of times below 0.95? Tests after each round, of ratios whose distribution nobody knows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace vernier::bench {

constexpr double slower = 0.95;

inline double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

// Ratios of rounds: the median, and between which of them that of the distribution lies with 99 % certainty.
struct Interval {
  double low, middle, high;

  explicit Interval(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    // Fewer than `out` of n are below the median with a probability of at most 0.5 %: binomial, p = 1/2.
    const auto n = static_cast<double>(x.size());
    double probability = std::exp2(-n), all = 0;
    std::size_t out = 0;
    for (; all + probability <= 0.005; ++out) {
      all += probability;
      probability *= (n - static_cast<double>(out)) / (static_cast<double>(out) + 1);
    }
    low = out == 0 ? 0 : x[out - 1], middle = x[x.size() / 2];
    high = out == 0 ? std::numeric_limits<double>::infinity() : x[x.size() - out];
  }
  std::string verdict() const { return low >= slower ? "holds" : high < slower ? "loses" : "open"; }
};

// Were the logarithms of the ratios normal: is their mean above `slower` with 99.5 % certainty? Where all calls went
// natively, ours and the BLAS's vary alike, and the BLAS beside itself tells of it as well: no more than half as many
// rounds serve.
inline bool surely_holds(const std::vector<double>& ratios, const std::vector<double>& itself, bool same_call) {
  constexpr std::array<double, 14> student{9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36,
                                           3.25, 3.17, 3.11, 3.05, 3.01, 2.98, 2.95};  // 2 to 15 degrees of freedom
  const std::size_t n = ratios.size();
  if (n < 3) return false;
  double mean = 0, squares = 0;
  for (const double x : ratios) mean += std::log(x) / static_cast<double>(n);
  for (const double x : ratios) squares += (std::log(x) - mean) * (std::log(x) - mean);
  std::size_t freedom = n - 1;
  if (same_call) {  // sqrt(x1 x2) / x0 has 3/2 of the variance of one time, x2 / x1 twice, and no mean
    for (const double x : itself) squares += 0.75 * std::log(x) * std::log(x);
    freedom += n;
  }
  const double variance = squares / static_cast<double>(freedom * n);
  return mean - student[std::min(freedom, student.size() + 1) - 2] * std::sqrt(variance) > std::log(slower);
}

// Wilcoxon's signed ranks: the ratios' logarithms lie around something above `slower`, with 99.9 % certainty.
inline bool rank_above(std::vector<double> ratios) {
  for (double& x : ratios) x = std::log(x / slower);
  std::sort(ratios.begin(), ratios.end(), [](double x, double y) { return std::abs(x) < std::abs(y); });
  const auto n = static_cast<double>(ratios.size());
  double above = 0, rank = 0;
  for (const double x : ratios) ++rank, above += x > 0 ? rank : 0;
  return above > n * (n + 1) / 4 + 3.09 * std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
}

}  // namespace vernier::bench
