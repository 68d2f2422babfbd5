// Stages of operands in shared memory: the place in a ring of them, and rows of 64 or 128 bytes as ldmatrix reads them
// without bank conflicts. A copy of 16 bytes a lane writes 128 bytes a cycle only where these are one line of memory
// and one row: a row of 64 takes twice the cycles.
#pragma once

#include <cstdint>

namespace vernier::cuda {

// A place in a ring of stages, each with barriers of its own, and the parity of the round.
template <int Stages>
struct RingPlace {
  int stage = 0;
  std::uint32_t parity = 0;

  // bf16x6_sep has two stages, and takes 3.5 % longer where ptxas sees a test for equality; others 2 % less.
  __device__ __forceinline__ void advance() {
    if (Stages == 2 ? ++stage < Stages : ++stage != Stages) return;
    stage = 0, parity ^= 1;
  }
};

inline constexpr int staged_row = 64;

// Byte of 16-byte chunk `chunk` of a row: the eight rows that ldmatrix reads at a time lie in different banks.
template <int Row = staged_row>
__device__ __forceinline__ int staged_byte(int row, int chunk) {
  static_assert(Row == 64 || Row == 128);
  return row * Row + ((chunk ^ (Row == 64 ? row >> 1 & 3 : row & 7)) << 4);
}

// Where a lane points load_matrices() to: 32 bytes of k of 16 rows, the part-th of a row. x: matrices (rows 0, k 0),
// (rows 8, k 0), (rows 0, k 16), (rows 8, k 16); y: (rows 0, k 0), (rows 0, k 16), (rows 8, k 0), ...
template <int Row = staged_row>
__device__ __forceinline__ int staged_x(int part) {
  const int lane = threadIdx.x % 32, matrix = lane / 8;
  return staged_byte<Row>(matrix % 2 * 8 + lane % 8, 2 * part + matrix / 2);
}
template <int Row = staged_row>
__device__ __forceinline__ int staged_y(int part) {
  const int lane = threadIdx.x % 32, matrix = lane / 8;
  return staged_byte<Row>(matrix / 2 * 8 + lane % 8, 2 * part + matrix % 2);
}

}  // namespace vernier::cuda
