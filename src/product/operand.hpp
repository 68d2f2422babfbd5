// An operand of a product as the scheme sees it: a set of vectors (rows of op(A), columns of op(B)) along k.
#pragma once

#include <cstdint>

namespace vernier {

template <class T>
struct Operand {
  const T* data = nullptr;
  std::int64_t vectors = 0;  // m for A, n for B
  std::int64_t k = 0;
  std::int64_t ld = 0;
  bool k_contiguous = false;  // the elements of one vector lie side by side; otherwise those of one index of k do

  constexpr const T* at(std::int64_t vector, std::int64_t l) const {
    return data + (k_contiguous ? l + vector * ld : vector + l * ld);
  }
  constexpr std::int64_t k_stride() const { return k_contiguous ? 1 : ld; }
  constexpr std::int64_t vector_stride() const { return k_contiguous ? ld : 1; }
};

}  // namespace vernier
