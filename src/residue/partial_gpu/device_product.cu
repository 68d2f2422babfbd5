// The part that speaks to CUDA.
#include "residue/partial_gpu/device_product.hpp"

#include <algorithm>

#include "cuda/device.hpp"
#include "cuda/kept_stream.hpp"
#include "residue/partial_gpu/device_block.hpp"

namespace vernier {
namespace {

using namespace cuda;

struct Operand {
  const ElementView<const std::byte>& x;
  std::int64_t vectors;
  std::byte* elements;
  std::uint8_t* planes;
};

void send(const PassData& pass, const DeviceInt8Engine& engine, const Operand& operand, std::int64_t first,
          std::int64_t count, cudaStream_t stream) {
  const ElementView<const std::byte>& x = operand.x;
  const auto row = x.bytes * static_cast<std::size_t>(x.k_contiguous ? count : operand.vectors);
  check(cudaMemcpy2DAsync(operand.elements, row, x.at(0, first), x.bytes * static_cast<std::size_t>(x.ld), row,
                          static_cast<std::size_t>(x.k_contiguous ? operand.vectors : count), cudaMemcpyHostToDevice,
                          stream),
        "copy of elements");
  unpack_on_device({.elements = operand.elements,
                    .vectors = operand.vectors,
                    .k = count,
                    .bytes = static_cast<std::int64_t>(x.bytes),
                    .k_contiguous = x.k_contiguous,
                    .moduli = pass.layout.moduli,
                    .products = real_products(pass.layout.parts),
                    .form = engine.form(),
                    .planes = operand.planes,
                    .ld = x.k_contiguous ? count : operand.vectors},
                   stream);
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
  DeviceInt8Product product{.rows = buffers.planes_a,
                            .columns = buffers.planes_b,
                            .m = p.m,
                            .n = p.n,
                            .moduli = pass.layout.moduli,
                            .products = real_products(pass.layout.parts),
                            .out = buffers.residues,
                            .scratch = buffers.sums};
  product.factor.fill(1);
  for (std::int64_t l = 0; l < p.k; l += block.k) {
    const std::int64_t ks = std::min(block.k, p.k - l);
    send(pass, engine, {p.a, p.m, buffers.a, buffers.planes_a}, l, ks, stream);
    send(pass, engine, {p.b, p.n, buffers.b, buffers.planes_b}, l, ks, stream);
    product.pitch = device_pitch(ks);
    product.accumulate = l > 0;
    engine.multiply(product, stream);
  }
  pack_on_device({.products = buffers.residues,
                  .m = p.m,
                  .n = p.n,
                  .bytes = static_cast<std::int64_t>(p.a.bytes),
                  .moduli = pass.layout.moduli,
                  .parts = pass.layout.parts,
                  .elements = buffers.product,
                  .ld = p.m},
                 stream);
  check(cudaMemcpyAsync(out, buffers.product, p.a.bytes * static_cast<std::size_t>(p.m * p.n), cudaMemcpyDeviceToHost,
                        stream),
        "copy of elements");
  stream.wait();
}

}  // namespace

ElementDevice element_device() {
  if (!missing_device().empty()) return {};
  try {
    return device_of(find_device_int8_engine(""));
  } catch (const std::exception&) {
    return {};
  }
}

bool make_product_on_device(const PassData& pass, const ElementProduct& product, std::int64_t k_step, std::byte* out) {
  try {
    make_product(pass, product, k_step, out);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace vernier
