// What a product is made of: operands, sets of vectors (rows of op(A), columns of op(B)) along k, and where it goes.
#pragma once

#include <cstdint>

#include "product/sides.hpp"

namespace vernier {

template <class T>
struct Operand {
  const T* data = nullptr;
  std::int64_t vectors = 0;  // m for A, n for B
  std::int64_t k = 0;
  std::int64_t ld = 0;
  bool k_contiguous = false;  // the elements of one vector lie side by side; otherwise those of one index of k do
  // In device memory, of double precision alone: elements of index l count 2^(balance_sign balance[l]) times themselves
  // (residue/bound/balance.hpp). Null: as they are.
  const std::int8_t* balance = nullptr;
  int balance_sign = 1;

  constexpr const T* at(std::int64_t vector, std::int64_t l) const {
    return data + (k_contiguous ? l + vector * ld : vector + l * ld);
  }
  constexpr std::int64_t k_stride() const { return k_contiguous ? 1 : ld; }
  constexpr std::int64_t vector_stride() const { return k_contiguous ? ld : 1; }
};

// Is vector v of one operand that of the other, whatever lies there?
template <class T>
bool same_place(const Operand<T>& a, const Operand<T>& b) {
  return a.data == b.data && a.ld == b.ld && a.k_contiguous == b.k_contiguous && a.vectors == b.vectors;
}

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

// Vectors of an operand, rows or columns of C, or a part of k.
struct Range {
  std::int64_t begin = 0, count = 0;
};

// C = alpha op(A) op(B) + beta C
template <class T, class Factor = T>
struct GemmProblem {
  Operand<T> a, b;  // rows of op(A), columns of op(B)
  Output<T, Factor> to;

  const Operand<T>& operand(Side side) const { return side == both_sides[0] ? a : b; }
};

}  // namespace vernier
