// The product of quad_gemm.hpp on a GPU, C in dd or binary128: the same bits.
#pragma once

#include <functional>
#include <memory>

#include "engine/int8_engine_cuda.hpp"
#include "product/operand_blocks.hpp"
#include "residue/quad/quad_operand.hpp"
#include "residue/quad/quad_view.hpp"

namespace vernier::cuda {

// Room of the host for an operand, which costs nothing until it is filled, since nothing touches it.
struct HostCopy {
  const void* from = nullptr;
  std::size_t pitch = 0, length = 0, lines = 0;  // in bytes but for the lines
  std::unique_ptr<std::byte[]> elements;
  std::unique_ptr<const QuadOperand> operand;  // of these
  QuadSide side;                               // its vectors have room
};

template <class T>
HostCopy host_copy(const Operand<T>& x) {
  const std::int64_t lines = x.k_contiguous ? x.vectors : x.k, length = x.k_contiguous ? x.k : x.vectors;
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
  HostCopy copy{x.data, bytes(x.ld), bytes(length), static_cast<std::size_t>(lines), {}, {}, {}};
  copy.elements.reset(new std::byte[bytes(lines * length)]);
  const auto* const elements = reinterpret_cast<const T*>(copy.elements.get());
  copy.operand.reset(new QuadOperandOf<T>({elements, x.vectors, x.k, length, x.k_contiguous}));
  copy.side.vectors.reserve(static_cast<std::size_t>(x.vectors));
  copy.side.scales.reserve(static_cast<std::size_t>(x.vectors));
  copy.side.parts = parts_of_element<T>;
  return copy;
}

// Vectors in device memory, as doubles; and a copy of the operand in host memory, for entries that are left to the
// host.
struct DeviceQuadOperand {
  QuadView x;
  const VectorExponents* exponents = nullptr;  // of binary128
  std::function<HostCopy()> room_on_host;
};

// Of double and dd, which kernels read as they are.
template <class T>
DeviceQuadOperand device_operand(const Operand<T>& x) {
  return {view_of(x), nullptr, [x] { return host_copy(x); }};
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
