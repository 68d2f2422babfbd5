// The loops of exact.hpp that are compiled once a set of instructions.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "residue/exact/exact.hpp"

namespace vernier {
namespace {

// |x| down to its lowest set bit; infinite where x is zero or not finite, so that a minimum passes it by.
template <class T>
inline T lowest_set_bit(T x) {
  using Bits = typename Ieee754<T>::Bits;
  constexpr Bits fraction_mask = (Bits{1} << (Ieee754<T>::precision - 1)) - 1;
  const Bits bits = magnitude_bits(x), fraction = bits & fraction_mask;
  const Bits cleared = bits & ~(fraction & (Bits{0} - fraction));
  const T low = fraction == 0 ? std::bit_cast<T>(bits) : std::bit_cast<T>(bits) - std::bit_cast<T>(cleared);
  return bits == 0 || bits >= infinity_bits<T> ? std::numeric_limits<T>::infinity() : low;
}

// Of 32 vectors: the minimum of lowest_set_bit, and how often it is below unit.
template <class T>
struct LowestBitsSums {
  using Count = std::make_signed_t<typename Ieee754<T>::Bits>;
  alignas(64) T least[strip_size], unit[strip_size];
  alignas(64) Count inexact[strip_size];
};

template <class T>
void add_lowest_bits(const Operand<T>& view, std::int64_t begin, std::int64_t end, LowestBitsSums<T>& sums) {
  if (view.k_contiguous) {
    for (std::int64_t v = 0; v < view.vectors; ++v) {
      const T *x = view.at(v, 0), unit = sums.unit[v];
      T least = sums.least[v];
      typename LowestBitsSums<T>::Count inexact = 0;
#pragma omp simd reduction(min : least) reduction(+ : inexact)
      for (std::int64_t l = begin; l < end; ++l) {
        const T bit = lowest_set_bit(x[l]);
        least = std::min(least, bit);
        inexact += bit < unit ? 1 : 0;
      }
      sums.least[v] = least;
      sums.inexact[v] += inexact;
    }
  } else {
    for (std::int64_t l = begin; l < end; ++l) {
      const T* x = view.at(0, l);
#pragma omp simd
      for (std::int64_t v = 0; v < view.vectors; ++v) {
        const T bit = lowest_set_bit(x[v]);
        sums.least[v] = std::min(sums.least[v], bit);
        sums.inexact[v] += bit < sums.unit[v] ? 1 : 0;
      }
    }
  }
}

template <class T>
void find_lowest_bits(const Operand<T>& view, const int* scales, LowestBits* out) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr std::int64_t piece = std::int64_t{1} << 30;  // counts of floats are 32 bits wide
  LowestBitsSums<T> sums;
  std::fill(std::begin(sums.least), std::end(sums.least), infinity);
  for (std::int64_t v = 0; v < view.vectors; ++v) {
    sums.unit[v] = std::ldexp(T{1}, -scales[v]);
    out[v].inexact = 0;
  }
  for (std::int64_t begin = 0; begin < view.k; begin += piece) {
    std::fill(std::begin(sums.inexact), std::end(sums.inexact), 0);
    add_lowest_bits(view, begin, std::min(begin + piece, view.k), sums);
    for (std::int64_t v = 0; v < view.vectors; ++v) out[v].inexact += sums.inexact[v];
  }
  for (std::int64_t v = 0; v < view.vectors; ++v)
    out[v].exponent = sums.least[v] == infinity ? no_lowest_bit : exponent_of<T>(magnitude_bits(sums.least[v]));
}

// 2^scale as two factors, since it may leave the range of double.
struct ScaleFactor {
  double first, second;
  explicit ScaleFactor(int scale) : first(std::ldexp(1.0, scale / 2)), second(std::ldexp(1.0, scale - scale / 2)) {}
  double of(double x) const { return x * first * second; }
};

// Adds x to the sum; what that took.
inline double lost_in_sum(double& sum, double x) {
  const double s = sum + x, back = s - sum, lost = (sum - (s - back)) + (x - back);
  sum = s;
  return lost;
}

// x y - product, product being RN(x y), exactly but for underflow.
inline double lost_in_product(double x, double y, double product) {
#ifdef __FMA__
  return __builtin_fma(x, y, -product);
#else
  const auto high = [](double v) {  // Veltkamp's
    const double c = 0x8000001p0 * v;
    return c - (c - v);
  };
  const double xh = high(x), xl = x - xh, yh = high(y), yl = y - yh;
  return ((xh * yh - product) + xh * yl + xl * yh) + xl * yl;
#endif
}

template <class T>
CompensatedSum compensated(const VectorPair<T>& p) {
  constexpr std::int64_t lanes = 32;
  alignas(64) double sum[lanes] = {}, rest[lanes] = {}, magnitude[lanes] = {};
  const ScaleFactor row(p.row_scale), column(p.column_scale);
  const auto add = [&](std::int64_t lane, T a, T b) {
    const double x = row.of(static_cast<double>(a)), y = column.of(static_cast<double>(b)), product = x * y;
    const double in_sum = lost_in_sum(sum[lane], product), in_product = lost_in_product(x, y, product);
    rest[lane] += in_sum + in_product;
    magnitude[lane] += std::abs(in_sum) + std::abs(in_product);
  };
  std::int64_t l = 0;
  if (p.row_stride == 1 && p.column_stride == 1)
    for (; l + lanes <= p.k; l += lanes) {
#pragma omp simd
      for (std::int64_t lane = 0; lane < lanes; ++lane) add(lane, p.row[l + lane], p.column[l + lane]);
    }
  for (; l < p.k; ++l) add(l % lanes, p.row[l * p.row_stride], p.column[l * p.column_stride]);
  CompensatedSum all;
  double size = 0;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const double lost = lost_in_sum(all.sum, sum[lane]);
    all.rest += rest[lane] + lost;
    size += magnitude[lane] + std::abs(lost);
  }
  // Theorem 8. Only elements that are scaled down underflow themselves.
  const double k = static_cast<double>(p.k), lost = std::min(p.row_scale, p.column_scale) < 0 ? 0x1p-590 : 0x1p-1070;
  all.error = (4 * k + 64) * 0x1p-53 * size + (p.underflows ? k * lost : 0);
  return all;
}

}  // namespace
}  // namespace vernier

// Compiles them for one set of instructions.
#define VERNIER_EXACT_LOOPS_OF(set)                                                                                   \
  namespace vernier {                                                                                                 \
  template <class T>                                                                                                  \
  void find_lowest_bits_##set(const Operand<T>& view, const int* scales, LowestBits* out) {                           \
    find_lowest_bits(view, scales, out);                                                                              \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  CompensatedSum compensated_##set(const VectorPair<T>& pair) {                                                       \
    return compensated(pair);                                                                                         \
  }                                                                                                                   \
  template struct Instances<find_lowest_bits_##set<double>, find_lowest_bits_##set<float>, compensated_##set<double>, \
                            compensated_##set<float>>;                                                                \
  }
