#include "residue/quad/quad_statistics.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>

#include "base/environment.hpp"
#include "base/workspace.hpp"

namespace vernier {
namespace {

constexpr std::int64_t sampled = 6;  // rows and columns

// A slice that begins at this k.
void measure_slice(const PartStrip& strip, std::int64_t begin, const SchemeBackend<double>& backend, QuadVector* out) {
  VectorStatistics statistics[strip_size];
  LowestBits lowest[strip_size];
  PartFacts parts[strip_size][most_parts];
  const int scales[strip_size] = {};
  const std::int64_t vectors = strip.part[0].vectors;
  for (int p = 0; p < strip.parts; ++p) {
    backend.statistics(strip.part[p], 0, vectors, statistics);
    backend.lowest_bits(strip.part[p], scales, lowest);
    for (std::int64_t v = 0; v < vectors; ++v) {
      const VectorStatistics& s = statistics[v];
      out[v].nonfinite = out[v].nonfinite || s.nonfinite;
      parts[v][p] = {s.exponent, lowest[v].exponent, s.sum, s.squares, s.flatness};
    }
  }
  for (std::int64_t v = 0; v < vectors; ++v) add_slice(parts[v], strip.parts, begin, strip.part[0].k, out[v]);
}

}  // namespace

QuadSide measure_side(const QuadOperand& x, const SchemeBackend<double>& backend, int threads,
                      const StripMeasured& measured) {
  QuadSide side;
  side.parts = x.parts();
  side.vectors.assign(static_cast<std::size_t>(x.vectors), {});
  constexpr std::int64_t longest_kept = 4 * longest_slice;
  const bool keeps = measured && x.k <= longest_kept;
  const std::size_t per_thread =
      static_cast<std::size_t>(most_parts * part_length(keeps ? x.k : longest_slice)) * sizeof(double);
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
    PartStrip whole;
    if (keeps) whole = x.strip(first, 0, x.k, out, *backend.dd, buffer);
    for (std::int64_t l = 0; l < x.k; l += longest_slice) {
      const std::int64_t length = std::min(longest_slice, x.k - l);
      measure_slice(keeps ? whole.slice(l, length) : x.strip(first, l, length, out, *backend.dd, buffer), l, backend,
                    out);
    }
    if (measured) measured(first, count, out, keeps ? &whole : nullptr);
  }
  if (too_wide) fail_beyond_span();
  return side;
}

double magnitude_product(const PartVector& x, const PartVector& y, std::int64_t k) {
  const auto value = [](const PartVector& v, const TwoFactors& unit, std::int64_t l) {
    double sum = v.parts[0][l];
    for (int p = 1; p < v.count; ++p) sum += v.parts[p][l];
    return part_magnitude(sum, unit);
  };
  const TwoFactors f = two_factors(-x.exponent), g = two_factors(-y.exponent);
  double sum[magnitude_lanes] = {};
  for (std::int64_t l = 0; l < k; l += magnitude_lanes)
    for (std::int64_t lane = 0; lane < std::min(magnitude_lanes, k - l); ++lane)
      sum[lane] += value(x, f, l + lane) * value(y, g, l + lane);
  for (std::int64_t d = magnitude_lanes / 2; d > 0; d /= 2)
    for (std::int64_t lane = 0; lane < d; ++lane) sum[lane] += sum[lane + d];
  return less_roundings(sum[0], k);
}

std::vector<TileVectors> tiles_of(const QuadSide& side) {
  std::vector<TileVectors> tiles((side.vectors.size() + strip_size - 1) / strip_size);
  for (std::size_t v = 0; v < side.vectors.size(); ++v) {
    TileVectors& t = tiles[v / strip_size];
    const std::size_t i = v % strip_size;
    const QuadError& error = side.scales[v].error;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool special = side.vectors[v].nonfinite;
    t.exponent[i] = side.vectors[v].shift - side.scales[v].scale;
    t.rounded[i] = special ? infinity : error.rounded;
    t.half_norm[i] = special ? infinity : error.half_norm;
    t.floor[i] = error.floor;
  }
  return tiles;
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
    a.vector(i, row.shift, {0, k}, x);
    for (std::int64_t c = 0; c < std::min(sampled, b.vectors); ++c) {
      const std::int64_t j = at(c, b.vectors);
      const QuadVector& column = columns.vectors[static_cast<std::size_t>(j)];
      if (row.nonfinite || column.nonfinite) continue;
      b.vector(j, column.shift, {0, k}, y);
      list.push_back({i, j, magnitude_product({x, rows.parts, row.exponent}, {y, columns.parts, column.exponent}, k)});
    }
  }
  return list;
}

}  // namespace vernier
