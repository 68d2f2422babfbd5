// LU with partial pivoting whose factors are stored in fp16, left-looking: an fp32 buffer of one block column collects
// all its updates, is factorised, and is rounded to fp16 once (Lopez and Mary 2023 do so without pivoting).
#pragma once

#include <cstdint>
#include <functional>

#include "lapack/kernels.hpp"
#include "lapack/level3.hpp"

namespace vernier {

struct HalfLu {
  std::int64_t info = 0;
  bool overflow = false;  // an entry of U left the range of fp16
};

// Writes columns [first, first + count) of A, n rows, to out.
using ColumnBlock = std::function<void(std::int64_t first, std::int64_t count, float* out)>;

// lu is n x n. Products have fp16 numbers as factors, exact in fp32, and are added as level3 adds floats.
HalfLu factor_half_lu(const Level3<float>& level3, std::int64_t n, const ColumnBlock& a, Half* lu,
                      std::int64_t* pivots);

}  // namespace vernier
