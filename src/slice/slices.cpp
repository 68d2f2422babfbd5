#include "slice/slices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "slice/slice_unit.hpp"

namespace vernier {
namespace {

constexpr int no_unit = std::numeric_limits<int>::min();

double largest(const double* x, std::int64_t k) {
  double most = 0;
  for (std::int64_t l = 0; l < k; ++l) most = std::max(most, std::abs(x[l]));
  return most;
}

// sum of term(l), l < k, in the order of slice_unit.hpp.
template <class Term>
double ordered_sum(std::int64_t k, Term term) {
  double partial[slice_sum_width] = {};
  for (std::int64_t l = 0; l < k; ++l) partial[l % slice_sum_width] += term(l);
  for (int d = slice_sum_width / 2; d > 0; d /= 2)
    for (int i = 0; i < d; ++i) partial[i] += partial[i + d];
  return partial[0];
}

}  // namespace

template <class T>
SliceSplitter::SliceSplitter(const Operand<T>& x, int bits) : vectors_(x.vectors), k_(x.k), bits_(bits) {
  whole_.resize(static_cast<std::size_t>(vectors_ * k_));
  for (std::int64_t v = 0; v < vectors_; ++v)
    for (std::int64_t l = 0; l < k_; ++l) {
      const auto value = static_cast<double>(*x.at(v, l));
      whole_[static_cast<std::size_t>(v * k_ + l)] = std::isfinite(value) ? value : 0;
    }
  left_ = whole_;
  units_.assign(static_cast<std::size_t>(vectors_), no_unit);
  empty_ = std::all_of(left_.begin(), left_.end(), [](double r) { return r == 0; });
}

Slice SliceSplitter::next() {
  Slice slice;
  slice.digits.resize(left_.size());
  slice.exponents.resize(static_cast<std::size_t>(vectors_));
  bool any_left = false;
#pragma omp parallel for reduction(|| : any_left)
  for (std::int64_t v = 0; v < vectors_; ++v) {
    double* r = left_.data() + v * k_;
    int& unit = units_[static_cast<std::size_t>(v)];
    const double most = largest(r, k_);
    if (most != 0) unit = slice_unit(most, bits_);
    slice.exponents[static_cast<std::size_t>(v)] = unit == no_unit ? 0 : unit;
    if (most == 0) continue;
    // Exact: the digit is the nearest integer, and what is left has no bit that r did not have. Where the digit is not
    // zero the scaled r does not underflow, and digit * 2^unit, which might overflow, is never formed.
    for (std::int64_t l = 0; l < k_; ++l) {
      const double digit = std::nearbyint(std::ldexp(r[l], -unit));
      slice.digits[static_cast<std::size_t>(v * k_ + l)] = static_cast<std::int32_t>(digit);
      if (digit != 0) r[l] = std::ldexp(std::ldexp(r[l], -unit) - digit, unit);
      any_left = any_left || r[l] != 0;
    }
  }
  empty_ = !any_left;
  return slice;
}

double SliceSplitter::left_over(const std::vector<double>& weights) const {
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (std::int64_t v = 0; v < vectors_; ++v) {
    const double *x = whole_.data() + v * k_, *r = left_.data() + v * k_;
    const double peak = largest(x, k_);
    if (peak == 0) continue;
    const int shift = -std::ilogb(peak);
    const auto weighted = [&](const double* y) {
      return ordered_sum(
          k_, [&](std::int64_t l) { return std::ldexp(std::abs(y[l]), shift) * weights[static_cast<std::size_t>(l)]; });
    };
    const double whole = weighted(x);
    if (whole > 0) most = std::max(most, weighted(r) / whole);
  }
  return most;
}

std::vector<double> SliceSplitter::weights() const {
  std::vector<double> sums(static_cast<std::size_t>(k_)), block(sums.size());
  const double most = largest(whole_.data(), static_cast<std::int64_t>(whole_.size()));
  if (most == 0) return sums;
  const int shift = -std::ilogb(most);
  for (std::int64_t begin = 0; begin < vectors_; begin += slice_sum_vectors) {
    std::fill(block.begin(), block.end(), 0.0);
    for (std::int64_t v = begin; v < std::min(begin + slice_sum_vectors, vectors_); ++v)
      for (std::int64_t l = 0; l < k_; ++l)
        block[static_cast<std::size_t>(l)] += std::ldexp(std::abs(whole_[static_cast<std::size_t>(v * k_ + l)]), shift);
    for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += block[l];
  }
  return sums;
}

template SliceSplitter::SliceSplitter(const Operand<double>&, int);
template SliceSplitter::SliceSplitter(const Operand<float>&, int);

}  // namespace vernier
