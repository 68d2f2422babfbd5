// Sizes of memory as products of dimensions, each up to 2^40: checked here, and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace vernier {

// More than any memory, and small enough that a few of them can be added.
inline constexpr std::size_t largest_size = std::size_t{1} << 62;

inline std::size_t size_sum(std::size_t x, std::size_t y) { return std::min(largest_size, x + y); }

// The product, or largest_size where it is more. No factor is negative.
template <class Integer>
std::size_t size_product(std::initializer_list<Integer> factors) {
  std::size_t product = 1;
  for (const Integer factor : factors) {
    if (factor == 0) return 0;
    if (__builtin_mul_overflow(product, static_cast<std::size_t>(factor), &product)) product = largest_size;
    product = std::min(product, largest_size);
  }
  return product;
}

[[noreturn]] void fail_area(std::int64_t rows, std::int64_t columns, std::size_t element_bytes);

// Elements of a container of T, rows x columns. Throws Error(out_of_memory) where no memory holds them.
template <class T>
std::size_t checked_area(std::int64_t rows, std::int64_t columns) {
  const std::size_t elements = size_product({rows, columns});
  if (elements > largest_size / 2 / sizeof(T)) fail_area(rows, columns, sizeof(T));
  return elements;
}

}  // namespace vernier
