// Times and errors of a product and of its baselines, taken in turns in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>
#include <vernier/vernier.hpp>

#include "baseline.hpp"
#include "exact_sample.hpp"

namespace vernier::cli {

struct Trial {
  std::int64_t m = 0, n = 0, k = 0;
  Op opa = Op::none, opb = Op::none;
  double phi = 0.5;
  std::uint64_t seed = 1;
  std::int64_t samples = 4000;
  int repeats = 0;     // timed calls of each; 0: as many as fit into `seconds`, at least least_repeats
  double seconds = 3;  // for all together
  std::vector<Baseline> baselines;
  Options options;
  bool on_gpu = false;  // in device memory, beside cuBLAS if there is a baseline; of the options contract, engine and
                        // workspace_limit count
};

inline constexpr int least_repeats = 5;

struct Measured {
  double seconds = 0;  // median
  SampledError error;
  std::int64_t unwritten = 0;  // entries of C, or parts of them, that the last call left as they were
};

struct BaselineResult {
  Measured measured;
  std::vector<double> ratios;  // baseline / product, of the medians of each round of groups
};

struct TrialResult {
  Report report;  // of the median call
  Measured product;
  std::vector<BaselineResult> baselines;
  int repeats = 0;  // timed calls of each
};

// Groups of calls take turns, about 20 ms and at most 10 calls each, in an order that rotates. Before every group comes
// a pause of 150 ms (40 where OPENBLAS_THREAD_TIMEOUT is 25 or less), in which the spinning threads of the other
// libraries fall asleep, and for short calls one that is not timed. All entries of C are poisoned before each call.
template <class T>
TrialResult measure(const Trial& trial, const std::function<void(double)>& progress);

}  // namespace vernier::cli
