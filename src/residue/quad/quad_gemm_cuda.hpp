// The product of quad_gemm.hpp on a GPU, C in dd or binary128: the same bits.
#pragma once

#include <functional>
#include <memory>

#include "engine/int8_engine_cuda.hpp"
#include "product/operand_blocks.hpp"
#include "residue/quad/quad_operand.hpp"
#include "residue/quad/quad_view.hpp"

namespace vernier::cuda {

// Vectors in device memory, as doubles; and a copy of the operand in host memory, for entries that are left to the
// host.
struct DeviceQuadOperand {
  QuadView x;
  const VectorExponents* exponents = nullptr;  // of binary128
  std::function<std::shared_ptr<const QuadOperand>(cudaStream_t)> on_host;
};

// The operand in host memory, with its elements.
template <class T>
std::shared_ptr<const QuadOperand> copied_operand(const Operand<T>& x, cudaStream_t stream) {
  const std::int64_t lines = x.k_contiguous ? x.vectors : x.k, length = x.k_contiguous ? x.k : x.vectors;
  const auto elements = std::make_shared<std::vector<T>>(static_cast<std::size_t>(lines * length));
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
  check(cudaMemcpy2DAsync(elements->data(), bytes(length), x.data, bytes(x.ld), bytes(length),
                          static_cast<std::size_t>(lines), cudaMemcpyDeviceToHost, stream),
        "copy to the host");
  check(cudaStreamSynchronize(stream), "copy to the host");
  const Operand<T> own{elements->data(), x.vectors, x.k, length, x.k_contiguous};
  return {new QuadOperandOf<T>(own), [elements](const QuadOperand* operand) { delete operand; }};
}

// Of double and dd, which kernels read as they are.
template <class T>
DeviceQuadOperand device_operand(const Operand<T>& x) {
  return {view_of(x), nullptr, [x](cudaStream_t stream) { return copied_operand(x, stream); }};
}

struct DeviceQuadProblem {
  DeviceQuadOperand a;  // rows of op(A)
  DeviceQuadOperand b;  // columns of op(B)
  double alpha, beta;
  dd* c;  // or as many elements of binary128: only rounded (alpha 2^i, beta 0) unless bits is 0
  std::int64_t ldc;
  int bits;  // |T - AB| <= (k 2^-bits + u) |A||B|; 0: C rounded once, in this direction
  Rounding rounding;
  bool binary128 = false;
};

// C = beta C.
void scale_dd_on_device(std::int64_t m, std::int64_t n, double beta, dd* c, std::int64_t ldc, cudaStream_t stream);

// Returns when C is complete. Throws with C untouched, but for what a device fails in.
void quad_product_on_device(const DeviceQuadProblem& problem, const DeviceInt8Engine& engine,
                            const QuadOptions& options, QuadReport& report);

}  // namespace vernier::cuda
