// The work of getrf and getrs, without the checks.
#pragma once

#include <cstdint>

#include "lapack/level3.hpp"

namespace vernier {

template <class T>
std::int64_t factor_lu(const Level3<T>& level3, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                       std::int64_t* pivots);

// As getrf leaves them.
template <class T>
struct LuInPlace {
  std::int64_t n;
  const T* a;
  std::int64_t lda;
  const std::int64_t* pivots;
};

// B becomes X of op(A) X = B.
template <class T>
void solve_with_lu(const Level3<T>& level3, Op op, const LuInPlace<T>& lu, std::int64_t nrhs, T* b, std::int64_t ldb);

}  // namespace vernier
