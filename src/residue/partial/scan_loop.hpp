// The loops of scan_loops.hpp, as a compiler makes vectors of them.
#pragma once

#include <algorithm>
#include <cmath>

#include "residue/partial/scan_loops.hpp"

namespace vernier {
namespace {

template <class R>
inline SignedBits<R> signed_magnitude(R x) {
  return std::bit_cast<SignedBits<R>>(x) & std::numeric_limits<SignedBits<R>>::max();
}
template <class R>
inline SignedBits<R> nonzero(SignedBits<R> bits) {
  return bits == 0 ? std::numeric_limits<SignedBits<R>>::max() : bits;
}

template <class R>
ScannedRange<R> range_of_contiguous(const R* x, std::int64_t k) {
  ScannedRange<R> range;
  SignedBits<R> largest = range.largest, smallest = range.smallest;
#pragma omp simd reduction(max : largest) reduction(min : smallest)
  for (std::int64_t l = 0; l < k; ++l) {
    const SignedBits<R> bits = signed_magnitude(x[l]);
    largest = bits > largest ? bits : largest;
    smallest = nonzero<R>(bits) < smallest ? nonzero<R>(bits) : smallest;
  }
  return {largest, smallest};
}

template <class R>
void ranges(const Operand<R>& x, std::int64_t first, std::int64_t count, ScannedRange<R>* out) {
  if (x.k_contiguous) {
    for (std::int64_t v = 0; v < count; ++v) out[v] = range_of_contiguous(x.at(first + v, 0), x.k);
    return;
  }
  alignas(64) SignedBits<R> largest[scanned_vectors] = {}, smallest[scanned_vectors];
  std::fill_n(smallest, scanned_vectors, std::numeric_limits<SignedBits<R>>::max());
  for (std::int64_t l = 0; l < x.k; ++l) {
    const R* line = x.at(first, l);
#pragma omp simd
    for (std::int64_t v = 0; v < count; ++v) {
      const SignedBits<R> bits = signed_magnitude(line[v]);
      largest[v] = bits > largest[v] ? bits : largest[v];
      smallest[v] = nonzero<R>(bits) < smallest[v] ? nonzero<R>(bits) : smallest[v];
    }
  }
  for (std::int64_t v = 0; v < count; ++v) out[v] = {largest[v], smallest[v]};
}

constexpr double most_of(std::size_t i) { return static_cast<double>(1 << (quantum_bits - shallow_depths[i])); }

inline VectorSums sums_of(double squares, double sum, double c0, double c1, double c2) {
  static_assert(shallow_depths.size() == 3);
  const auto whole = [](double x) { return static_cast<std::uint64_t>(x); };
  return {.squares = whole(squares), .sum = whole(sum), .clipped = {whole(c0), whole(c1), whole(c2)}};
}

template <class R>
VectorSums sums_of_contiguous(const R* x, std::int64_t k, int exponent) {
  const QuantumScale scale = quantum_scale(exponent);
  const double first = scale.first, second = scale.second;
  double squares = 0, sum = 0, c0 = 0, c1 = 0, c2 = 0;
#pragma omp simd reduction(+ : squares, sum, c0, c1, c2)
  for (std::int64_t l = 0; l < k; ++l) {
    const double v = std::ceil(std::abs(static_cast<double>(x[l])) * first * second);
    squares += v * v;
    sum += v;
    c0 += v < most_of(0) ? v : most_of(0);
    c1 += v < most_of(1) ? v : most_of(1);
    c2 += v < most_of(2) ? v : most_of(2);
  }
  return sums_of(squares, sum, c0, c1, c2);
}

template <class R>
void scan_sums(const Operand<R>& x, std::int64_t first, std::int64_t count, const int* exponents, VectorSums* out) {
  if (x.k_contiguous) {
    for (std::int64_t v = 0; v < count; ++v) out[v] = sums_of_contiguous(x.at(first + v, 0), x.k, exponents[v]);
    return;
  }
  alignas(64) double scale[scanned_vectors], second[scanned_vectors], squares[scanned_vectors] = {};
  alignas(64) double sum[scanned_vectors] = {}, c0[scanned_vectors] = {}, c1[scanned_vectors] = {},
                     c2[scanned_vectors] = {};
  for (std::int64_t v = 0; v < count; ++v) {
    const QuantumScale q = quantum_scale(exponents[v]);
    scale[v] = q.first, second[v] = q.second;
  }
  for (std::int64_t l = 0; l < x.k; ++l) {
    const R* line = x.at(first, l);
#pragma omp simd
    for (std::int64_t v = 0; v < count; ++v) {
      const double y = std::ceil(std::abs(static_cast<double>(line[v])) * scale[v] * second[v]);
      squares[v] += y * y;
      sum[v] += y;
      c0[v] += y < most_of(0) ? y : most_of(0);
      c1[v] += y < most_of(1) ? y : most_of(1);
      c2[v] += y < most_of(2) ? y : most_of(2);
    }
  }
  for (std::int64_t v = 0; v < count; ++v) out[v] = sums_of(squares[v], sum[v], c0[v], c1[v], c2[v]);
}

}  // namespace
}  // namespace vernier

// Instantiates them for one set of instructions.
#define VERNIER_SCAN_LOOPS_OF(set)                                                                            \
  namespace vernier {                                                                                         \
  template <class R>                                                                                          \
  void ranges_##set(const Operand<R>& x, std::int64_t first, std::int64_t count, ScannedRange<R>* out) {      \
    ranges(x, first, count, out);                                                                             \
  }                                                                                                           \
  template <class R>                                                                                          \
  void scan_sums_##set(const Operand<R>& x, std::int64_t first, std::int64_t count, const int* exponents,     \
                       VectorSums* out) {                                                                     \
    scan_sums(x, first, count, exponents, out);                                                               \
  }                                                                                                           \
  template void ranges_##set(const Operand<double>&, std::int64_t, std::int64_t, ScannedRange<double>*);      \
  template void ranges_##set(const Operand<float>&, std::int64_t, std::int64_t, ScannedRange<float>*);        \
  template void scan_sums_##set(const Operand<double>&, std::int64_t, std::int64_t, const int*, VectorSums*); \
  template void scan_sums_##set(const Operand<float>&, std::int64_t, std::int64_t, const int*, VectorSums*);  \
  }
