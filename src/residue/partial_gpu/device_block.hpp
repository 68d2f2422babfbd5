// A product of elements in device memory, block by block on planes that fit there.
#pragma once

#include <algorithm>
#include <optional>

#include "base/status.hpp"
#include "engine/int8_engine_cuda.hpp"
#include "product/device_memory.hpp"
#include "product/operand.hpp"
#include "residue/partial/element_parts.hpp"
#include "residue/partial_gpu/device_product.hpp"
#include "residue/partial_gpu/part_kernels.hpp"

namespace vernier::cuda {

// Processes may share the GPU, and pageable copies gain nothing from more.
inline ElementDevice device_of(const DeviceInt8Engine& engine) {
  constexpr std::size_t most = std::size_t{4} << 30, share = 4;
  return {std::min(most, available_device_memory() / share), engine.longest_k(), engine.sums_in_memory()};
}

// A product whose planes are in memory, step by step along k.
struct PlaneProduct {
  const PassData& pass;
  const DeviceInt8Engine& engine;
  const ElementBuffers& buffers;
  std::int64_t m, n, k, step;
};

// unpack(Range) makes the planes of some of k.
template <class Unpack>
void multiply_planes(const PlaneProduct& x, Unpack unpack, cudaStream_t stream) {
  DeviceInt8Product p{.rows = x.buffers.planes_a,
                      .columns = x.buffers.planes_b,
                      .m = x.m,
                      .n = x.n,
                      .moduli = x.pass.layout.moduli,
                      .products = real_products(x.pass.layout.parts),
                      .out = x.buffers.residues,
                      .scratch = x.buffers.sums};
  p.factor.fill(1);
  for (std::int64_t l = 0; l < x.k; l += x.step) {
    const Range ks{l, std::min(x.step, x.k - l)};
    unpack(ks);
    p.pitch = device_pitch(ks.count);
    p.accumulate = l > 0;
    x.engine.multiply(p, stream);
  }
}

// Its residues as elements, ld apart, or added to those there.
inline void pack_planes(const PlaneProduct& x, std::byte* elements, std::int64_t ld, bool adds, cudaStream_t stream) {
  pack_on_device({.products = x.buffers.residues,
                  .m = x.m,
                  .n = x.n,
                  .bytes = static_cast<std::int64_t>(x.pass.layout.bytes()),
                  .moduli = x.pass.layout.moduli,
                  .parts = x.pass.layout.parts,
                  .elements = elements,
                  .ld = ld,
                  .adds = adds},
                 stream);
}

// Elements on the device, as x describes them, to planes.
inline void unpack_planes(const PassData& pass, const DeviceInt8Engine& engine, const ElementView<const std::byte>& x,
                          std::int64_t vectors, std::int64_t ks, std::uint8_t* planes, cudaStream_t stream) {
  unpack_on_device({.elements = x.data,
                    .vectors = vectors,
                    .k = ks,
                    .bytes = static_cast<std::int64_t>(x.bytes),
                    .k_contiguous = x.k_contiguous,
                    .moduli = pass.layout.moduli,
                    .products = real_products(pass.layout.parts),
                    .form = engine.form(),
                    .planes = planes,
                    .ld = x.ld},
                   stream);
}

// Residues of a block of C, on planes that fit into memory.
class BlockProduct {
 public:
  BlockProduct(const PassData& pass, const ElementProduct& product, cudaStream_t stream)
      : pass_(pass), product_(product), stream_(stream), engine_(find_device_int8_engine("")) {
    block_ = choose_element_block(pass.layout, product, device_of(engine_));
    if (block_.m == 0)
      fail(Status::out_of_memory, "{}: a product of {} x {} x {} elements: no device memory for its planes",
           "DistributedProduct", product.m, product.n, product.k);
    Arena count;
    carve_planes(count, pass.layout, block_, engine_.sums_in_memory());
    memory_.emplace(count.used(), stream);
    Arena arena = memory_->arena();
    buffers_ = carve_planes(arena, pass.layout, block_, engine_.sums_in_memory());
  }

  void run() const {
    for (std::int64_t j = 0; j < product_.n; j += block_.n)
      for (std::int64_t i = 0; i < product_.m; i += block_.m)
        run({i, std::min(block_.m, product_.m - i)}, {j, std::min(block_.n, product_.n - j)});
  }

 private:
  void run(Range rows, Range columns) const {
    const PlaneProduct x{pass_, engine_, buffers_, rows.count, columns.count, product_.k, block_.k};
    const auto unpack = [&](const ElementView<const std::byte>& view, Range vectors, Range ks, std::uint8_t* planes) {
      const ElementView<const std::byte> part{view.at(vectors.begin, ks.begin), view.ld, view.k_contiguous, view.bytes};
      unpack_planes(pass_, engine_, part, vectors.count, ks.count, planes, stream_);
    };
    multiply_planes(
        x,
        [&](Range ks) {
          unpack(product_.a, rows, ks, buffers_.planes_a);
          unpack(product_.b, columns, ks, buffers_.planes_b);
        },
        stream_);
    const auto at = static_cast<std::size_t>(rows.begin + columns.begin * product_.ldc);
    pack_planes(x, product_.c + product_.a.bytes * at, product_.ldc, true, stream_);
  }

  const PassData& pass_;
  const ElementProduct& product_;
  cudaStream_t stream_;
  const DeviceInt8Engine& engine_;
  ElementBlock block_;
  std::optional<DeviceWorkspace> memory_;
  ElementBuffers buffers_;
};

}  // namespace vernier::cuda
