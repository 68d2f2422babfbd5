#include "residue/quad/quad_statistics.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/workspace.hpp"

namespace vernier {
namespace {

constexpr std::int64_t sampled = 6;  // rows and columns
constexpr int most_span = 900;       // of binary128: parts stay normal doubles

// What a part of some elements says. The 2-norm of all is at most that of the slices' norms, each the sum of its
// parts'.
void add(const VectorStatistics& s, int lowest_bit, bool first_part, QuadVector& x) {
  if (s.zero()) return;
  const int exponent = x.zero() ? s.exponent : std::max(x.exponent, s.exponent);
  const double old = x.zero() ? 0 : std::ldexp(1.0, x.exponent - exponent);
  const double own = std::ldexp(1.0, s.exponent - exponent);
  const double sum = std::ldexp(static_cast<double>(s.sum), -quantum_bits) * own,
               norm = std::ldexp(std::sqrt(static_cast<double>(s.squares)), -quantum_bits) * own;
  const double norm_2 = x.norm_2 * old;
  x.norm_1 = (x.norm_1 * old + sum) * (1 + 0x1p-40);
  x.norm_2 = (first_part ? std::sqrt(norm_2 * norm_2 + norm * norm) : norm_2 + norm) * (1 + 0x1p-40);
  x.largest = x.largest * old + 2 * own;
  x.exponent = exponent;
  x.lowest_bit = std::min(x.lowest_bit, lowest_bit);
}

void measure_slice(const PartStrip& strip, const SchemeBackend<double>& backend, QuadVector* out) {
  VectorStatistics statistics[strip_size];
  LowestBits lowest[strip_size];
  const int scales[strip_size] = {};
  for (int p = 0; p < strip.parts; ++p) {
    backend.statistics(strip.part[p], 0, strip.part[p].vectors, statistics);
    backend.lowest_bits(strip.part[p], scales, lowest);
    for (std::int64_t v = 0; v < strip.part[p].vectors; ++v) {
      out[v].nonfinite = out[v].nonfinite || statistics[v].nonfinite;
      add(statistics[v], lowest[v].exponent, p == 0, out[v]);
    }
  }
}

}  // namespace

QuadSide measure_side(const QuadOperand& x, const SchemeBackend<double>& backend, int threads) {
  QuadSide side;
  side.parts = x.parts();
  side.vectors.assign(static_cast<std::size_t>(x.vectors), {});
  const std::size_t per_thread = static_cast<std::size_t>(most_parts * strip_size * longest_slice) * sizeof(double);
  const Workspace memory(per_thread * static_cast<std::size_t>(threads) + Arena::alignment);
  std::byte* first_thread = Arena::first_page(memory.data());
  bool too_wide = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(|| : too_wide)
  for (std::int64_t first = 0; first < x.vectors; first += strip_size) {
    const FloatingEnvironment environment;
    auto* buffer =
        reinterpret_cast<double*>(first_thread + per_thread * static_cast<std::size_t>(omp_get_thread_num()));
    QuadVector* out = side.vectors.data() + first;
    const std::int64_t count = std::min<std::int64_t>(strip_size, x.vectors - first);
    x.find_shifts(first, count, out);
    for (std::int64_t v = 0; v < count; ++v) too_wide = too_wide || out[v].span > most_span;
    for (std::int64_t l = 0; l < x.k; l += longest_slice)
      measure_slice(x.strip(first, l, std::min(longest_slice, x.k - l), out, buffer), backend, out);
  }
  if (too_wide)
    fail(Status::unsupported,
         "quad_gemm: elements of a row of op(A) or a column of op(B) lie more than 2^{} apart; expected binary128 data "
         "whose rows and columns are scaled",
         most_span);
  return side;
}

double magnitude_product(const PartVector& x, const PartVector& y, std::int64_t k) {
  const auto value = [](const PartVector& v, const TwoFactors& f, std::int64_t l) {
    double sum = v.parts[0][l];
    for (int p = 1; p < v.count; ++p) sum += v.parts[p][l];
    return std::fabs(sum * f.first * f.second);
  };
  const TwoFactors f = two_factors(-x.exponent), g = two_factors(-y.exponent);
  double sum = 0;
  for (std::int64_t l = 0; l < k; ++l) sum += value(x, f, l) * value(y, g, l);
  return sum * (1 - static_cast<double>(k + 8) * 0x1p-51);
}

std::vector<QuadSample> sample_product(const QuadOperand& a, const QuadSide& rows, const QuadOperand& b,
                                       const QuadSide& columns) {
  std::vector<QuadSample> list;
  const auto at = [](std::int64_t index, std::int64_t count) {
    return (2 * index + 1) * count / (2 * std::min(sampled, count));
  };
  const std::int64_t k = a.k;
  std::vector<double> values(static_cast<std::size_t>(2 * most_parts * k));
  double *x[most_parts], *y[most_parts];
  for (int p = 0; p < most_parts; ++p) x[p] = values.data() + 2 * p * k, y[p] = x[p] + k;
  for (std::int64_t r = 0; r < std::min(sampled, a.vectors); ++r) {
    const std::int64_t i = at(r, a.vectors);
    const QuadVector& row = rows.vectors[static_cast<std::size_t>(i)];
    a.vector(i, row.shift, x);
    for (std::int64_t c = 0; c < std::min(sampled, b.vectors); ++c) {
      const std::int64_t j = at(c, b.vectors);
      const QuadVector& column = columns.vectors[static_cast<std::size_t>(j)];
      if (row.nonfinite || column.nonfinite) continue;
      b.vector(j, column.shift, y);
      list.push_back({i, j, magnitude_product({x, rows.parts, row.exponent}, {y, columns.parts, column.exponent}, k)});
    }
  }
  return list;
}

}  // namespace vernier
