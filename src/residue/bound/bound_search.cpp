#include "residue/bound/bound_search.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/environment.hpp"
#include "base/shared_result.hpp"
#include "product/native/native.hpp"
#include "residue/backend.hpp"

namespace vernier {
namespace {

// Rows of tiles that a core takes against all columns: half of a second-level cache.
constexpr std::int64_t row_group_bytes = std::int64_t{1} << 20;

BoundSide side_of(const BoundVectors& v, std::int64_t first) {
  return {v.inverse_weights + first, v.inverse_norms + first, v.zeros + first, v.minima + first};
}

template <class T>
auto strip_writer() {
  return avx512_backend<T>() != nullptr ? bound_strip_avx512<T> : bound_strip_portable<T>;
}

// max over the vectors of what their top adds, in sixteenths, rounded up; far below everything for zero vectors.
int sixteenths(const VectorStatistics& v, std::int64_t k, const VectorProof& scales) {
  constexpr int nothing = -(1 << 14);
  return v.zero() ? nothing : static_cast<int>(std::ceil(16 * bound_top(v, k, scales.wide + v.exponent)));
}

}  // namespace

// Sums of k positive terms, in any order, and the terms' own rounding towards zero. Nothing underflows, and no sum or
// ratio of one exceeds 2^126: k terms, weights of 2 / k at least.
BoundProduct bound_product(std::int64_t k, bool tiles) {
  constexpr double unit = 0x1p-23;  // of the sums, in float either way and in any rounding mode
  const double error = static_cast<double>(k + 2) * unit, gamma = error / (1 - error);
  const double cut = 1 / (1 - (tiles ? 0x1p-7 : 0x1p-23));
  const int top = 62 - std::bit_width(static_cast<std::uint64_t>(k));
  return {.lower = 1 / (1 + gamma), .upper = cut * cut / (1 - gamma), .unit = 2 * top, .kept_bits = top + 63};
}

template <class T>
void BoundSearch<T>::weigh(const VectorStatistics* statistics, std::int64_t count, const BoundVectors& out) const {
  for (std::int64_t v = 0; v < count; ++v) {
    const VectorStatistics& s = statistics[v];
    out.inverse_weights[v] = s.zero() ? 0 : static_cast<float>(1 / bound_weight(rule(), plan_.shape.k, s));
    out.inverse_norms[v] = s.zero() ? 0 : static_cast<float>(std::ldexp(1 / bound_norm(s), -product_.unit / 2));
    out.zeros[v] = s.zero() || (skip_ == 1 && bound_keeps_all(product_, s)) ? bound_no_partner : 0;
    out.minima[v] = bound_no_partner;
  }
}

template <class T>
BoundPart<T> BoundSearch<T>::part(const Operand<T>& x, const VectorStatistics* statistics, Range vectors,
                                  Range ks) const {
  return {.x = x,
          .statistics = statistics,
          .range = {product_.unit / 2, product_.kept_bits},
          .first = vectors.begin,
          .count = vectors.count,
          .k_begin = ks.begin,
          .k_count = ks.count,
          .skip = skip_};
}

template <class T>
BoundBlock BoundSearch<T>::block(Range rows, Range columns) const {
  const std::int64_t m = plan_.shape.m;
  return {.rows = rows.count,
          .columns = columns.count,
          .row = side_of(vectors_.a.bounds, rows.begin),
          .column = side_of(vectors_.b.bounds, columns.begin),
          .codes = buffers_.codes == nullptr ? nullptr : buffers_.codes + rows.begin + columns.begin * m,
          .codes_ld = m};
}

// Groups of rows are dealt out, so that each row's minimum has one writer; those of columns are gathered by thread.
template <class T>
template <class Take>
void BoundSearch<T>::take_row_groups(Range rows, Range columns, std::int64_t group, const Take& take) const {
  float* minima = buffers_.minima + omp_get_thread_num() * blocking_.n_block;
  std::fill(minima, minima + columns.count, bound_no_partner);
#pragma omp for schedule(dynamic, 1)
  for (std::int64_t i = 0; i < rows.count; i += group) {
    BoundBlock part = block({rows.begin + i, std::min(group, rows.count - i)}, columns);
    part.column.minima = minima;
    take(i, part);
  }
  const std::lock_guard lock(minima_mutex_);
  for (std::int64_t j = 0; j < columns.count; ++j) {
    float& least = vectors_.b.bounds.minima[columns.begin + j];
    least = std::min(least, minima[j]);
  }
}

template <class T>
void BoundSearch<T>::multiply_floats(Range rows, Range columns) const {
  const ProductShape& s = plan_.shape;
  float *a = reinterpret_cast<float*>(buffers_.a), *b = reinterpret_cast<float*>(buffers_.b);
  constexpr std::int64_t strip = bf16_strip, group = 256;
  const auto convert = [&](const Operand<T>& x, const VectorStatistics* statistics, Range vectors, Range ks, float* out,
                           std::int64_t ld) {
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t v = 0; v < vectors.count; v += strip)
      bound_floats(part(x, statistics, {vectors.begin + v, std::min(strip, vectors.count - v)}, ks),
                   out + (x.k_contiguous ? v * ld : v), ld);
  };
  for (std::int64_t l = 0; l < k(); l += blocking_.k_block) {  // of the k that are taken
    const std::int64_t count = std::min(blocking_.k_block, k() - l);
    const Range ks{l * skip_, std::min(blocking_.k_block * skip_, s.k - l * skip_)};
    const std::int64_t lda = problem_.a.k_contiguous ? count : rows.count,
                       ldb = problem_.b.k_contiguous ? count : columns.count;
#pragma omp parallel num_threads(blocking_.threads)
    {
      const FloatingEnvironment environment;
      convert(problem_.a, vectors_.a.statistics, rows, ks, a, lda);
      convert(problem_.b, vectors_.b.statistics, columns, ks, b, ldb);
    }
    native_gemm<float>({.opa = problem_.a.k_contiguous ? Op::transpose : Op::none,
                        .opb = problem_.b.k_contiguous ? Op::none : Op::transpose,
                        .m = rows.count,
                        .n = columns.count,
                        .k = count,
                        .alpha = 1,
                        .a = a,
                        .lda = lda,
                        .b = b,
                        .ldb = ldb,
                        .beta = l == 0 ? 0.0f : 1.0f,
                        .c = buffers_.s,
                        .ldc = rows.count},
                       blocking_.threads);
  }
#pragma omp parallel num_threads(blocking_.threads)
  {
    const FloatingEnvironment environment;
    take_row_groups(rows, columns, group, [&](std::int64_t i, BoundBlock& part) {
      part.s = buffers_.s + i;
      part.ld = rows.count;
      take_bound_block_portable(part);
    });
  }
}

