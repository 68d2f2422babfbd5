// Tensor maps: what the bulk tensor copies of Hopper read a matrix by.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace vernier::cuda {

// Planes of rows of bytes, 128-byte swizzle: a box is `box_rows` rows of 128 bytes of one plane, and what a box reaches
// beyond rows or row_bytes arrives as zeros.
//
//   base          device memory, 16-byte aligned
//   row_bytes     bytes of a row that exist
//   row_stride    bytes from one row to the next, a multiple of 16
//   plane_stride  bytes from one plane to the next, a multiple of 16
struct PlaneStack {
  const void* base = nullptr;
  std::int64_t row_bytes = 0, rows = 0, planes = 1;
  std::int64_t row_stride = 0, plane_stride = 0;
  int box_rows = 0;  // at most 256
};

inline constexpr int box_row_bytes = 128;  // the widest row that the swizzle of wgmma's operands has

// Coordinates of a copy are {byte in the row, row, plane}. Throws Error(Status::internal_error) with the driver's words
// where the driver refuses, and Error(Status::unsupported) where it is too old.
CUtensorMap make_tensor_map(const PlaneStack& planes);

// Of planes and rows that follow each other without gaps.
inline CUtensorMap map_of_planes(const void* base, std::int64_t row_bytes, std::int64_t rows, std::int64_t planes,
                                 int box_rows) {
  return make_tensor_map({base, row_bytes, rows, planes, row_bytes, rows * row_bytes, box_rows});
}

}  // namespace vernier::cuda
