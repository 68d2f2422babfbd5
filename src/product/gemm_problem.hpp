// One product, as every scheme takes it.
#pragma once

#include "product/operand.hpp"
#include "product/output.hpp"
#include "product/sides.hpp"

namespace vernier {

// C = alpha op(A) op(B) + beta C
template <class T, class Factor = T>
struct GemmProblem {
  Operand<T> a, b;  // rows of op(A), columns of op(B)
  Output<T, Factor> to;

  const Operand<T>& operand(Side side) const { return side == both_sides[0] ? a : b; }
};

}  // namespace vernier
