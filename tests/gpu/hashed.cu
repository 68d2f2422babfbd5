#include "hashed.hpp"

#include "cuda/status.hpp"

namespace vernier::test {
namespace {

template <class T>
__global__ void fill(std::uint64_t seed, std::int64_t rows, std::int64_t columns, T* x, std::int64_t ld) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < rows * columns;
       e += threads)
    x[e % rows + e / rows * ld] = static_cast<T>(hashed(seed, e % rows, e / rows));
}

}  // namespace

template <class T>
void fill_hashed(std::uint64_t seed, std::int64_t rows, std::int64_t columns, T* x, std::int64_t ld) {
  fill<<<2048, 256>>>(seed, rows, columns, x, ld);
  cuda::check(cudaGetLastError(), "fill_hashed");
}

template void fill_hashed(std::uint64_t, std::int64_t, std::int64_t, double*, std::int64_t);
template void fill_hashed(std::uint64_t, std::int64_t, std::int64_t, float*, std::int64_t);

}  // namespace vernier::test
