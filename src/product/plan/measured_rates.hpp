// Times of this machine, which estimates take in place of the table's: `vernier info --measure` writes them into a file
// that plans read once a process.
//
// Estimates stay those of the table, times a factor: measured over estimated seconds of n x n x n products, between the
// measured sizes as a straight line in the logarithms, beyond them as at the nearest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "product/plan/native_cost.hpp"

namespace vernier {

struct MeasuredTime {
  std::string method;  // "native", or the name of an engine
  bool single_precision = false;
  int threads = 1;
  std::int64_t n = 0;
  int moduli = 0;  // of residues
  double seconds = 0;
};

// What was measured on one processor with one BLAS.
struct MeasuredRates {
  std::string processor, blas, date;
  std::vector<MeasuredTime> times;

  // The factor for products of that size, (m n k)^(1/3), on so many threads: by the times that are wanted, of the
  // number of threads nearest to it. 1 where there are none. tabled: seconds of a measured product by the table.
  template <class Wanted, class Tabled>
  double factor(double size, int threads, const Wanted& wanted, const Tabled& tabled) const;
};

// VERNIER_RATES, else vernier/rates.json in XDG_CACHE_HOME or ~/.cache; "" where there is none ("none" says so).
std::string rates_file();

// What the file has for this processor and this BLAS; with another BLAS the times of all but the native product;
// nothing where it cannot be read.
MeasuredRates read_rates(const std::string& file, const std::string& processor, const std::string& blas);

void make_folder_of(const std::string& file);  // if it can be made

// In place of what the file had for them; other machines' stay. Throws Error(Status::invalid_argument) where the file
// cannot be written.
void write_rates(const std::string& file, const MeasuredRates& rates);

// Of this process: from the file at the first question. Plans that are being made meanwhile keep the old ones.
const MeasuredRates& rates_of_this_machine();
inline std::atomic<const MeasuredRates*> known_rates{nullptr};  // never destroyed: references to it may be about
void forget_rates();                                            // the next question reads the file again

std::string source_of_estimates();  // for a plan's reason

inline double size_of(const ProductShape& s) { return std::cbrt(s.multiplications()); }

template <class Wanted, class Tabled>
double MeasuredRates::factor(double size, int threads, const Wanted& wanted, const Tabled& tabled) const {
  const auto distance = [&](const MeasuredTime& t) {
    return std::abs(std::log(static_cast<double>(t.threads) / static_cast<double>(threads)));
  };
  double nearest = std::numeric_limits<double>::infinity();
  for (const MeasuredTime& t : times)
    if (wanted(t)) nearest = std::min(nearest, distance(t));
  const MeasuredTime *low = nullptr, *high = nullptr;  // the next measured sizes below and above
  for (const MeasuredTime& t : times) {
    if (!wanted(t) || distance(t) != nearest) continue;
    if (static_cast<double>(t.n) <= size && (low == nullptr || t.n > low->n)) low = &t;
    if (static_cast<double>(t.n) >= size && (high == nullptr || t.n < high->n)) high = &t;
  }
  if (low == nullptr && high == nullptr) return 1;
  const auto log_factor = [&](const MeasuredTime& t) { return std::log(t.seconds / tabled(t)); };
  if (low == nullptr || high == nullptr) return std::exp(log_factor(low == nullptr ? *high : *low));
  const double from = std::log(static_cast<double>(low->n)), to = std::log(static_cast<double>(high->n));
  const double share = to > from ? (std::log(size) - from) / (to - from) : 0;
  return std::exp((1 - share) * log_factor(*low) + share * log_factor(*high));
}

}  // namespace vernier
