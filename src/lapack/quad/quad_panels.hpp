// Panels and diagonal blocks of factorisations in dd and binary128, element by element in host memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/environment.hpp"
#include "residue/binary128/bits.hpp"
#include "residue/quad/quad_update.hpp"

namespace vernier {

// One triangle of op(A), as its solves read it.
template <class T>
struct Triangle {
  const T* a;
  std::int64_t lda;
  bool lower, transposed, unit;

  const T* element(std::int64_t i, std::int64_t l) const { return transposed ? a + l + i * lda : a + i + l * lda; }
  Op op() const { return transposed ? Op::transpose : Op::none; }
};

// Solves with the diagonal block of t in B, of `size` rows.
template <class T>
void solve_diagonal(const Triangle<T>& t, std::int64_t size, std::int64_t columns, T* b, std::int64_t ldb,
                    int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t j = 0; j < columns; ++j) {
    const FloatingEnvironment environment;
    T* x = b + j * ldb;
    for (std::int64_t s = 0; s < size; ++s) {
      const std::int64_t i = t.lower ? s : size - 1 - s;
      T sum = x[i];
      for (std::int64_t l = t.lower ? 0 : i + 1; l < (t.lower ? i : size); ++l)
        sum = sum - normalised(*t.element(i, l)) * x[l];
      x[i] = t.unit ? sum : sum / normalised(*t.element(i, i));
    }
  }
}

// LU with partial pivoting of a panel whose first row and column is `first`; info as LAPACK has it, or 0.
template <class T>
std::int64_t factor_panel(std::int64_t rows, std::int64_t columns, T* a, std::int64_t lda, std::int64_t first,
                          std::int64_t* pivots) {
  std::int64_t info = 0;
  for (std::int64_t j = 0; j < columns; ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < rows; ++i)
      if (magnitude(a[i + j * lda]) > magnitude(a[pivot + j * lda])) pivot = i;
    pivots[j] = first + pivot + 1;
    if (pivot != j)
      for (std::int64_t l = 0; l < columns; ++l) std::swap(a[j + l * lda], a[pivot + l * lda]);
    const T top = a[j + j * lda];
    if (top == T(0.0)) {
      if (info == 0) info = first + j + 1;
      continue;
    }
    for (std::int64_t i = j + 1; i < rows; ++i) a[i + j * lda] = a[i + j * lda] / top;
    for (std::int64_t l = j + 1; l < columns; ++l) {
      const T factor = a[j + l * lda];
      for (std::int64_t i = j + 1; i < rows; ++i) a[i + l * lda] = a[i + l * lda] - a[i + j * lda] * factor;
    }
  }
  return info;
}

// Of a lower triangle; info as LAPACK has it.
template <class T>
std::int64_t factor_diagonal(std::int64_t n, T* a, std::int64_t lda, std::int64_t first) {
  for (std::int64_t j = 0; j < n; ++j) {
    T pivot = a[j + j * lda];
    for (std::int64_t l = 0; l < j; ++l) pivot = pivot - a[j + l * lda] * a[j + l * lda];
    if (!positive(pivot)) return first + j + 1;
    a[j + j * lda] = root(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      T sum = a[i + j * lda];
      for (std::int64_t l = 0; l < j; ++l) sum = sum - a[i + l * lda] * a[j + l * lda];
      a[i + j * lda] = sum / a[j + j * lda];
    }
  }
  return 0;
}

inline bool positive(const dd& x) { return x.hi > 0; }
#if defined(__SIZEOF_FLOAT128__)
inline bool positive(binary128 x) { return x > 0; }
inline binary128 magnitude(binary128 x) { return x < 0 ? -x : x; }
inline binary128 binary128_power(int exponent) {  // a normal number
  return std::bit_cast<binary128>(static_cast<Uint128>(exponent + QuadBits::bias) << QuadBits::fraction_bits);
}
inline binary128 root(binary128 x) {  // x > 0; two steps of Newton's method from 53 bits
  const int half = QuadBits(std::bit_cast<Uint128>(x)).exponent() / 2;
  const binary128 near_one = x * binary128_power(-half) * binary128_power(-half);
  binary128 s = std::sqrt(static_cast<double>(near_one));
  for (int step = 0; step < 2; ++step) s = (s + near_one / s) / 2;
  return s * binary128_power(half);
}
#endif

}  // namespace vernier
