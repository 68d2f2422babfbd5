// What contract `exact` knows of the data before it chooses its moduli: a sample of the entries of C.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "number/ieee754.hpp"
#include "number/long_accumulator.hpp"
#include "residue/exact/exact_stage.hpp"
#include "vernier/level3.hpp"

namespace vernier {
namespace {

// Rows and columns of the sample.
constexpr std::int64_t sampled_vectors = 16;

std::int64_t sample_size(std::int64_t vectors) { return std::min(sampled_vectors, divide_up(vectors, 8)); }

std::int64_t sampled_vector(std::int64_t index, std::int64_t vectors) {
  return (2 * index + 1) * vectors / (2 * sample_size(vectors));
}

// The vectors of a sample over the first k, each divided by 2^exponent of its largest element; zeros for what is not
// finite.
template <class T>
void gather_sample(const Operand<T>& x, const VectorStatistics* statistics, std::int64_t k, double* out) {
  for (std::int64_t s = 0; s < sample_size(x.vectors); ++s) {
    const std::int64_t v = sampled_vector(s, x.vectors);
    const int shift = -statistics[v].exponent;
    const double first = std::ldexp(1.0, shift / 2), second = std::ldexp(1.0, shift - shift / 2);
    for (std::int64_t l = 0; l < k; ++l) {
      const double value = static_cast<double>(*x.at(v, l));
      out[s * k + l] = std::isfinite(value) ? value * first * second : 0;
    }
  }
}

double sample_dot(const double* x, const double* y, std::int64_t k) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t l = 0; l < k; ++l) sum += x[l] * y[l];
  return sum;
}

// inexact[e] of ExactVector, of x_l / 2^(exponent of the largest).
std::vector<double> inexact_counts(const double* x, std::int64_t k) {
  std::vector<double> counts(static_cast<std::size_t>(largest_exponent(max_limbs)) + 2);
  const auto last = static_cast<int>(counts.size()) - 1;
  for (std::int64_t l = 0; l < k; ++l) {
    if (x[l] == 0) continue;
    const DoubleParts p = parts_of(x[l]);
    const int needed = -(p.exponent + std::countr_zero(p.significand));  // exponent from which x_l is an integer
    ++counts[static_cast<std::size_t>(std::clamp(needed, 0, last))];
  }
  count_inexact_above(counts);
  return counts;
}

// The largest exact_log2 of an operand's vectors.
template <class Vector>
double largest_exact_log2(std::int64_t count, Vector vector) {
  double largest = 0;
  for (std::int64_t v = 0; v < count; ++v) largest = std::max(largest, vector(v).exact_log2);
  return largest;
}

}  // namespace

template <class T>
void ExactStage<T>::sample(double* buffer, std::int64_t k_block) {
  const std::int64_t k = std::min(plan_.shape.k, k_block);
  const std::int64_t rows = sample_size(plan_.shape.m), columns = sample_size(plan_.shape.n);
  double *a = buffer, *b = buffer + rows * k;
  for (const auto& [side, to] : {std::pair{Side::left, a}, {Side::right, b}})
    gather_sample(problem_.operand(side), vectors_[side].statistics, k, to);
  const auto row_vector = [&](std::int64_t i) {
    return exact_vector(vectors_.a.statistics[i], vectors_.a.lowest_bits[i].exponent);
  };
  const auto column_vector = [&](std::int64_t j) {
    return exact_vector(vectors_.b.statistics[j], vectors_.b.lowest_bits[j].exponent);
  };
  ExactQuestion& q = question_;
  q = {.shape = plan_.shape,
       .engine = plan_.engine->name(),
       .threads = plan_.printable.threads,
       .precision = Ieee754<T>::precision,
       .rows_exact_log2 = largest_exact_log2(plan_.shape.m, row_vector),
       .columns_exact_log2 = largest_exact_log2(plan_.shape.n, column_vector)};
  const auto sampled = [&](const double* x, ExactVector v) {
    v.inexact = inexact_counts(x, k);
    return v;
  };
  for (std::int64_t c = 0; c < columns; ++c)
    q.columns.push_back(sampled(b + c * k, column_vector(sampled_vector(c, plan_.shape.n))));
  for (std::int64_t r = 0; r < rows; ++r) {
    q.rows.push_back(sampled(a + r * k, row_vector(sampled_vector(r, plan_.shape.m))));
    const double row_squares = sample_dot(a + r * k, a + r * k, k);
    for (std::int64_t c = 0; c < columns; ++c) {
      const double* column = b + c * k;
      const double squares = row_squares * sample_dot(column, column, k);
      if (squares == 0) continue;
      const double cosine = std::abs(sample_dot(a + r * k, column, k)) / std::sqrt(squares);
      const double log2 =
          cosine > 0 ? std::log2(cosine) : -std::numeric_limits<double>::infinity();  // log2(0) may trap
      q.entries.push_back({static_cast<std::size_t>(r), static_cast<std::size_t>(c), log2});
    }
  }
}

template void ExactStage<double>::sample(double*, std::int64_t);
template void ExactStage<float>::sample(double*, std::int64_t);

}  // namespace vernier
