// The part that speaks to CUDA.
#include "residue/partial_gpu/device_product.hpp"

#include <algorithm>

#include "cuda/device.hpp"
#include "residue/partial_gpu/device_block.hpp"

namespace vernier {
namespace cuda {
namespace {

struct SentOperand {
  const ElementView<const std::byte>& x;
  std::int64_t vectors;
  std::byte* elements;
  std::uint8_t* planes;
};

void send(const PassData& pass, const DeviceInt8Engine& engine, const SentOperand& operand, Range ks,
          cudaStream_t stream) {
  const ElementView<const std::byte>& x = operand.x;
  const std::int64_t ld = x.k_contiguous ? ks.count : operand.vectors;
  const auto row = x.bytes * static_cast<std::size_t>(ld);
  check(cudaMemcpy2DAsync(operand.elements, row, x.at(0, ks.begin), x.bytes * static_cast<std::size_t>(x.ld), row,
                          static_cast<std::size_t>(x.k_contiguous ? operand.vectors : ks.count), cudaMemcpyHostToDevice,
                          stream),
        "copy of elements");
  unpack_planes(pass, engine, {operand.elements, ld, x.k_contiguous, x.bytes}, operand.vectors, ks.count,
                operand.planes, stream);
}

void make_product(const PassData& pass, const ElementProduct& p, std::int64_t k_step, std::byte* out) {
  const DeviceInt8Engine& engine = find_device_int8_engine("");
  const ElementBlock block{p.m, p.n, std::min(k_step, p.k)};
  const KeptStream stream;
  Arena count;
  carve_elements(count, pass.layout, block, engine.sums_in_memory());
  const DeviceWorkspace memory(count.used(), stream);
  Arena arena = memory.arena();
  const ElementBuffers buffers = carve_elements(arena, pass.layout, block, engine.sums_in_memory());
  const PlaneProduct x{pass, engine, buffers, p.m, p.n, p.k, block.k};
  multiply_planes(
      x,
      [&](Range ks) {
        send(pass, engine, {p.a, p.m, buffers.a, buffers.planes_a}, ks, stream);
        send(pass, engine, {p.b, p.n, buffers.b, buffers.planes_b}, ks, stream);
      },
      stream);
  pack_planes(x, buffers.product, p.m, false, stream);
  check(cudaMemcpyAsync(out, buffers.product, p.a.bytes * static_cast<std::size_t>(p.m * p.n), cudaMemcpyDeviceToHost,
                        stream),
        "copy of elements");
  stream.wait();
}

}  // namespace
}  // namespace cuda

ElementDevice element_device() {
  if (!cuda::missing_device().empty()) return {};
  try {
    return device_of(cuda::find_device_int8_engine(""));
  } catch (const std::exception&) {
    return {};
  }
}

bool make_product_on_device(const PassData& pass, const ElementProduct& product, std::int64_t k_step, std::byte* out) {
  try {
    cuda::make_product(pass, product, k_step, out);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace vernier
