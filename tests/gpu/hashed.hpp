// Matrices given by a formula, so that any entry can be had on the host and on the device: they may be larger than a
// host would like to hold.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "number/host_device.hpp"

namespace vernier::test {

// A number in (-1, 1) with an exponent that varies a little.
VERNIER_HD inline double hashed(std::uint64_t seed, std::int64_t row, std::int64_t column) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15ull + static_cast<std::uint64_t>(row) * 0xBF58476D1CE4E5B9ull +
                    static_cast<std::uint64_t>(column) * 0x94D049BB133111EBull;
  for (int round = 0; round < 2; ++round) x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull, x ^= x >> 27;
  const auto signed_part = static_cast<double>(static_cast<std::int64_t>(x) >> 11) * 0x1p-52;
  return signed_part * ((x & 1) != 0 ? 1 : 0.375);
}

// x(i, j) = hashed(seed, i, j) at x[i + j ld], in device memory.
template <class T>
void fill_hashed(std::uint64_t seed, std::int64_t rows, std::int64_t columns, T* x, std::int64_t ld);

}  // namespace vernier::test
