// Where a product goes.
#pragma once

#include <cstdint>

namespace vernier {

// C = alpha T + beta C
template <class T, class Factor = T>
struct Output {
  Factor alpha{}, beta{};
  T* c = nullptr;
  std::int64_t ldc = 0;

  constexpr T* entry(std::int64_t i, std::int64_t j) const { return c + i + j * ldc; }
  // From entry (i, j) on.
  constexpr Output at(std::int64_t i, std::int64_t j) const { return {alpha, beta, entry(i, j), ldc}; }
};

}  // namespace vernier
