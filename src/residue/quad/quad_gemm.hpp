// The product by residues with more moduli, rounded to dd or binary128: statistics -> scales -> planes, one sum of the
// residues of an element's parts -> products modulo p -> C (docs/accuracy.md, theorem 13).
#pragma once

#include "engine/int8_engine.hpp"
#include "residue/quad/quad_plan.hpp"

namespace vernier {

template <class TC>
struct QuadProblem {
  const QuadOperand &a, &b;  // rows of op(A), columns of op(B)
  double alpha = 1, beta = 0;
  TC* c = nullptr;
  std::int64_t ldc = 0;
  QuadGoal goal;
  Rounding rounding = Rounding::nearest;  // of an exact goal
};

struct QuadMachine {
  const Int8Engine& engine;
  int threads = 1;
  std::size_t limit = 0;  // bytes of planes
};

// Throws with C untouched.
template <class TC>
void quad_product(const QuadProblem<TC>& problem, const QuadMachine& machine, QuadReport& report);

}  // namespace vernier
