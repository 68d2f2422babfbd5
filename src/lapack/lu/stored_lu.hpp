// LU with partial pivoting whose factors are stored in a short format, left-looking: an fp32 buffer of one block column
// collects all its updates, is factorised, and is rounded once (Lopez and Mary 2023 do so in fp16, without pivoting).
#pragma once

#include <cstdint>
#include <functional>

#include "lapack/kernels.hpp"
#include "lapack/level3.hpp"

namespace vernier {

// Formats: Word is how a number is stored, unit_roundoff that of rounding to nearest even.
struct StoredFp16 {
  using Word = Half;
  static constexpr double unit_roundoff = 0x1p-11;
};
struct StoredBf16 {
  using Word = Brain;
  static constexpr double unit_roundoff = 0x1p-8;
};

struct StoredLu {
  std::int64_t info = 0;
  bool overflow = false;  // an entry of U left the range of the format
};

// Writes columns [first, first + count) of A, n rows, to out.
using ColumnBlock = std::function<void(std::int64_t first, std::int64_t count, float* out)>;

// lu is n x n. Products have stored numbers as factors, exact in fp32, and are added as level3 adds floats.
template <class Format>
StoredLu factor_stored_lu(const Level3<float>& level3, std::int64_t n, const ColumnBlock& a, typename Format::Word* lu,
                          std::int64_t* pivots);

}  // namespace vernier
