// Rows of 64 bytes in shared memory, as ldmatrix reads them without bank conflicts.
#pragma once

#include <cstdint>

namespace vernier::cuda {

inline constexpr int staged_row = 64;

// Byte of 16-byte chunk `chunk` of a row: the eight rows that ldmatrix reads at a time lie in different banks.
__device__ __forceinline__ int staged_byte(int row, int chunk) {
  return row * staged_row + ((chunk ^ (row >> 1 & 3)) << 4);
}

// Where a lane points load_matrices() to: 32 bytes of k, the `half` of a row that is meant, of 16 rows. x: matrices
// (rows 0, k 0), (rows 8, k 0), (rows 0, k 16), (rows 8, k 16); y: (rows 0, k 0), (rows 0, k 16), (rows 8, k 0), ...
__device__ __forceinline__ int staged_x(int half) {
  const int lane = threadIdx.x % 32, matrix = lane / 8;
  return staged_byte(matrix % 2 * 8 + lane % 8, 2 * half + matrix / 2);
}
__device__ __forceinline__ int staged_y(int half) {
  const int lane = threadIdx.x % 32, matrix = lane / 8;
  return staged_byte(matrix / 2 * 8 + lane % 8, 2 * half + matrix % 2);
}

}  // namespace vernier::cuda
