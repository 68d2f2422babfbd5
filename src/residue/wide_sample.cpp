#include "residue/wide_sample.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "base/instantiate.hpp"
#include "residue/backend.hpp"
#include "residue/bound/bound_scales.hpp"
#include "residue/bound/bound_search.hpp"
#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {
namespace {

constexpr std::int64_t group = 4, most_vectors = 16;

// |x| / 2^exponent of all sampled vectors; NaN and infinities count as zero.
template <class T>
std::vector<double> magnitudes(const VectorSample<T>& x, const std::vector<VectorStatistics>& statistics) {
  std::vector<double> out(x.elements.size());
  for (std::int64_t v = 0; v < x.vectors; ++v) {
    const int down = -statistics[static_cast<std::size_t>(v)].exponent, half = down / 2;
    const double first = std::ldexp(1.0, half), second = std::ldexp(1.0, down - half);
    for (std::int64_t l = v * x.k; l < (v + 1) * x.k; ++l) {
      const double element = std::abs(static_cast<double>(x.elements[static_cast<std::size_t>(l)]));
      out[static_cast<std::size_t>(l)] = std::isfinite(element) ? element * first * second : 0;
    }
  }
  return out;
}

double dot(const double* x, const double* y, std::int64_t k) {
  constexpr std::int64_t chains = 4;  // of additions that do not wait for one another
  double sums[chains] = {};
  std::int64_t l = 0;
  for (; l + chains <= k; l += chains)
    for (std::int64_t i = 0; i < chains; ++i) sums[i] += x[l + i] * y[l + i];
  for (; l < k; ++l) sums[0] += x[l] * y[l];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class T>
std::vector<std::int64_t> choose(const Sampled<T>& side, std::int64_t wanted) {
  return side.statistics != nullptr ? widest_vectors(side.statistics, side.x.vectors, wanted)
                                    : spread_vectors(side.x.vectors, wanted);
}

// Is one so rough that it is not proved against all partners? Among the vectors that are not sampled are rougher ones.
template <class R>
bool any_rough(const ResiduePlan& plan, const VectorSample<R>& x) {
  const ScaleChooser chooser(plan.rule, x.k);
  return std::ranges::any_of(statistics_of(x), [&](const VectorStatistics& v) {
    return !v.zero() && chooser.flat_allowance_2(chooser.needs(v)) < most_ordinary_roughness_2;
  });
}

template <class R>
VectorSample<R> sampled_parts(const Sampled<std::complex<R>>& side, std::int64_t wanted, bool rows) {
  return sample_parts(side.x, choose(side, wanted), rows);
}
template <class R>
VectorSample<R> sampled_parts(const Sampled<R>& side, std::int64_t wanted, bool) {
  return sample(side.x, choose(side, wanted));
}

}  // namespace

std::int64_t sampled_vectors(const ResiduePlan& plan) {
  if (plan.engine == nullptr || !plan.bound) return 0;
  constexpr double share = 0.01, element = 12e-9;  // of the native product; seconds, most of them for memory
  const ProductShape& s = plan.shape;
  const double seconds = native_seconds(s, plan.single_precision, plan.printable.threads);
  const auto vectors = static_cast<std::int64_t>(share * seconds / (2 * element * static_cast<double>(s.k)));
  return vectors < group ? 0 : std::min(vectors / group * group, most_vectors);
}

std::vector<std::int64_t> spread_vectors(std::int64_t all, std::int64_t wanted) {
  std::vector<std::int64_t> chosen;
  if (all <= wanted) {
    chosen.resize(static_cast<std::size_t>(all));
    std::iota(chosen.begin(), chosen.end(), std::int64_t{0});
    return chosen;
  }
  const std::int64_t groups = std::max<std::int64_t>(wanted / group, 1), size = std::min(group, wanted);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t first = groups == 1 ? (all - size) / 2 : g * (all - size) / (groups - 1);
    for (std::int64_t i = 0; i < size; ++i) chosen.push_back(first + i);
  }
  return chosen;
}

std::vector<std::int64_t> widest_vectors(const VectorStatistics* statistics, std::int64_t all, std::int64_t wanted) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(all));
  std::iota(chosen.begin(), chosen.end(), std::int64_t{0});
  const auto count = static_cast<std::ptrdiff_t>(std::min(all, wanted));
  std::partial_sort(chosen.begin(), chosen.begin() + count, chosen.end(),
                    [&](std::int64_t x, std::int64_t y) { return statistics[x].span() > statistics[y].span(); });
  chosen.resize(static_cast<std::size_t>(count));
  return chosen;
}

template <class T>
VectorSample<T> sample(const Operand<T>& x, const std::vector<std::int64_t>& chosen) {
  const auto vectors = static_cast<std::int64_t>(chosen.size());
  VectorSample<T> out{std::vector<T>(chosen.size() * static_cast<std::size_t>(x.k)), vectors, x.k};
  for (std::int64_t first = 0; first < vectors; first += group)  // neighbours share lines of the cache
    for (std::int64_t l = 0; l < x.k; ++l)
      for (std::int64_t v = first; v < std::min(first + group, vectors); ++v)
        out.elements[static_cast<std::size_t>(v * x.k + l)] = *x.at(chosen[static_cast<std::size_t>(v)], l);
  return out;
}

