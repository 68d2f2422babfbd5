// Kernels of upper bounds of |M| x, and of the search for NaN and infinities.
#include "lapack/verified/interval_elements.cuh"
#include "lapack/verified/interval_products.hpp"
#include "lapack/verified/magnitudes.hpp"
#include "product/device_memory.hpp"
#include "product/operand_blocks.hpp"

namespace vernier::cuda {

inline constexpr int magnitude_threads = 128;

// A slice of the columns of each row, added upwards.
__global__ void __launch_bounds__(magnitude_threads)
    slice_magnitudes(std::int64_t n, const double* m, std::int64_t ld, const double* x, double* partial) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * magnitude_threads + threadIdx.x;
  const std::int64_t length = (n + magnitude_slices - 1) / magnitude_slices, first = blockIdx.y * length;
  if (i >= n) return;
  double sum = 0;
  for (std::int64_t l = first; l < min(first + length, n); ++l) sum = __fma_ru(::fabs(m[i + l * ld]), x[l], sum);
  partial[i + blockIdx.y * n] = sum;
}

__global__ void __launch_bounds__(magnitude_threads) add_slices(std::int64_t n, const double* partial, double* y) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * magnitude_threads + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int s = 0; s < magnitude_slices; ++s) sum = __dadd_ru(sum, partial[i + s * n]);
  y[i] = sum;
}

__global__ void __launch_bounds__(interval_threads)
    find_nonfinite(std::int64_t rows, std::int64_t columns, IntervalElements<const double> x, IntervalFacts* facts) {
  const IntervalElement e(rows, columns);
  if (e.exists && !finite(x.at(e.i, e.j))) atomicMin(&facts->bad, static_cast<unsigned long long>(e.at));
}

void multiply_magnitudes(std::int64_t n, const double* m, std::int64_t ld, const double* x, double* partial, double* y,
                         cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + magnitude_threads - 1) / magnitude_threads);
  launch("slice_magnitudes", slice_magnitudes,
         {.grid = dim3(blocks, magnitude_slices), .block = dim3(magnitude_threads)}, stream, n, m, ld, x, partial);
  launch("add_slices", add_slices, {.grid = dim3(blocks), .block = dim3(magnitude_threads)}, stream, n, partial, y);
}

void check_finite_matrix(const char* routine, const char* name, const double* x, std::int64_t rows,
                         std::int64_t columns, std::int64_t ld, cudaStream_t stream) {
  const DeviceWorkspace memory(sizeof(IntervalFacts), stream);
  auto* const facts = reinterpret_cast<IntervalFacts*>(memory.data());
  to_device(facts, std::vector<IntervalFacts>{{~0ull, 0}}, stream);
  launch_elements("find_bad", find_nonfinite, rows, columns, stream, IntervalElements<const double>{x, ld}, facts);
  const unsigned long long bad = on_host(facts, 1, stream)[0].bad;
  if (bad == ~0ull) return;
  const std::int64_t i = static_cast<std::int64_t>(bad) % rows, j = static_cast<std::int64_t>(bad) / rows;
  check_finite_entry(routine, name, on_host(x + i + j * ld, 1, stream)[0], i, j);
}

}  // namespace vernier::cuda
