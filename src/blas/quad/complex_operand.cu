#include "blas/quad/complex_operand.hpp"

#include "cuda/launch.hpp"
#include "product/operand.hpp"

namespace vernier::cuda {
namespace {

constexpr int expand_threads = 256;

// Neighbouring threads have neighbouring rows of the result.
__global__ void __launch_bounds__(expand_threads)
    expand_complex(const __grid_constant__ ComplexOperand x, bool left, std::uint64_t* out) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * expand_threads + threadIdx.x;
  if (at >= x.rows * x.columns) return;
  const std::int64_t i = at % x.rows, l = at / x.rows, d = x.words;
  const std::uint64_t* z = x.data + 2 * d * (x.op == Op::none ? i + l * x.ld : l + i * x.ld);
  std::uint64_t* to = out + d * (2 * i + (left ? 2 : 1) * l * 2 * x.rows);
  for (int w = 0; w < x.words; ++w) {
    const std::uint64_t re = z[w], im = z[d + w] ^ (x.op == Op::conjugate_transpose ? x.turn(w) : 0);
    to[w] = re, to[d + w] = im;
    if (left) to[d * 2 * x.rows + w] = im ^ x.turn(w), to[d * (2 * x.rows + 1) + w] = re;
  }
}

}  // namespace

void expand_complex_on_device(const ComplexOperand& x, bool left, void* out, cudaStream_t stream) {
  const std::int64_t blocks = (x.rows * x.columns + expand_threads - 1) / expand_threads;
  launch("expand_complex", expand_complex, {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(expand_threads)},
         stream, x, left, static_cast<std::uint64_t*>(out));
}

}  // namespace vernier::cuda
