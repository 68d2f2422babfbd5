#include "residue/symmetric.hpp"

#include <algorithm>

#include "cuda/launch.hpp"

namespace vernier::cuda {
namespace {

constexpr int square_side = 32, square_warps = 8;  // of a square of elements that a block looks at

// Lanes lie along the memory of a; that of b is in the first cache where it lies the other way.
__global__ void __launch_bounds__(square_side* square_warps)
    compare_vectors(const Operand<double> a, const Operand<double> b, int* asymmetric) {
  const int lane = threadIdx.x % square_side, warp = threadIdx.x / square_side;
  const std::int64_t across = divide_up(a.vectors, square_side), squares = across * divide_up(a.k, square_side);
  for (std::int64_t s = blockIdx.x; s < squares && *static_cast<volatile int*>(asymmetric) == 0; s += gridDim.x)
#pragma unroll
    for (int i = 0; i < square_side; i += square_warps) {
      const std::int64_t v = s % across * square_side + (a.k_contiguous ? warp + i : lane),
                         l = s / across * square_side + (a.k_contiguous ? lane : warp + i);
      if (v < a.vectors && l < a.k && __double_as_longlong(*a.at(v, l)) != __double_as_longlong(*b.at(v, l)))
        *asymmetric = 1;
    }
}

__global__ void __launch_bounds__(square_side* square_warps)
    mirror_triangle(std::int64_t n, double* c, std::int64_t ld, const Gate gate) {
  __shared__ double square[square_side][square_side + 1];
  const std::int64_t i = std::int64_t{blockIdx.x} * square_side, j = std::int64_t{blockIdx.y} * square_side;
  if (gate.closed() || i < j) return;
  const int lane = threadIdx.x % square_side, warp = threadIdx.x / square_side;
  for (int s = warp; s < square_side; s += square_warps)
    if (i + lane < n && j + s < n) square[s][lane] = c[i + lane + (j + s) * ld];
  __syncthreads();
  for (int s = warp; s < square_side; s += square_warps)
    if (i + s < n && j + lane < i + s) c[j + lane + (i + s) * ld] = square[lane][s];
}

}  // namespace

void mirror_on_device(std::int64_t n, double* c, std::int64_t ld, const Gate& gate, cudaStream_t stream) {
  const auto squares = static_cast<unsigned>(divide_up(n, square_side));
  launch("mirror_triangle", mirror_triangle,
         {.grid = dim3(squares, squares), .block = dim3(square_side * square_warps)}, stream, n, c, ld, gate);
}

void compare_on_device(const Operand<double>& a, const Operand<double>& b, int* asymmetric, cudaStream_t stream) {
  constexpr std::int64_t most_blocks = 8 * h200_multiprocessors;
  const std::int64_t squares = divide_up(a.vectors, square_side) * divide_up(a.k, square_side);
  launch(
      "compare_vectors", compare_vectors,
      {.grid = dim3(static_cast<unsigned>(std::min(squares, most_blocks))), .block = dim3(square_side * square_warps)},
      stream, a, b, asymmetric);
}

}  // namespace vernier::cuda
