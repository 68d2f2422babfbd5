#include "product/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "product/flatness.hpp"
#include "product/strip.hpp"

namespace vernier {
namespace {

template <class T>
int deep_flatness(const T* x, std::int64_t stride, std::int64_t count, int exponent) {
  std::array<std::int64_t, deep_depths.back() + 1> at_depth{};  // elements from 2^(exponent - r) up to twice that
  for (std::int64_t l = 0; l < count; ++l) {
    const auto bits = magnitude_bits(x[l * stride]);
    if (bits == 0 || bits >= infinity_bits<T>) continue;
    const int depth = exponent - exponent_of<T>(bits);
    if (depth <= deep_depths.back()) ++at_depth[static_cast<std::size_t>(depth)];
  }
  return deep_flatness_of(at_depth.data(), count);
}

}  // namespace

template <class T>
void set_sums(VectorStatistics& s, const VectorSums& sums, const T* x, std::int64_t stride, std::int64_t count) {
  if (!set_shallow_sums(s, sums, count)) s.flatness = deep_flatness(x, stride, count, s.exponent);
}

template <class T>
VectorStatistics vector_statistics(const T* x, std::int64_t stride, std::int64_t count) {
  using Bits = typename Ieee754<T>::Bits;
  VectorStatistics s;
  Bits largest = 0, smallest = std::numeric_limits<Bits>::max();
  for (std::int64_t l = 0; l < count; ++l) {
    const Bits bits = magnitude_bits(x[l * stride]);
    if (bits >= infinity_bits<T>) {
      s.nonfinite = true;
    } else if (bits != 0) {
      largest = std::max(largest, bits);
      smallest = std::min(smallest, bits);
    }
  }
  if (largest == 0) return s;
  s.exponent = exponent_of<T>(largest);
  s.lowest = exponent_of<T>(smallest);
  const auto [first, second] = quantum_scale(s.exponent);
  VectorSums sums;
  for (std::int64_t l = 0; l < count; ++l) {
    const Bits bits = magnitude_bits(x[l * stride]);
    if (bits >= infinity_bits<T>) continue;
    const auto v = static_cast<std::uint64_t>(std::ceil(static_cast<double>(std::bit_cast<T>(bits)) * first * second));
    sums.squares += v * v;
    sums.sum += v;
    for (std::size_t i = 0; i < shallow_depths.size(); ++i)
      sums.clipped[i] += std::min(v, std::uint64_t{1} << (quantum_bits - shallow_depths[i]));
  }
  set_sums(s, sums, x, stride, count);
  return s;
}

template <class T>
void statistics_portable(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out) {
  for (std::int64_t v = 0; v < count; ++v)
    out[v] = vector_statistics(operand.at(first + v, 0), operand.k_stride(), operand.k);
}

template <class T>
Operand<T> measured_strip_portable(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,
                                   std::int64_t k_count, T* buffer, VectorStatistics* out) {
  const Operand<T> strip = gather_strip(operand, first, k_begin, k_count, buffer);
  statistics_portable(strip, 0, strip.vectors, out);
  return strip;
}

VERNIER_REAL_INSTANCES(vector_statistics, set_sums, statistics_portable, measured_strip_portable)

}  // namespace vernier