template <class T>
void BoundSearch<T>::multiply_tiles(Range rows, Range columns) const {
  const std::int64_t steps = bound_steps(plan_.shape.k, skip_), strip_bytes = steps * bound_step_bytes;
  const std::int64_t group = bf16_strip * std::clamp<std::int64_t>(row_group_bytes / strip_bytes, 1, most_bound_strips);
  const auto convert = [&](const Operand<T>& x, const VectorStatistics* statistics, Range vectors, bool is_row,
                           std::byte* out, FilledSteps* filled) {
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t v = 0; v < vectors.count; v += bf16_strip) {
      const Range strip{vectors.begin + v, std::min<std::int64_t>(bf16_strip, vectors.count - v)};
      filled[v / bf16_strip] =
          strip_writer<T>()(part(x, statistics, strip, {0, x.k}), is_row, out + v / bf16_strip * strip_bytes);
    }
  };
#pragma omp parallel num_threads(blocking_.threads)
  {
    const FloatingEnvironment environment;
    convert(problem_.a, vectors_.a.statistics, rows, true, buffers_.a, buffers_.filled.a);
    convert(problem_.b, vectors_.b.statistics, columns, false, buffers_.b, buffers_.filled.b);
#pragma omp barrier
    tiles_->enter_thread();
    take_row_groups(rows, columns, group, [&](std::int64_t i, const BoundBlock& part) {
      BoundStrips strips{.rows = buffers_.a + i / bf16_strip * strip_bytes,
                         .steps = steps,
                         .row_strips = divide_up(part.rows, bf16_strip),
                         .filled_columns = {},
                         .filled_rows = buffers_.filled.a + i / bf16_strip};
      for (std::int64_t j = takes_half() ? i : 0; j < part.columns; j += bf16_strip) {
        strips.columns = buffers_.b + j / bf16_strip * strip_bytes;
        strips.filled_columns = buffers_.filled.b[j / bf16_strip];
        strips.block = part;
        strips.block.s = buffers_.s + omp_get_thread_num() * most_bound_strips * bf16_strip * bf16_strip;
        strips.block.columns = std::min<std::int64_t>(bf16_strip, part.columns - j);
        strips.block.column = {part.column.inverse_weights + j, part.column.inverse_norms + j, part.column.zeros + j,
                               part.column.minima + j};
        if (part.codes != nullptr) strips.block.codes = part.codes + j * part.codes_ld;
        tiles_->multiply(strips);
      }
    });
    tiles_->leave_thread();
  }
}

