// One product, as every scheme takes it.
#pragma once

#include <cstdint>

#include "product/operand.hpp"

namespace vernier {

// C = alpha op(A) op(B) + beta C
template <class T, class Factor = T>
struct GemmProblem {
  Operand<T> a, b;  // rows of op(A), columns of op(B)
  Factor alpha, beta;
  T* c;
  std::int64_t ldc;
};

}  // namespace vernier
