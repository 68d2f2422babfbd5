// The product of |A| and |B| on Hopper's fp8 units (residue/bound/bound_scales.hpp): minima of its rows and columns,
// and a byte for each entry.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/bound/bound_layout.hpp"
#include "engine/filled_pieces.hpp"

namespace vernier::cuda {

struct DeviceBoundProduct {
  const std::uint8_t* rows = nullptr;     // [m][pitch], bound_byte of each element
  const std::uint8_t* columns = nullptr;  // [n][pitch]
  std::int64_t m = 0, n = 0, pitch = 0;
  std::int64_t k = 0;  // of the bytes that are there
  DeviceBoundSide row, column;
  // product_units(m, n): bound_code of each entry; null: minima alone, of sums over all k in the tensor units.
  std::uint8_t* codes = nullptr;
  FilledPieces filled = {};  // of these bytes
  Gate gate = {};
};

void multiply_bound_on_device(const DeviceBoundProduct& product, cudaStream_t stream);

}  // namespace vernier::cuda
