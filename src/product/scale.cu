#include "product/scale.hpp"

#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "product/exact/entry.hpp"
#include "product/scalars.cuh"

namespace vernier::cuda {
namespace {

constexpr int threads = 128;

template <class T>
__global__ void __launch_bounds__(threads)
    scale_matrix(std::int64_t m, std::int64_t n, DeviceFactor<T> factor, T* c, std::int64_t ldc, Rounding rounding) {
  const T beta = value_of(factor);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; at < m * n; at += step) {
    T& element = c[at % m + at / m * ldc];
    element = beta == 0 ? T{0} : product_in_direction(beta, element, rounding);
  }
}

}  // namespace

template <class T>
void scale_on_device(std::int64_t m, std::int64_t n, const DeviceFactor<T>& beta, T* c, std::int64_t ldc,
                     Rounding rounding, cudaStream_t stream) {
  constexpr std::int64_t most_blocks = 4096;
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, divide_up(m * n, std::int64_t{threads})));
  launch("scale_matrix", scale_matrix<T>, {.grid = dim3(blocks), .block = dim3(threads)}, stream, m, n, beta, c, ldc,
         rounding);
}

#define VERNIER_INSTANTIATE(T) template struct Instances<scale_on_device<T>>;
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier::cuda
