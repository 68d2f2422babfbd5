// Tiles of a replayed product: packed operands, and groups of rows on the vector units.
#pragma once

#include <cstdint>
#include <string_view>

namespace vernier::model {

struct RowOperand {          // one row of A, padded to whole blocks
  const float* significand;  // signed, in [1, 2) or below for subnormal numbers
  const std::int32_t* exponent;
};
struct StripOperand {  // the columns of a strip of B, [k][lanes]
  const float* significand;
  const std::int32_t* exponent;
};
inline constexpr std::int32_t exponent_of_zero = -5000;  // in packed operands: never the largest

struct BlockRule {
  int fraction_bits;
  int zero_exponent;
};

// Rows of A against the columns of one strip, over `blocks` consecutive blocks; c, [rows][N], is updated in place.
// Several rows at a time: a block waits for the result of the one before, and other rows have work meanwhile.
struct RowTask {
  BlockRule rule;
  int block = 0;  // 4, 8 or 16
  int blocks = 0;
  const RowOperand* rows = nullptr;
  int row_count = 0;
  StripOperand strip{};
  std::uint32_t* c = nullptr;
  // The scalar model for block q of a row, in lane j.
  std::uint32_t (*scalar)(const void* context, int row, int q, int j, std::uint32_t c) = nullptr;
  const void* context = nullptr;
};

struct VectorPath {
  const char* name;
  int lanes;
  void (*rows)(const RowTask&);
};

void rows_avx512(const RowTask& task);
void rows_avx2(const RowTask& task);

// The path of that name, or the widest one for ""; nullptr if this machine has none such.
const VectorPath* find_vector_path(std::string_view name);

}  // namespace vernier::model
