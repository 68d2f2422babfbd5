// One product, as every scheme on a CPU takes it.
#pragma once

#include <cstdint>

#include "product/operand.hpp"

namespace vernier {

// C = alpha op(A) op(B) + beta C
template <class T>
struct GemmProblem {
  Operand<T> a, b;  // rows of op(A), columns of op(B)
  T alpha, beta;
  T* c;
  std::int64_t ldc;
};

}  // namespace vernier
