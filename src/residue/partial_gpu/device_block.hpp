// A product of elements in device memory, block by block on planes that fit there.
#pragma once

#include <algorithm>
#include <optional>

#include "base/status.hpp"
#include "engine/int8_engine_cuda.hpp"
#include "product/device_memory.hpp"
#include "product/range.hpp"
#include "residue/partial/element_parts.hpp"
#include "residue/partial_gpu/device_product.hpp"
#include "residue/partial_gpu/element_kernels.hpp"

namespace vernier::cuda {

// Processes may share the GPU, and pageable copies gain nothing from more.
inline ElementDevice device_of(const DeviceInt8Engine& engine) {
  constexpr std::size_t most = std::size_t{4} << 30, share = 4;
  return {std::min(most, available_device_memory() / share), engine.longest_k(), engine.sums_in_memory()};
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
    DeviceInt8Product p{.rows = buffers_.planes_a,
                        .columns = buffers_.planes_b,
                        .m = rows.count,
                        .n = columns.count,
                        .moduli = pass_.layout.moduli,
                        .products = real_products(pass_.layout.parts),
                        .out = buffers_.residues,
                        .scratch = buffers_.sums};
    p.factor.fill(1);
    for (std::int64_t l = 0; l < product_.k; l += block_.k) {
      const std::int64_t ks = std::min(block_.k, product_.k - l);
      unpack(product_.a, rows, {l, ks}, buffers_.planes_a);
      unpack(product_.b, columns, {l, ks}, buffers_.planes_b);
      p.pitch = device_pitch(ks);
      p.accumulate = l > 0;
      engine_.multiply(p, stream_);
    }
    pack_on_device({.products = buffers_.residues,
                    .m = rows.count,
                    .n = columns.count,
                    .bytes = static_cast<std::int64_t>(product_.a.bytes),
                    .moduli = pass_.layout.moduli,
                    .parts = pass_.layout.parts,
                    .elements = product_.c +
                                product_.a.bytes * static_cast<std::size_t>(rows.begin + columns.begin * product_.ldc),
                    .ld = product_.ldc,
                    .adds = true},
                   stream_);
  }

  void unpack(const ElementView<const std::byte>& x, Range vectors, Range ks, std::uint8_t* planes) const {
    unpack_on_device({.elements = x.at(vectors.begin, ks.begin),
                      .vectors = vectors.count,
                      .k = ks.count,
                      .bytes = static_cast<std::int64_t>(x.bytes),
                      .k_contiguous = x.k_contiguous,
                      .moduli = pass_.layout.moduli,
                      .products = real_products(pass_.layout.parts),
                      .form = engine_.form(),
                      .planes = planes,
                      .ld = x.ld},
                     stream_);
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
