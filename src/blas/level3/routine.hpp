// What the level-3 routines share: checks, memory, and one report for many products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/size.hpp"
#include "base/workspace.hpp"
#include "product/arguments.hpp"
#include "vernier/level3.hpp"

namespace vernier {

inline bool valid(Side side) { return side == Side::left || side == Side::right; }
inline bool valid(Uplo uplo) { return uplo == Uplo::lower || uplo == Uplo::upper; }
inline bool valid(Diag diag) { return diag == Diag::non_unit || diag == Diag::unit; }

template <class Choice>
void check_choice(const char* routine, const char* name, Choice value) {
  require(valid(value), "{}: {} = {}: expected a value of its enumeration", routine, name, static_cast<int>(value));
}

inline void check_routine_options(const char* routine, const Options& options) {
  check_options(routine, options);
  require(options.workspace == nullptr, "{}: workspace: only gemm takes one of the caller's", routine);
}

// For routines that round between their products.
inline void check_not_exact(const char* routine, const Options& options) {
  if (options.contract.kind == Contract::Kind::exact)
    fail(Status::unsupported, "{}: contract exact: only gemm and its batches keep it", routine);
}

// rows x columns of T, by columns without padding.
template <class T>
class Scratch {
 public:
  Scratch(std::int64_t rows, std::int64_t columns) : memory_(checked_area<T>(rows, columns) * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  Workspace memory_;
};

// Adds up the products of one routine, which rounds to nearest meanwhile. Words are moved, never copied: the output is
// written by then, and nothing may fail any more.
class RoutineReport {
 public:
  explicit RoutineReport(const char* routine) : routine_(routine) {}

  // Allocates nothing, since the product may have been written already: so do all below.
  void add(Report&& part) noexcept {
    const double size = ProductShape{part.plan.m, part.plan.n, part.plan.k}.multiplications();
    if (size > largest_) {
      largest_ = size;
      total_.plan = std::move(part.plan);
    }
    for (const auto count : {&Report::wide_rows, &Report::wide_columns, &Report::nonfinite_rows,
                             &Report::nonfinite_columns, &Report::undecided, &Report::accumulated})
      total_.*count += part.*count;
    for (const auto largest : {&Report::wide_moduli, &Report::span_a, &Report::span_b})
      total_.*largest = std::max(total_.*largest, part.*largest);
    for (const auto seconds : {&Report::seconds_undecided, &Report::seconds_statistics, &Report::seconds_bound,
                               &Report::seconds_residues, &Report::seconds_products, &Report::seconds_recombine})
      total_.*seconds += part.*seconds;
    total_.bounded = total_.bounded || part.bounded;
    total_.fallback = total_.fallback || part.fallback;
  }

  bool any_product() const { return largest_ >= 0; }

  // A routine that took no product, or the native routine.
  Report finished(Plan&& plan) noexcept {
    total_.plan = std::move(plan);
    return finished();
  }

  Report finished() noexcept {
    total_.plan.routine = std::move(routine_);
    total_.seconds = clock_.seconds();
    return std::move(total_);
  }

 private:
  const RoutineMode mode_;  // it lives as long as its routine
  std::string routine_;
  Clock clock_;
  double largest_ = -1;
  Report total_;
};
static_assert(std::is_nothrow_move_assignable_v<Report> && std::is_nothrow_move_constructible_v<Report>);

// Calls of gemm inside a routine: no progress, which would count each from 0 to 1.
inline Options inner_options(const Options& options) {
  Options inner = options;
  inner.progress = {};
  return inner;
}

}  // namespace vernier
