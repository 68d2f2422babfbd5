// Extremes and sums of vectors for one set of instructions, as a compiler makes vectors of these loops. Doubles hold
// all sums of finite elements exactly, up to longest_summed of them.
#pragma once

#include <algorithm>
#include <cmath>

#include "product/flatness.hpp"
#include "product/strip.hpp"

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
MagnitudeRange<R> range_of_contiguous(const R* x, std::int64_t k) {
  MagnitudeRange<R> range;
  SignedBits<R> largest = range.largest, smallest = range.smallest;
#pragma omp simd reduction(max : largest) reduction(min : smallest)
  for (std::int64_t l = 0; l < k; ++l) {
    const SignedBits<R> bits = signed_magnitude(x[l]);
    largest = bits > largest ? bits : largest;
    smallest = nonzero<R>(bits) < smallest ? nonzero<R>(bits) : smallest;
  }
  return {largest, smallest};
}

constexpr double most_of(std::size_t i) { return static_cast<double>(1 << (quantum_bits - shallow_depths[i])); }

inline VectorSums sums_of(double squares, double sum, double c0, double c1, double c2) {
  static_assert(shallow_depths.size() == 3);
  const auto whole = [](double x) { return static_cast<std::uint64_t>(x); };
  return {.squares = whole(squares), .sum = whole(sum), .clipped = {whole(c0), whole(c1), whole(c2)}};
}

template <class R>
VectorSums sums_of_contiguous(const R* x, std::int64_t k, int exponent) {
  const TwoFactors scale = quantum_scale(exponent);
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

// Of up to 32 vectors side by side.
template <class R>
struct RangesOfLines {
  alignas(64) SignedBits<R> largest[strip_size] = {}, smallest[strip_size];

  RangesOfLines() { std::fill_n(smallest, strip_size, std::numeric_limits<SignedBits<R>>::max()); }
  MagnitudeRange<R> operator[](std::int64_t v) const { return {largest[v], smallest[v]}; }

  void operator()(const R* line) { add(line); }
  void add(const R* line, std::int64_t count = strip_size) {
#pragma omp simd
    for (std::int64_t v = 0; v < count; ++v) {
      const SignedBits<R> bits = signed_magnitude(line[v]);
      largest[v] = bits > largest[v] ? bits : largest[v];
      smallest[v] = nonzero<R>(bits) < smallest[v] ? nonzero<R>(bits) : smallest[v];
    }
  }
};

template <class R>
struct SumsOfLines {
  alignas(64) double first[strip_size] = {}, second[strip_size] = {};
  alignas(64) double squares[strip_size] = {}, sum[strip_size] = {};
  alignas(64) double c0[strip_size] = {}, c1[strip_size] = {}, c2[strip_size] = {};

  void set_exponent(std::int64_t v, int exponent) {
    const TwoFactors scale = quantum_scale(exponent);
    first[v] = scale.first, second[v] = scale.second;
  }
  VectorSums operator[](std::int64_t v) const { return sums_of(squares[v], sum[v], c0[v], c1[v], c2[v]); }

  void add(const R* line, std::int64_t count = strip_size) {
#pragma omp simd
    for (std::int64_t v = 0; v < count; ++v) {
      const double x = std::ceil(std::abs(static_cast<double>(line[v])) * first[v] * second[v]);
      squares[v] += x * x;
      sum[v] += x;
      c0[v] += x < most_of(0) ? x : most_of(0);
      c1[v] += x < most_of(1) ? x : most_of(1);
      c2[v] += x < most_of(2) ? x : most_of(2);
    }
  }
};

}  // namespace
}  // namespace vernier
