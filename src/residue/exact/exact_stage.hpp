// What contract `exact` adds to a product by residues: scales with bits to spare, a rounding test for every entry, and
// the entries that it leaves open.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "product/progress.hpp"
#include "product/specials.hpp"
#include "residue/backend.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/cost.hpp"
#include "residue/plan/exact_choice.hpp"
#include "residue/scale/vector_needs.hpp"
#include "vernier/level3.hpp"

namespace vernier {

// Contiguous copies of count vectors over all of k, k apart.
template <class T>
void gather_vectors(const Operand<T>& x, std::int64_t first, std::int64_t count, T* out) {
  constexpr std::int64_t lines = 8;  // a cache line of each vector at a time
  constexpr std::int64_t ahead = 24;
  for (std::int64_t begin = 0; begin < x.k; begin += lines) {
    const std::int64_t end = std::min(begin + lines, x.k);
    for (std::int64_t l = begin; l < end; ++l)
      if (l + ahead < x.k)
        for (std::int64_t v = 0; v < count; v += 64 / static_cast<std::int64_t>(sizeof(T)))
          __builtin_prefetch(x.at(first + v, l + ahead));
    for (std::int64_t v = 0; v < count; ++v)
      for (std::int64_t l = begin; l < end; ++l) out[v * x.k + l] = *x.at(first + v, l);
  }
}

template <class T>
class ExactStage {
 public:
  ExactStage(const ResiduePlan& plan, const ResidueProblem<T>& problem, const SchemeBackend<T>& backend,
             const VectorBuffers& vectors, Report& report)
      : plan_(plan), problem_(problem), backend_(backend), vectors_(vectors), report_(report) {}

  // One strip's vectors, all of k, at the scales of ordinary data. Thread-safe.
  void measure(const Operand<T>& view, const VectorStatistics* statistics, LowestBits* out) const {
    int scales[strip_size];
    for (std::int64_t v = 0; v < view.vectors; ++v)
      scales[v] = ordinary_scale(plan_.rule, plan_.shape.k, statistics[v]);
    backend_.lowest_bits(view, scales, out);
  }

  // After all strips are measured: how large the entries of C are. buffer: 32 * k_block doubles.
  void sample(double* buffer, std::int64_t k_block);

  // One scale a vector: that of ordinary data where its moduli serve these data well, else one made for them.
  Scaling scale() {
    const ExactChoice best = choose_exact(question_), ordinary = weigh_exact(question_, plan_.ordinary.moduli);
    Scaling result;
    result.any_wide = best.seconds < worth_other_scales * ordinary.seconds;
    result.any_ordinary = !result.any_wide;
    const ExactChoice& taken = result.any_wide ? best : ordinary;
    const double products = tabled_residue_seconds(question_.engine, question_.shape, taken.moduli, question_.threads);
    settling_share_ = std::max(0.0, 1 - products / taken.seconds);
    result.wide_log2 = log2_product_of_moduli(best.moduli) - 1 - 0x1p-19;
    for (const auto& [side, budget] : {std::pair{Side::left, best.row_budget_16}, {Side::right, best.column_budget_16}})
      set_scales(vectors_[side], budget, result);
    return result;
  }

  // Of the time of a pass, as scale() expects it.
  double settling_share() const { return settling_share_; }

  // Before a pass, whose scales are set.
  void begin_pass(bool ordinary) {
    for (const Side side : both_sides) {
      if (!ordinary) count_inexact(problem_.operand(side), vectors_[side]);  // measure() has counted at other scales
      set_errors(vectors_[side], side == Side::left);
    }
  }

  // One block of 32 x 32, starting at (i, j): what is decided goes to C. Thread-safe.
  void round(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes, std::int64_t i,
             std::int64_t j) const {
    const auto wanted = [](const SideVectors& x, std::int64_t first, bool finite) {
      std::uint32_t mask = 0;
      for (std::int64_t v = 0; v < std::min<std::int64_t>(x.count - first, strip_size); ++v)
        if (x.statistics[first + v].nonfinite != finite) mask |= std::uint32_t{1} << v;
      return mask;
    };
    const auto& [a, b] = static_cast<const Sides<SideVectors>&>(vectors_);
    LeadingTile integers;
    backend_.recombine_leading(tables, residues, plane_bytes, integers);
    backend_.round_tile({.to = problem_.to.at(i, j),
                         .rows = wanted(a, i, true),
                         .columns = wanted(b, j, true),
                         .row_scales = a.scales + i,
                         .column_scales = b.scales + j,
                         .errors = {errors_at(a, i), errors_at(b, j)},
                         .rounding = rounding()},
                        integers, mask_at(i / strip_size, j / strip_size));
    if (report_.nonfinite_rows + report_.nonfinite_columns > 0)
      special_entries(i, j, wanted(a, i, false), wanted(b, j, false));
  }

