// The product of |A| and |B| on fp8 units, on the host: bytes, sums as the model of the engine has them, minima, codes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "number/bound_byte.hpp"
#include "residue/bound/bound_buffers.hpp"
#include "support/matrix.hpp"
#include "vernier/model.hpp"

namespace vernier::test {

// A vector's statistics and bytes, of every k that step divides, padded to whole instructions.
template <class T>
struct BoundTwinVector {
  VectorStatistics statistics;
  std::vector<std::uint64_t> bytes;

  BoundTwinVector(const T* x, std::int64_t stride, std::int64_t k, int step = 1)
      : statistics(vector_statistics(x, stride, k)),
        bytes(static_cast<std::size_t>(round_up(divide_up(k, step), cuda::bound_step_k))) {
    for (std::int64_t l = 0; l < k; l += step)
      bytes[static_cast<std::size_t>(l / step)] = bound_byte(static_cast<double>(x[l * stride]), statistics.exponent);
  }
};

inline float added_towards_zero(float a, float b) {
  const double sum = static_cast<double>(a) + static_cast<double>(b);
  const auto rounded = static_cast<float>(sum);
  return static_cast<double>(rounded) > sum ? std::nextafter(rounded, 0.0f) : rounded;
}

// chunk: so many k are summed by the engine before the sum is added in float.
template <class T>
float bound_twin_sum(const BoundTwinVector<T>& a, const BoundTwinVector<T>& b,
                     std::int64_t chunk_k = cuda::bound_chunk_k) {
  static const model::Engine engine = model::find_engine("hopper-wgmma-e5m2-fp32").engine;
  const auto k = static_cast<std::int64_t>(a.bytes.size());
  float sum = 0;
  for (std::int64_t begin = 0; begin < k; begin += chunk_k) {
    std::uint64_t chunk = 0;
    for (std::int64_t l = begin; l < std::min(k, begin + chunk_k); l += cuda::bound_step_k)
      chunk = model::dot(engine, a.bytes.data() + l, b.bytes.data() + l, chunk);
    sum = added_towards_zero(sum, std::bit_cast<float>(static_cast<std::uint32_t>(chunk)));
  }
  return sum;
}

template <class T>
std::vector<BoundTwinVector<T>> bound_twin_rows(const Matrix<T>& a, int step = 1) {
  std::vector<BoundTwinVector<T>> rows;
  for (std::int64_t i = 0; i < a.rows(); ++i) rows.emplace_back(&a(i, 0), a.ld(), a.columns(), step);
  return rows;
}
template <class T>
std::vector<BoundTwinVector<T>> bound_twin_columns(const Matrix<T>& b, int step = 1) {
  std::vector<BoundTwinVector<T>> columns;
  for (std::int64_t j = 0; j < b.columns(); ++j) columns.emplace_back(&b(0, j), 1, b.rows(), step);
  return columns;
}

}  // namespace vernier::test