template <class R>
VectorSample<R> sample_parts(const Operand<std::complex<R>>& x, const std::vector<std::int64_t>& chosen, bool both) {
  const VectorSample<std::complex<R>> z = sample(x, chosen);
  const std::int64_t copies = both ? 2 : 1;
  const auto k = static_cast<std::size_t>(x.k);
  VectorSample<R> out{std::vector<R>(z.elements.size() * 2 * static_cast<std::size_t>(copies)), copies * z.vectors,
                      2 * x.k};
  R* to = out.elements.data();
  for (std::size_t v = 0; v < chosen.size(); ++v)
    for (std::int64_t copy = 0; copy < copies; ++copy, to += 2 * k)
      for (std::size_t l = 0; l < k; ++l) {
        const std::complex<R> element = z.elements[v * k + l];
        to[l] = copy == 0 ? element.real() : element.imag();
        to[k + l] = copy == 0 ? element.imag() : element.real();
      }
  return out;
}

template <class T>
std::vector<VectorStatistics> statistics_of(const VectorSample<T>& x) {
  std::vector<VectorStatistics> out(static_cast<std::size_t>(x.vectors));
  best_backend<T>().statistics(x.operand(), 0, x.vectors, out.data());
  return out;
}

std::vector<int> SampledNeeds::of(const std::vector<VectorStatistics>& vectors,
                                  const std::vector<VectorStatistics>& partners, std::int64_t stride,
                                  std::int64_t partner_stride) const {
  std::vector<int> out(vectors.size(), 0);
  const int unit = bound_product(k, false).unit;  // as the search, for shares below the range of float
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (vectors[i].zero()) continue;
    float minimum = bound_no_partner;
    for (std::size_t j = 0; j < partners.size(); ++j) {
      const double entry = entries[i * static_cast<std::size_t>(stride) + j * static_cast<std::size_t>(partner_stride)];
      if (entry == 0) continue;
      minimum = std::min(minimum, static_cast<float>(std::ldexp(entry / bound_weight(rule, k, partners[j]), unit)));
    }
    // A share below that range too asks for the vector's own scale: no finer one serves then.
    out[i] = bound_exponent(rule, {.unit = unit}, k, vectors[i], minimum);
  }
  return out;
}

double SampledNeeds::log2() const {
  const std::vector<int> row_exponents = of_rows(), column_exponents = of_columns();
  double log2 = 0;
  for (std::size_t e = 0; e < entries.size(); ++e)
    if (entries[e] > 0)
      log2 = std::max(log2,
                      row_exponents[e / columns.size()] + column_exponents[e % columns.size()] + std::log2(entries[e]));
  return log2;
}

template <class T>
std::vector<double> sampled_entries(const VectorSample<T>& a, const std::vector<VectorStatistics>& rows,
                                    const VectorSample<T>& b, const std::vector<VectorStatistics>& columns,
                                    std::int64_t skip) {
  constexpr std::int64_t step = 32;
  const std::vector<double> x = magnitudes(a, rows), y = magnitudes(b, columns);
  std::vector<double> entries(rows.size() * columns.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const double *row = x.data() + e / columns.size() * static_cast<std::size_t>(a.k),
                 *column = y.data() + e % columns.size() * static_cast<std::size_t>(a.k);
    for (std::int64_t l = 0; l < a.k; l += skip == 1 ? a.k : skip * step)
      entries[e] += dot(row + l, column + l, skip == 1 ? a.k : std::min(step, a.k - l));
  }
  return entries;
}

template <class T>
double least_log2_by_sample(const ResiduePlan& plan, const VectorSample<T>& a, const VectorSample<T>& b) {
  const std::vector<VectorStatistics> rows = statistics_of(a), columns = statistics_of(b);
  std::vector<VectorProof> row_proofs(rows.size()), column_proofs(columns.size());
  if (!choose_scales(plan.rule, a.k, rows, columns, row_proofs, column_proofs).any_wide) return 0;
  BoundRule rule = *plan.bound;
  rule.rms = 0;  // slack may take from the scales what mean errors ask for
  return SampledNeeds{rule, a.k, rows, columns, sampled_entries(a, rows, b, columns)}.log2();
}

template <class T>
SampleFindings look_at_sample(const ResiduePlan& plan, const Sampled<T>& a, const Sampled<T>& b) {
  const std::int64_t wanted = sampled_vectors(plan);
  if (wanted == 0) return {};
  try {
    const auto rows = sampled_parts(a, wanted, true), columns = sampled_parts(b, wanted, false);
    const double log2 = least_log2_by_sample(plan, rows, columns);
    if (log2 == 0)
      return {.wide =
                  wanted == most_vectors && !plan.speculative && (any_rough(plan, rows) || any_rough(plan, columns))};
    const int moduli = moduli_for(log2);
    return {wanted == most_vectors, plan.native == NativeUse::for_speed &&
                                        (moduli == 0 || !bound_may_win(plan) || !bound_may_win(plan, moduli))};
  } catch (const std::bad_alloc&) {
    return {};
  }
}

void report_wide_sample(Report& report) {
  report.fallback = true;
  report.plan.reason += "; sampled rows and columns are too wide for residues to win";
}

VERNIER_REAL_INSTANCES(least_log2_by_sample, sample, sample_parts, statistics_of, sampled_entries)
VERNIER_TYPE_INSTANCES(look_at_sample)

}  // namespace vernier
