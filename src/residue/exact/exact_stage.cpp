#include "residue/exact/exact_stage.hpp"
#include "residue/plan/cost.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>

#include "base/environment.hpp"
#include "number/ieee754.hpp"
#include "product/specials.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {
namespace {

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

}  // namespace

template <class T>
void ExactStage<T>::measure(const Operand<T>& view, const VectorStatistics* statistics, LowestBits* out) const {
  int scales[strip_size];
  for (std::int64_t v = 0; v < view.vectors; ++v) scales[v] = ordinary_scale(plan_.rule, plan_.shape.k, statistics[v]);
  backend_.lowest_bits(view, scales, out);
}

template <class T>
void ExactStage<T>::set_scales(const VectorStatistics* statistics, const LowestBits* lowest_bits, VectorProof* scales,
                               std::int64_t count, int budget_16, Scaling& result) const {
  for (std::int64_t v = 0; v < count; ++v) {
    const VectorStatistics& s = statistics[v];
    scales[v] = {.proofs = proof_sets - 1};
    if (s.zero()) continue;
    scales[v].ordinary = ordinary_scale(plan_.rule, plan_.shape.k, s);
    const int exponent = exact_exponent(s, lowest_bits[v].exponent, budget_16);
    scales[v].wide = exponent - s.exponent;
    result.wide_exponent = std::max(result.wide_exponent, exponent);
  }
}

template <class T>
Scaling ExactStage<T>::scale() {
  const ExactChoice best = choose_exact(question_), ordinary = weigh_exact(question_, plan_.ordinary.moduli);
  Scaling result;
  result.any_wide = best.seconds < worth_other_scales * ordinary.seconds;
  result.any_ordinary = !result.any_wide;
  const ExactChoice& taken = result.any_wide ? best : ordinary;
  const double products = residue_seconds(question_.engine, question_.shape, taken.moduli, question_.threads);
  settling_share_ = std::max(0.0, 1 - products / taken.seconds);
  result.wide_log2 = log2_product_of_moduli(best.moduli) - 1 - 0x1p-19;
  set_scales(vectors_.a.statistics, vectors_.a.lowest_bits, vectors_.a.proofs, plan_.shape.m, best.row_budget_16,
             result);
  set_scales(vectors_.b.statistics, vectors_.b.lowest_bits, vectors_.b.proofs, plan_.shape.n, best.column_budget_16,
             result);
  return result;
}

template <class T>
ErrorArrays ExactStage<T>::errors_at(const double* errors, std::int64_t count, std::int64_t first) const {
  const std::int64_t padded = round_up(count, strip_size);
  return {errors + first, errors + padded + first, errors + 2 * padded + first};
}

template <class T>
void ExactStage<T>::set_errors(const VectorStatistics* statistics, const LowestBits* lowest_bits, const int* scales,
                               std::int64_t count, bool lengthen, double* errors) const {
  const std::int64_t padded = round_up(count, strip_size);
  for (std::int64_t v = 0; v < padded; ++v) {
    VectorError e = v < count ? vector_error(statistics[v], scales[v], lowest_bits[v].inexact) : VectorError{};
    if (lengthen) e = with_partner_rounding(e);
    errors[v] = e.rounding;
    errors[padded + v] = e.half_norm;
    errors[2 * padded + v] = e.largest;
  }
}

template <class T>
void ExactStage<T>::count_inexact(const Operand<T>& x, const int* scales, LowestBits* lowest_bits) const {
#pragma omp parallel for num_threads(plan_.printable.threads) schedule(dynamic, 1)
  for (std::int64_t first = 0; first < x.vectors; first += strip_size) {
    const FloatingEnvironment environment;
    const std::int64_t count = std::min<std::int64_t>(strip_size, x.vectors - first);
    backend_.lowest_bits({x.at(first, 0), count, x.k, x.ld, x.k_contiguous}, scales + first, lowest_bits + first);
  }
}

template <class T>
void ExactStage<T>::begin_pass(bool ordinary) {
  if (!ordinary) {  // measure() has counted at other scales
    for (const Side side : both_sides)
      count_inexact(problem_.operand(side), vectors_[side].scales, vectors_[side].lowest_bits);
  }
  set_errors(vectors_.a.statistics, vectors_.a.lowest_bits, vectors_.a.scales, plan_.shape.m, true, vectors_.a.errors);
  set_errors(vectors_.b.statistics, vectors_.b.lowest_bits, vectors_.b.scales, plan_.shape.n, false, vectors_.b.errors);
}

template <class T>
void ExactStage<T>::round(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                          std::int64_t i, std::int64_t j) const {
  const auto wanted = [](const VectorStatistics* statistics, std::int64_t count, bool finite) {
    std::uint32_t mask = 0;
    for (std::int64_t v = 0; v < std::min<std::int64_t>(count, strip_size); ++v)
      if (statistics[v].nonfinite != finite) mask |= std::uint32_t{1} << v;
    return mask;
  };
  const VectorStatistics *a = vectors_.a.statistics + i, *b = vectors_.b.statistics + j;
  const std::int64_t rows = plan_.shape.m - i, columns = plan_.shape.n - j;
  LeadingTile integers;
  backend_.recombine_leading(tables, residues, plane_bytes, integers);
  backend_.round_tile(
      {.to = problem_.to.at(i, j),
       .rows = wanted(a, rows, true),
       .columns = wanted(b, columns, true),
       .row_scales = vectors_.a.scales + i,
       .column_scales = vectors_.b.scales + j,
       .errors = {errors_at(vectors_.a.errors, plan_.shape.m, i), errors_at(vectors_.b.errors, plan_.shape.n, j)},
       .rounding = rounding()},
      integers, mask_at(i / strip_size, j / strip_size));
  if (report_.nonfinite_rows + report_.nonfinite_columns > 0)
    special_entries(i, j, wanted(a, rows, false), wanted(b, columns, false));
}

