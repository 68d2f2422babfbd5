// A few rows of A and columns of B tell, before anything is allocated or converted, whether data are so wide that the
// native product is faster: it then costs no more than this look.
//
// Sampled entries of |A||B| bound from below what theorem 12 (docs/accuracy.md) asks of all vectors and entries: other
// vectors can only ask for more moduli. So the answer "native" is the one that the whole search would give.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "product/operand.hpp"
#include "product/statistics.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

// Vectors of an operand as real numbers, one behind the other.
template <class T>
struct VectorSample {
  std::vector<T> elements;
  std::int64_t vectors = 0, k = 0;

  Operand<T> operand() const { return {elements.data(), vectors, k, k, true}; }
};

// How many vectors of each operand cost a small part of the native product; 0: too few to tell anything.
std::int64_t sampled_vectors(const ResiduePlan& plan);

// So many vectors, in groups of neighbours that share lines of the cache.
std::vector<std::int64_t> spread_vectors(std::int64_t all, std::int64_t wanted);

// Those whose elements differ most.
std::vector<std::int64_t> widest_vectors(const VectorStatistics* statistics, std::int64_t all, std::int64_t wanted);

template <class T>
VectorSample<T> sample(const Operand<T>& x, const std::vector<std::int64_t>& chosen);

// As 2k real numbers: real parts, imaginary parts; with `both`, each vector once more with its halves exchanged, as the
// rows of the real product are.
template <class R>
VectorSample<R> sample_parts(const Operand<std::complex<R>>& x, const std::vector<std::int64_t>& chosen, bool both);

template <class T>
std::vector<VectorStatistics> statistics_of(const VectorSample<T>& x);

// What theorem 12 asks of the scales of sampled vectors, by their products with the sampled partners.
struct SampledNeeds {
  BoundRule rule;
  std::int64_t k;
  const std::vector<VectorStatistics>&rows, &columns;
  std::vector<double> entries;  // of |A||B|, in units of 2^(e_i + e_j), rows one behind the other

  std::vector<int> of_rows() const { return of(rows, columns, static_cast<std::int64_t>(columns.size()), 1); }
  std::vector<int> of_columns() const { return of(columns, rows, 1, static_cast<std::int64_t>(columns.size())); }
  // log2 of the largest integer.
  double log2() const;

 private:
  std::vector<int> of(const std::vector<VectorStatistics>& vectors, const std::vector<VectorStatistics>& partners,
                      std::int64_t stride, std::int64_t partner_stride) const;
};

// Such entries, of the first of every `skip` steps of 32 k.
template <class T>
std::vector<double> sampled_entries(const VectorSample<T>& a, const std::vector<VectorStatistics>& rows,
                                    const VectorSample<T>& b, const std::vector<VectorStatistics>& columns,
                                    std::int64_t skip = 1);

// log2 of the largest integer that the product needs at least; 0 where the sample leaves no entry wide.
template <class T>
double least_log2_by_sample(const ResiduePlan& plan, const VectorSample<T>& a, const VectorSample<T>& b);

// Of whole operands, whose vectors are chosen here: by their statistics where there are any, else spread. The plan is
// that of the real product. No memory for a sample: nothing is found.
template <class T>
struct Sampled {
  const Operand<T>& x;
  const VectorStatistics* statistics = nullptr;
};
struct SampleFindings {
  bool wide = false;         // some entries of many vectors, or nearly, where a larger sample is little, too
  bool native_wins = false;  // as far as these vectors tell
};
template <class T>
SampleFindings look_at_sample(const ResiduePlan& plan, const Sampled<T>& a, const Sampled<T>& b);
template <class T>
bool native_wins(const ResiduePlan& plan, const Sampled<T>& a, const Sampled<T>& b) {
  return look_at_sample(plan, a, b).native_wins;
}

// What native_wins() leaves in a report.
void report_wide_sample(Report& report);

}  // namespace vernier
