// Row interchanges of matrices of 16-byte elements, dd or binary128, in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace vernier::cuda {

struct WideColumns {
  void* x;
  std::int64_t ld, columns;
};

// Rows j and pivots[j] - 1, for j = first .. last - 1 in this order; pivots are in host memory.
void swap_rows_on_device(const WideColumns& m, std::int64_t first, std::int64_t last, const std::int64_t* pivots,
                         cudaStream_t stream);

}  // namespace vernier::cuda
