// One operand of a block of C on a GPU.
#pragma once

#include "product/operand.hpp"
#include "product/sides.hpp"
#include "product/statistics.hpp"

namespace vernier::cuda {

// Its vectors, all of k, and what is known of them, in device memory.
template <class T>
struct BlockSide {
  Operand<T> x;
  const VectorStatistics* statistics = nullptr;
  const int* scales = nullptr;
};

}  // namespace vernier::cuda