template <class T>
void ExactStage<T>::special_entries(std::int64_t i, std::int64_t j, std::uint32_t rows, std::uint32_t columns) const {
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

template <class T>
void ExactStage<T>::complete_report(const RecombineTables& tables, const ResidueBlock& block, std::byte* scratch,
                                    std::size_t scratch_stride, std::int64_t k_block, Progress& progress,
                                    const WorkShare& share) {
  // The operand whose vectors are scattered in memory is gathered strip by strip.
  const bool by_rows = !problem_.a.k_contiguous || problem_.b.k_contiguous;
  const std::int64_t strips = by_rows ? block.row_strips() : block.column_strips();
  std::int64_t undecided = 0, accumulated = 0;
#pragma omp parallel num_threads(plan_.printable.threads) reduction(+ : undecided, accumulated)
  {
    const FloatingEnvironment environment;
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    T* line = reinterpret_cast<T*>(vectors_.lines + thread * static_cast<std::size_t>(plan_.shape.k));
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t strip = 0; strip < strips; ++strip) {
      const Counts counts =
          decide_strip(tables, block, strip, by_rows, reinterpret_cast<T*>(scratch + thread * scratch_stride), line,
                       plan_.shape.k <= k_block);
      undecided += counts.undecided;
      accumulated += counts.accumulated;
      progress.at(share.at(strip + 1, strips));
    }
  }
  report_.undecided += undecided;
  report_.accumulated += accumulated;
}

template <class T>
typename ExactStage<T>::Counts ExactStage<T>::decide_strip(const RecombineTables& tables, const ResidueBlock& block,
                                                           std::int64_t strip, bool by_rows, T* buffer, T* line,
                                                           bool gather) const {
  const Operand<T>&outer = by_rows ? problem_.a : problem_.b, &inner = by_rows ? problem_.b : problem_.a;
  const std::int64_t k = plan_.shape.k;
  const std::int64_t first = (by_rows ? block.first_row : block.first_column) + strip * strip_size;
  const std::int64_t others = by_rows ? block.column_strips() : block.row_strips();
  constexpr std::int64_t line_vectors = 64 / static_cast<std::int64_t>(sizeof(T));  // share their cache lines
  std::uint32_t gathered = 0;                                                       // sets of line_vectors in buffer
  std::int64_t in_line = -1;  // vector of the inner operand that line holds
  Counts counts;
  for (std::int64_t other = 0; other < others; ++other) {
    const std::int64_t v = by_rows ? strip : other, t = by_rows ? other : strip;
    const std::int64_t i0 = block.first_row + v * strip_size, j0 = block.first_column + t * strip_size;
    const EntryMask& mask = mask_at(i0 / strip_size, j0 / strip_size);
    for (int y = 0; y < strip_size; ++y)
      for (std::uint32_t bits = mask[static_cast<std::size_t>(y)]; bits != 0; bits &= bits - 1) {
        const int x = std::countr_zero(bits);
        const std::int64_t i = i0 + x, j = j0 + y, from_outer = by_rows ? i : j, from_inner = by_rows ? j : i;
        const T *p = outer.at(from_outer, 0), *q = inner.at(from_inner, 0);
        std::int64_t p_stride = outer.k_stride(), q_stride = inner.k_stride();
        if (gather && p_stride != 1) {
          const std::int64_t set = (from_outer - first) / line_vectors, begin = first + set * line_vectors;
          if ((gathered >> set & 1) == 0)
            gather_vectors(outer, begin, std::min(line_vectors, outer.vectors - begin), buffer + (begin - first) * k);
          gathered |= std::uint32_t{1} << set;
          p = buffer + (from_outer - first) * k;
          p_stride = 1;
        }
        if (q_stride != 1) {
          if (in_line != from_inner) gather_vectors(inner, from_inner, 1, line);
          in_line = from_inner;
          q = line;
          q_stride = 1;
        }
        const VectorPair<T> pair{.row = by_rows ? p : q,
                                 .column = by_rows ? q : p,
                                 .row_stride = by_rows ? p_stride : q_stride,
                                 .column_stride = by_rows ? q_stride : p_stride,
                                 .k = k,
                                 .row_scale = vectors_.a.scales[i],
                                 .column_scale = vectors_.b.scales[j]};
        ++counts.undecided;
        if (!decide_entry(tables, block.tile(v, t) + residue_index(x, y), block.plane_bytes, pair, i, j))
          ++counts.accumulated;
      }
  }
  return counts;
}

// False if it took the sum of all products.
template <class T>
bool ExactStage<T>::decide_entry(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                 const VectorPair<T>& pair, std::int64_t i, std::int64_t j) const {
  T* c = problem_.to.c + i + j * problem_.to.ldc;
  const VectorStatistics &a = vectors_.a.statistics[i], &b = vectors_.b.statistics[j];
  if (std::min(a.lowest + pair.row_scale, b.lowest + pair.column_scale) >= least_residual_exponent) {
    const std::optional<T> result =
        refined_entry(recombine_entry(tables, residues, plane_bytes), backend_.residual(pair), pair.k,
                      pair.row_scale + pair.column_scale, problem_.to.alpha, problem_.to.beta, c, rounding());
    if (result) {
      *c = *result;
      return true;
    }
  }
  *c = accumulated_entry(pair, problem_.to.alpha, problem_.to.beta, c, rounding());
  return false;
}

template class ExactStage<double>;
template class ExactStage<float>;

}  // namespace vernier
