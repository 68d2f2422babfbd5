// Level 3 of the BLAS underneath, for every type. Sizes and leading dimensions must fit 32 bits: see fits_native().
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "blas/level3/triangle.hpp"

namespace vernier {

inline bool fits_native(std::initializer_list<std::int64_t> sizes) {
  return std::max(sizes) <= std::numeric_limits<int>::max();
}

template <class T>
void native_symmetric(const SymmetricProduct<T>& p);
template <class T>
void native_update(const TriangleUpdate<T>& p);
template <class T>
void native_triangular(const TriangularProduct<T>& p);  // in place: C

}  // namespace vernier
