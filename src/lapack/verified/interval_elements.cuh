// Matrices as kernels see them, an element a thread.
#pragma once

#include <cstdint>
#include <limits>

#include "cuda/launch.hpp"

namespace vernier::cuda {

inline constexpr int interval_threads = 256;

// A matrix of rows x columns.
template <class T>
struct IntervalElements {
  T* data = nullptr;
  std::int64_t ld = 0;

  __device__ T& at(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }
};

// bad: the first element, by columns, that is no interval; wide: some radius is not zero.
struct IntervalFacts {
  unsigned long long bad;
  unsigned wide;
};

struct IntervalElement {
  std::int64_t at, i, j;
  bool exists;

  __device__ IntervalElement(std::int64_t rows, std::int64_t columns)
      : at(static_cast<std::int64_t>(blockIdx.x) * interval_threads + threadIdx.x),
        i(at % rows),
        j(at / rows),
        exists(at < rows * columns) {}
};

__device__ __forceinline__ bool finite(double x) { return ::fabs(x) <= std::numeric_limits<double>::max(); }

template <class... Parameters, class... Arguments>
void launch_elements(const char* name, void (*kernel)(Parameters...), std::int64_t rows, std::int64_t columns,
                     cudaStream_t stream, const Arguments&... arguments) {
  if (rows == 0 || columns == 0) return;
  const std::int64_t blocks = (rows * columns + interval_threads - 1) / interval_threads;
  launch(name, kernel, {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(interval_threads)}, stream, rows,
         columns, arguments...);
}

}  // namespace vernier::cuda