  // The entries that round() has left open in a block of C, whose residues are complete; of a pass's state. share: of
  // the whole work that progress tells of.
  template <class State>
  void decide_open_entries(const State& state, Range rows, Range columns, Progress& progress, const WorkShare& share) {
    const StageTime time(report_.seconds_undecided);
    // The operand whose vectors are scattered in memory is gathered strip by strip.
    const bool by_rows = !problem_.a.k_contiguous || problem_.b.k_contiguous;
    const std::int64_t strips = divide_up(by_rows ? rows.count : columns.count, strip_size);
    std::atomic<std::int64_t> undecided = 0, accumulated = 0;  // base/shared_result.hpp: no reduction
#pragma omp parallel num_threads(plan_.printable.threads)
    {
      const FloatingEnvironment environment;
      const int thread = omp_get_thread_num();
      T* line = reinterpret_cast<T*>(vectors_.lines + thread * plan_.shape.k);
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t strip = 0; strip < strips; ++strip) {
        const Counts counts =
            decide_strip(state, rows, columns, strip, by_rows, {reinterpret_cast<T*>(state.scratch(thread)), line});
        undecided += counts.undecided;
        accumulated += counts.accumulated;
        progress.at(share.at(strip + 1, strips));
      }
    }
    report_.undecided += undecided;
    report_.accumulated += accumulated;
  }

 private:
  struct Counts {
    std::int64_t undecided = 0, accumulated = 0;
  };
  struct Gathered {
    T *strip, *line;  // 32 vectors of the operand that goes by strips, where they fit; one of the other
  };

  Rounding rounding() const { return plan_.printable.contract.rounding; }
  EntryMask& mask_at(std::int64_t row_strip, std::int64_t column_strip) const {
    return vectors_.undecided[column_strip * divide_up(plan_.shape.m, strip_size) + row_strip];
  }

  void set_scales(const SideVectors& x, int budget_16, Scaling& result) const {
    for (std::int64_t v = 0; v < x.count; ++v) {
      const VectorStatistics& s = x.statistics[v];
      VectorProof& scales = x.proofs[v] = {.proofs = proof_sets - 1};
      if (s.zero()) continue;
      scales.ordinary = ordinary_scale(plan_.rule, plan_.shape.k, s);
      const int exponent = exact_exponent(s, x.lowest_bits[v].exponent, budget_16);
      scales.wide = exponent - s.exponent;
      result.wide_exponent = std::max(result.wide_exponent, exponent);
    }
  }

  static ErrorArrays errors_at(const SideVectors& x, std::int64_t first) {
    const std::int64_t padded = round_up(x.count, strip_size);
    return {x.errors + first, x.errors + padded + first, x.errors + 2 * padded + first};
  }
  static void set_errors(const SideVectors& x, bool lengthen) {
    const std::int64_t padded = round_up(x.count, strip_size);
    for (std::int64_t v = 0; v < padded; ++v) {
      VectorError e =
          v < x.count ? vector_error(x.statistics[v], x.scales[v], x.lowest_bits[v].inexact) : VectorError{};
      if (lengthen) e = with_partner_rounding(e);
      x.errors[v] = e.rounding;
      x.errors[padded + v] = e.half_norm;
      x.errors[2 * padded + v] = e.largest;
    }
  }

  void count_inexact(const Operand<T>& x, const SideVectors& vectors) const {
#pragma omp parallel for num_threads(plan_.printable.threads) schedule(dynamic, 1)
    for (std::int64_t first = 0; first < x.vectors; first += strip_size) {
      const FloatingEnvironment environment;
      const std::int64_t count = std::min<std::int64_t>(strip_size, x.vectors - first);
      backend_.lowest_bits({x.at(first, 0), count, x.k, x.ld, x.k_contiguous}, vectors.scales + first,
                           vectors.lowest_bits + first);
    }
  }

