// A block of C that is rounded once on a GPU, its open entries, and the exact sums that decide them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "product/exact/device_counts.hpp"
#include "product/exact/entry.hpp"
#include "product/operand.hpp"
#include "product/scalars.hpp"
#include "product/sides.hpp"
#include "product/statistics.hpp"

namespace vernier::cuda {

// One operand of it: its vectors, all of k, and what is known of them, in device memory.
template <class T>
struct BlockSide {
  Operand<T> x;
  const VectorStatistics* statistics = nullptr;
  const int* scales = nullptr;
};

// C = alpha op(A) op(B) + beta C, rounded once, on one block of C. All pointers but this object's own are to device
// memory.
template <class T>
struct DeviceExactBlock {
  int moduli = 0;
  const std::int8_t* residues = nullptr;  // product_units(m, n) of each modulus, where residues made it
  std::int64_t m = 0, n = 0;              // m * n <= 2^32
  Sides<BlockSide<T>> side;
  Sides<const RoundError*> errors;
  Sides<DeviceLowestBitsLists> lowest_bits;  // none: nothing is looked at
  Output<T, DeviceFactor<T>> to;
  Rounding rounding = Rounding::nearest;
  bool specials = false;  // there are NaN or infinities
  // Room for m n entries i + j m: those that are open from the front, those that still are after the look from the end.
  std::uint32_t* open = nullptr;
  DeviceOpenCounts* counts = nullptr;

  // Where they do not fit beside each other nothing is looked at, and all have their exact sums.
  constexpr bool refines(unsigned long long count) const {
    return lowest_bits.a.counts != nullptr &&
           2 * count <= static_cast<unsigned long long>(m) * static_cast<unsigned long long>(n);
  }
};

// Those of vectors with a NaN or an infinity.
template <class T>
void special_entries_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream);

// Those that are left, from the sums of all their products. Adds to the totals.
template <class T>
void accumulate_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream);

}  // namespace vernier::cuda
