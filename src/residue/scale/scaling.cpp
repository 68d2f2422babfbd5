#include "residue/scale/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/shared_result.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {
namespace {

// Statements refer to docs/accuracy.md.

constexpr std::int64_t shared_vectors = 1024;  // so many are worth a parallel region

// One operand: what its vectors need together. What one needs is computed anew where it is asked
// for: there is no memory for all.
struct OneSide {
  std::span<const VectorStatistics> statistics;
  std::span<VectorProof> scales;
  BlockCosts costs;
  SharedMaximum<int> ordinary_roughness_2{0}, roughness_2{0};  // among the vectors that may be ordinary, and all
  std::int64_t kinds[proof_sets] = {};                         // how many vectors have each set of proofs
  std::uint8_t all_proofs = 0;                                 // union over the vectors
  double wide_log2 = 0;                                        // largest 2-norm in wide entries
  std::int64_t wide_vectors = 0;                               // without any ordinary entry

  // Both are shared among the threads of a parallel region; no barrier at the end.
  void find_roughness(const ScaleChooser& chooser) {
#pragma omp for nowait
    for (std::int64_t i = 0; i < count(); ++i) {
      if (statistic(i).zero()) continue;
      const int r = needs(chooser, i).roughness_2;
      roughness_2.raise(r);
      if (r <= most_ordinary_roughness_2) ordinary_roughness_2.raise(r);
    }
  }
  void prove(const ScaleChooser& chooser, const OneSide& other) {
    const int partners_2 = other.ordinary_roughness_2.value();
#pragma omp for nowait
    for (std::int64_t i = 0; i < count(); ++i) {
      VectorProof& scale = scales[static_cast<std::size_t>(i)];
      scale = {.proofs = proof_sets - 1};  // a zero has exact products with everything
      if (statistic(i).zero()) continue;
      const VectorNeeds need = needs(chooser, i);
      scale.ordinary = scale.wide = need.ordinary - statistic(i).exponent;
      scale.proofs = chooser.proofs(need, partners_2);
    }
  }

  std::int64_t count() const { return static_cast<std::int64_t>(statistics.size()); }
  const VectorStatistics& statistic(std::int64_t i) const { return statistics[static_cast<std::size_t>(i)]; }

  // Of a vector that is not zero.
  VectorNeeds needs(const ScaleChooser& chooser, std::int64_t i) const {
    return chooser.needs(statistic(i), costs.empty() ? no_cost : costs[static_cast<std::size_t>(i)]);
  }

  void count_proofs() {
    std::fill(std::begin(kinds), std::end(kinds), 0);
    all_proofs = 0;
    for (const VectorProof& v : scales) {
      ++kinds[v.proofs];
      all_proofs |= v.proofs;
    }
  }

  void withdraw_proofs() {
    for (VectorProof& v : scales) v.proofs = proof_none;
    count_proofs();
  }

  void set_scales(const ScaleChooser& chooser, std::int64_t k, const OneSide& other, Scaling& result);
};

void OneSide::set_scales(const ScaleChooser& chooser, std::int64_t k, const OneSide& other, Scaling& result) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const VectorStatistics& v = statistics[i];
    if ((scales[i].proofs & other.all_proofs) == 0) ++wide_vectors;
    if (v.zero() || !disjoint_from_some(scales[i].proofs, other.kinds)) continue;
    const int exponent = chooser.wide_exponent(needs(chooser, static_cast<std::int64_t>(i)), other.roughness_2.value());
    scales[i].wide = exponent - v.exponent;
    result.wide_exponent = std::max(result.wide_exponent, exponent);
    wide_log2 = std::max(wide_log2, norm_log2(v, k, exponent));
  }
}

}  // namespace

int ordinary_scale(const ScalingRule& rule, std::int64_t k, const VectorStatistics& v) {
  return v.zero() ? 0 : ScaleChooser(rule, k).needs(v).ordinary - v.exponent;
}

Scaling choose_scales(const ScalingRule& rule, std::int64_t k, std::span<const VectorStatistics> a,
                      std::span<const VectorStatistics> b, std::span<VectorProof> a_proofs,
                      std::span<VectorProof> b_proofs, const Sides<BlockCosts>& costs, int threads) {
  const ScaleChooser chooser(rule, k);
  OneSide rows{a, a_proofs, costs.a}, columns{b, b_proofs, costs.b};
  const auto each = [&](const auto& take) { take(rows, columns), take(columns, rows); };
#pragma omp parallel num_threads(threads) if (threads > 1 && rows.count() + columns.count() >= shared_vectors)
  {
    each([&](OneSide& own, const OneSide&) { own.find_roughness(chooser); });
#pragma omp barrier
    each([&](OneSide& own, const OneSide& other) { own.prove(chooser, other); });
  }
  each([](OneSide& own, const OneSide&) { own.count_proofs(); });
  double wide = wide_entries(rows.kinds, columns.kinds);
  if (wide > most_wide_entries * static_cast<double>(a.size()) * static_cast<double>(b.size())) {
    each([](OneSide& own, const OneSide&) { own.withdraw_proofs(); });
    wide = 1;
  }
  Scaling result;
  result.any_ordinary = (rows.all_proofs & columns.all_proofs) != 0;
  result.any_wide = wide > 0;
  each([&](OneSide& own, const OneSide& other) { own.set_scales(chooser, k, other, result); });
  result.wide_rows = rows.wide_vectors, result.wide_columns = columns.wide_vectors;
  result.wide_log2 = rows.wide_log2 + columns.wide_log2;
  return result;
}

int choose_factor(const ScalingRule& rule, std::int64_t k, std::span<const VectorStatistics> sample) {
  const ScaleChooser chooser(rule, k);
  int best = no_factor;
  double least = 0;
  for (int m = no_factor; m <= most_factor; ++m) {
    double loss = 0;  // half a unit of each vector, against its largest element
    for (VectorStatistics v : sample) {
      if (v.zero()) continue;
      v.squares += v.squares / 25;
      const int exponent = chooser.ordinary_exponent(multiplied(v, m));
      if (exponent < chooser.exact_exponent(v)) loss += std::ldexp(1.0 / m, -exponent);
    }
    if (m == no_factor || loss < least) best = m, least = loss;
  }
  return best;
}

bool far_from_the_ends(std::span<const VectorStatistics> statistics) {
  constexpr int far = 400;
  return std::ranges::all_of(statistics, [](const VectorStatistics& v) { return std::abs(v.exponent) <= far; });
}

}  // namespace vernier