  void special_entries(std::int64_t i, std::int64_t j, std::uint32_t rows, std::uint32_t columns) const {
    if ((rows | columns) == 0) return;
    T tile[block_elements] = {};
    patch_specials(problem_.a, problem_.b, i, j, vectors_.a.statistics + i, vectors_.b.statistics + j, tile);
    for (std::int64_t y = 0; y < std::min<std::int64_t>(strip_size, plan_.shape.n - j); ++y)
      for (std::int64_t x = 0; x < std::min<std::int64_t>(strip_size, plan_.shape.m - i); ++x) {
        if (((rows >> x | columns >> y) & 1) == 0) continue;
        T* c = problem_.to.c + i + x + (j + y) * problem_.to.ldc;
        *c = combined_special(tile[y * strip_size + x], problem_.to.alpha, problem_.to.beta, c);
      }
  }

  template <class State>
  Counts decide_strip(const State& state, Range rows, Range columns, std::int64_t strip, bool by_rows,
                      const Gathered& gathered) const {
    const Operand<T>&outer = by_rows ? problem_.a : problem_.b, &inner = by_rows ? problem_.b : problem_.a;
    const std::int64_t k = plan_.shape.k, row_strips = divide_up(rows.count, strip_size);
    const std::int64_t first = (by_rows ? rows.begin : columns.begin) + strip * strip_size;
    const std::int64_t others = by_rows ? divide_up(columns.count, strip_size) : row_strips;
    const bool gather = k <= state.blocking.k_block && outer.k_stride() != 1;
    constexpr std::int64_t line_vectors = 64 / static_cast<std::int64_t>(sizeof(T));  // share their cache lines
    std::uint32_t sets = 0;                                                           // of line_vectors that are there
    std::int64_t in_line = -1;  // vector of the inner operand that the line holds
    Counts counts;
    for (std::int64_t other = 0; other < others; ++other) {
      const std::int64_t v = by_rows ? strip : other, t = by_rows ? other : strip;
      const std::int64_t i0 = rows.begin + v * strip_size, j0 = columns.begin + t * strip_size;
      const EntryMask& mask = mask_at(i0 / strip_size, j0 / strip_size);
      for (int y = 0; y < strip_size; ++y)
        for (std::uint32_t bits = mask[static_cast<std::size_t>(y)]; bits != 0; bits &= bits - 1) {
          const int x = std::countr_zero(bits);
          const std::int64_t i = i0 + x, j = j0 + y, from_outer = by_rows ? i : j, from_inner = by_rows ? j : i;
          const T *p = outer.at(from_outer, 0), *q = inner.at(from_inner, 0);
          if (gather) {
            const std::int64_t set = (from_outer - first) / line_vectors, begin = first + set * line_vectors;
            if ((sets >> set & 1) == 0)
              gather_vectors(outer, begin, std::min(line_vectors, outer.vectors - begin),
                             gathered.strip + (begin - first) * k);
            sets |= std::uint32_t{1} << set;
            p = gathered.strip + (from_outer - first) * k;
          }
          if (inner.k_stride() != 1) {
            if (in_line != from_inner) gather_vectors(inner, from_inner, 1, gathered.line);
            in_line = from_inner;
            q = gathered.line;
          }
          const std::int64_t p_stride = gather ? 1 : outer.k_stride();
          const VectorStatistics &a = vectors_.a.statistics[i], &b = vectors_.b.statistics[j];
          const auto least = [](const VectorStatistics& x) { return compensated_exponent - x.span(); };
          const VectorPair<T> pair{.row = by_rows ? p : q,
                                   .column = by_rows ? q : p,
                                   .row_stride = by_rows ? p_stride : 1,
                                   .column_stride = by_rows ? 1 : p_stride,
                                   .k = k,
                                   .row_scale = compensated_exponent - a.exponent,
                                   .column_scale = compensated_exponent - b.exponent,
                                   .underflows = std::min({least(a), least(b), least(a) + least(b)}) < -960};
          ++counts.undecided;
          if (!decide_entry(pair, i, j)) ++counts.accumulated;
        }
    }
    return counts;
  }

  // False if it took the exact sum of all products.
  bool decide_entry(const VectorPair<T>& pair, std::int64_t i, std::int64_t j) const {
    const auto [alpha, beta, c, ldc] = problem_.to.at(i, j);
    const std::optional<T> refined =
        refined_entry(backend_.compensated(pair), pair.row_scale + pair.column_scale, alpha, beta, c, rounding());
    *c = refined ? *refined : accumulated_entry(pair, alpha, beta, c, rounding());
    return refined.has_value();
  }

  const ResiduePlan& plan_;
  const ResidueProblem<T>& problem_;
  const SchemeBackend<T>& backend_;
  const VectorBuffers& vectors_;
  Report& report_;
  ExactQuestion question_;
  double settling_share_ = 0;
};

}  // namespace vernier
