#pragma once

#include <cstdint>

namespace vernier {

// Vectors of an operand, rows or columns of C, or a part of k.
struct Range {
  std::int64_t begin = 0, count = 0;
};

}  // namespace vernier
