#include "lapack/quad/row_swaps.hpp"

#include <algorithm>

#include "cuda/launch.hpp"

namespace vernier::cuda {
namespace {

constexpr int swap_threads = 128, most_swaps = 64;

struct RowSwaps {
  int count;
  std::int64_t first, row[most_swaps];
};

// A thread a column.
__global__ void __launch_bounds__(swap_threads)
    swap_wide_rows(ulonglong2* x, std::int64_t ld, std::int64_t columns, const __grid_constant__ RowSwaps swaps) {
  const std::int64_t l = static_cast<std::int64_t>(blockIdx.x) * swap_threads + threadIdx.x;
  if (l >= columns) return;
  ulonglong2* const column = x + l * ld;
  for (int s = 0; s < swaps.count; ++s) {
    ulonglong2 &a = column[swaps.first + s], &b = column[swaps.row[s]];
    const ulonglong2 kept = a;
    a = b, b = kept;
  }
}

}  // namespace

void swap_rows_on_device(const WideColumns& m, std::int64_t first, std::int64_t last, const std::int64_t* pivots,
                         cudaStream_t stream) {
  if (m.columns == 0) return;
  const auto blocks = static_cast<unsigned>((m.columns + swap_threads - 1) / swap_threads);
  for (std::int64_t begin = first; begin < last; begin += most_swaps) {
    RowSwaps swaps{static_cast<int>(std::min<std::int64_t>(most_swaps, last - begin)), begin, {}};
    for (int s = 0; s < swaps.count; ++s) swaps.row[s] = pivots[begin + s] - 1;
    launch("swap_wide_rows", swap_wide_rows, {.grid = dim3(blocks), .block = dim3(swap_threads)}, stream,
           static_cast<ulonglong2*>(m.x), m.ld, m.columns, swaps);
  }
}

}  // namespace vernier::cuda
