// VectorStatistics in loops over doubles, which hold all sums exactly, as AVX2 makes vectors of them. Vectors with NaN
// or infinity go through the definition.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "number/ieee754.hpp"
#include "product/flatness.hpp"
#include "product/strip.hpp"

namespace vernier {
namespace {

constexpr std::int64_t longest = std::int64_t{1} << 27;  // sums of squares of as many elements are exact

template <class T>
using SignedBits = std::make_signed_t<typename Ieee754<T>::Bits>;

// Bits of |x|, signed, which AVX2 compares.
template <class T>
inline SignedBits<T> signed_magnitude(T x) {
  return std::bit_cast<SignedBits<T>>(x) & std::numeric_limits<SignedBits<T>>::max();
}

// Largest and smallest nonzero magnitude.
template <class T>
struct Extremes {
  SignedBits<T> largest = 0, smallest = std::numeric_limits<SignedBits<T>>::max();
};

// False where the vector is for the definition, or all zero.
template <class T>
bool set_exponents(const Extremes<T>& e, VectorStatistics& s) {
  s = VectorStatistics{};
  if (e.largest == 0 || e.largest >= static_cast<SignedBits<T>>(infinity_bits<T>)) return false;
  s.exponent = exponent_of<T>(static_cast<typename Ieee754<T>::Bits>(e.largest));
  s.lowest = exponent_of<T>(static_cast<typename Ieee754<T>::Bits>(e.smallest));
  return true;
}

constexpr double most_of(std::size_t i) { return static_cast<double>(1 << (quantum_bits - shallow_depths[i])); }

inline VectorSums sums_of(double squares, double sum, double c0, double c1, double c2) {
  static_assert(shallow_depths.size() == 3);
  const auto whole = [](double x) { return static_cast<std::uint64_t>(x); };
  return {.squares = whole(squares), .sum = whole(sum), .clipped = {whole(c0), whole(c1), whole(c2)}};
}

template <class T>
void contiguous(const T* x, std::int64_t k, VectorStatistics& s) {
  Extremes<T> e;
  SignedBits<T> largest = e.largest, smallest = e.smallest;
#pragma omp simd reduction(max : largest) reduction(min : smallest)
  for (std::int64_t l = 0; l < k; ++l) {
    const SignedBits<T> bits = signed_magnitude(x[l]);
    largest = bits > largest ? bits : largest;
    const SignedBits<T> nonzero = bits == 0 ? std::numeric_limits<SignedBits<T>>::max() : bits;
    smallest = nonzero < smallest ? nonzero : smallest;
  }
  if (k > longest || !set_exponents<T>({largest, smallest}, s)) {
    if (largest != 0) s = vector_statistics(x, 1, k);
    return;
  }
  const auto scale = quantum_scale(s.exponent);
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
  set_sums(s, sums_of(squares, sum, c0, c1, c2), x, 1, k);
}

// 32 vectors side by side.
template <class T>
struct Lines {
  alignas(64) SignedBits<T> largest[strip_size] = {}, smallest[strip_size];
  alignas(64) double first[strip_size] = {}, second[strip_size] = {};
  alignas(64) double squares[strip_size] = {}, sum[strip_size] = {};
  alignas(64) double c0[strip_size] = {}, c1[strip_size] = {}, c2[strip_size] = {};

  Lines() { std::fill(smallest, smallest + strip_size, std::numeric_limits<SignedBits<T>>::max()); }

  void compare(const T* line) {
#pragma omp simd
    for (int v = 0; v < strip_size; ++v) {
      const SignedBits<T> bits = signed_magnitude(line[v]);
      largest[v] = bits > largest[v] ? bits : largest[v];
      const SignedBits<T> nonzero = bits == 0 ? std::numeric_limits<SignedBits<T>>::max() : bits;
      smallest[v] = nonzero < smallest[v] ? nonzero : smallest[v];
    }
  }

  void add(const T* line) {
#pragma omp simd
    for (int v = 0; v < strip_size; ++v) {
      const double x = std::ceil(std::abs(static_cast<double>(line[v])) * first[v] * second[v]);
      squares[v] += x * x;
      sum[v] += x;
      c0[v] += x < most_of(0) ? x : most_of(0);
      c1[v] += x < most_of(1) ? x : most_of(1);
      c2[v] += x < most_of(2) ? x : most_of(2);
    }
  }
};

// `lines` has compared all elements.
template <class T>
void finish_side_by_side(Lines<T>& lines, const T* x, std::int64_t ld, std::int64_t k, VectorStatistics* out) {
  bool by_sums[strip_size];
  for (int v = 0; v < strip_size; ++v) {
    by_sums[v] = k <= longest && set_exponents<T>({lines.largest[v], lines.smallest[v]}, out[v]);
    if (!by_sums[v]) continue;
    const auto [first, second] = quantum_scale(out[v].exponent);
    lines.first[v] = first, lines.second[v] = second;
  }
  for (std::int64_t l = 0; l < k; ++l) lines.add(x + l * ld);
  for (int v = 0; v < strip_size; ++v)
    if (by_sums[v])
      set_sums(out[v], sums_of(lines.squares[v], lines.sum[v], lines.c0[v], lines.c1[v], lines.c2[v]), x + v, ld, k);
    else if (lines.largest[v] != 0)
      out[v] = vector_statistics(x + v, ld, k);
}

}  // namespace

template <class T>
void statistics_avx2(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out) {
  std::int64_t v = 0;
  if (operand.k_contiguous) {
    for (; v < count; ++v) contiguous(operand.at(first + v, 0), operand.k, out[v]);
    return;
  }
  for (; v + strip_size <= count; v += strip_size) {
    Lines<T> lines;
    const T* x = operand.at(first + v, 0);
    for (std::int64_t l = 0; l < operand.k; ++l) lines.compare(x + l * operand.ld);
    finish_side_by_side(lines, x, operand.ld, operand.k, out + v);
  }
  statistics_portable(operand, first + v, count - v, out + v);
}

// The extremes come from the read that copies.
template <class T>
Operand<T> measured_strip_avx2(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,
                               std::int64_t k_count, T* buffer, VectorStatistics* out) {
  Lines<T> lines;
  const Operand<T> strip =
      gather_strip(operand, first, k_begin, k_count, buffer, [&](const T* line) { lines.compare(line); });
  if (strip.k_contiguous || strip.vectors < strip_size)
    statistics_avx2(strip, 0, strip.vectors, out);
  else
    finish_side_by_side(lines, strip.data, strip.ld, strip.k, out);
  return strip;
}

template void statistics_avx2(const Operand<double>&, std::int64_t, std::int64_t, VectorStatistics*);
template void statistics_avx2(const Operand<float>&, std::int64_t, std::int64_t, VectorStatistics*);
template Operand<double> measured_strip_avx2(const Operand<double>&, std::int64_t, std::int64_t, std::int64_t, double*,
                                             VectorStatistics*);
template Operand<float> measured_strip_avx2(const Operand<float>&, std::int64_t, std::int64_t, std::int64_t, float*,
                                            VectorStatistics*);

}  // namespace vernier