template <class T>
void BoundSearch<T>::measure() const {
  const ProductShape& s = plan_.shape;
  for (const Side side : both_sides) weigh(vectors_[side].statistics, vectors_[side].count, vectors_[side].bounds);
  for (std::int64_t i = 0; i < s.m; i += blocking_.m_block)
    for (std::int64_t j = 0; j < s.n; j += blocking_.n_block) {
      const Range rows{i, std::min(blocking_.m_block, s.m - i)}, columns{j, std::min(blocking_.n_block, s.n - j)};
      blocking_.tiles ? multiply_tiles(rows, columns) : multiply_floats(rows, columns);
    }
  float *of_rows = vectors_.a.bounds.minima, *of_columns = vectors_.b.bounds.minima;
  for (std::int64_t i = 0; i < s.m && takes_half(); ++i)
    of_rows[i] = of_columns[i] = std::min(of_rows[i], of_columns[i]);
}

// log2 of the largest |Ct|, from above.
template <class T>
double BoundSearch<T>::largest_entry() const {
  const ProductShape& s = plan_.shape;
  const VectorBuffers& v = vectors_;
  int *tops = v.a.scales, *column_tops = v.b.scales;  // not in use yet
  int highest = 0;
  for (std::int64_t i = 0; i < s.m; ++i)
    highest = std::max(highest, tops[i] = sixteenths(v.a.statistics[i], s.k, v.a.proofs[i]));
  for (std::int64_t j = 0; j < s.n; ++j) column_tops[j] = sixteenths(v.b.statistics[j], s.k, v.b.proofs[j]);
  const double rounding = bound_rounding_log2(rule(), s.k);
  SharedMaximum norms(0.0), entries(0.0);
#pragma omp parallel for num_threads(blocking_.threads)
  for (std::int64_t j = 0; j < s.n; ++j) {
    const int top = column_tops[j];
    norms.raise((highest + top) / 16.0);
    if (buffers_.codes == nullptr) continue;
    const std::uint8_t* codes = buffers_.codes + j * s.m;
    int largest = -(1 << 20);
    if (takes_half()) {  // and for the entry across the diagonal
      for (std::int64_t i = 0; i <= j; ++i)
        largest = std::max(largest, std::max(tops[i] + top, tops[j] + column_tops[i]) + 2 * codes[i]);
    } else {
      for (std::int64_t i = 0; i < s.m; ++i) largest = std::max(largest, tops[i] + top + 2 * codes[i]);
    }
    entries.raise(largest / 16.0 + bound_entry_log2(product_, s.k, 0));
  }
  return std::max(0.0, buffers_.codes == nullptr ? norms.value() : std::min(norms.value(), entries.value() + rounding));
}

template <class T>
void BoundSearch<T>::set_exponents(const VectorStatistics* statistics, std::int64_t count, const BoundVectors& bounds,
                                   int slack, int spare, VectorProof* out) const {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = {};
    if (statistics[i].zero()) continue;
    const int em = bound_exponent(rule(), product_, plan_.shape.k, statistics[i], bounds.minima[i], slack);
    out[i].wide = bound_with_spare(rule(), statistics[i], em, spare) - statistics[i].exponent;
  }
}

template <class T>
Scaling BoundSearch<T>::scale() const {
  const ProductShape& s = plan_.shape;
  const VectorBuffers& v = vectors_;
  measure();
  const int coarser = slack();
  const auto set = [&](int rows_spare, int columns_spare) {
    set_exponents(v.a.statistics, s.m, v.a.bounds, rows_slack(coarser), rows_spare, v.a.proofs);
    set_exponents(v.b.statistics, s.n, v.b.bounds, columns_slack(coarser), columns_spare, v.b.proofs);
  };
  set(0, 0);
  Scaling scaling{.any_ordinary = false, .any_wide = true};
  scaling.wide_log2 = largest_entry();
  if (const int moduli = moduli_for(scaling.wide_log2); moduli != 0) {
    const int spare = bound_spare_bits(log2_bound_of(moduli), scaling.wide_log2);
    set(spare - spare / 2, spare / 2);
    scaling.wide_log2 += spare;
  }
  for (const SideVectors* x : {&v.a, &v.b})
    for (std::int64_t i = 0; i < x->count; ++i)
      if (!x->statistics[i].zero())
        scaling.wide_exponent = std::max(scaling.wide_exponent, x->proofs[i].wide + x->statistics[i].exponent);
  return scaling;
}

template class BoundSearch<double>;
template class BoundSearch<float>;

}  // namespace vernier
