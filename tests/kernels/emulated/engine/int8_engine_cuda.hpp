// Stands in for src/engine/int8_engine_cuda.hpp: one engine, which multiplies by the definition.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cuda/gate.hpp"
#include "cuda_runtime_api.h"
#include "engine/entry_filter.hpp"
#include "engine/panel_cuda.hpp"
#include "number/byte_reduction.hpp"
#include "number/moduli.hpp"

namespace vernier::emulated {

struct Int8Product {
  const std::uint8_t *rows = nullptr, *columns = nullptr;
  std::int64_t m = 0, n = 0, pitch = 0;
  int moduli = 0, products = 1;
  std::array<int, max_moduli> factor{};
  bool accumulate = false;
  std::int8_t* out = nullptr;
  Gate gate;
  EntryFilter wanted;
  std::int32_t* scratch = nullptr;
};

class Int8Engine {
 public:
  ByteForm form() const { return ByteForm::natural; }
  std::int64_t longest_k() const { return 128; }  // so that products go in steps
  bool sums_in_memory() const { return false; }

  void multiply(const Int8Product& p, cudaStream_t) const {
    const ProductUnits units = product_units(p.m, p.n);
    for (std::int64_t plane = 0; plane < std::int64_t{p.moduli} * p.products; ++plane)
      for (std::int64_t j = 0; j < p.n; ++j)
        for (std::int64_t i = 0; i < p.m; ++i) {
          const auto q = static_cast<std::size_t>(plane / p.products);
          std::int8_t& out =
              p.out[plane * units.plane_bytes() + (j / unit_columns * units.down + i / unit_rows) * unit_bytes +
                    unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns))];
          std::int64_t sum = p.accumulate ? out : 0;
          for (std::int64_t l = 0; l < p.pitch; ++l)
            sum += p.factor[q] * p.rows[(plane * p.m + i) * p.pitch + l] * p.columns[(plane * p.n + j) * p.pitch + l];
          out = static_cast<std::int8_t>(symmetric_residue(sum, vernier::moduli[q]));
        }
  }
};

}  // namespace vernier::emulated

namespace vernier::cuda {

using DeviceInt8Product = emulated::Int8Product;
using DeviceInt8Engine = emulated::Int8Engine;
[[maybe_unused]] static const DeviceInt8Engine& find_device_int8_engine(std::string_view) {  // the library has another
  static const DeviceInt8Engine engine;
  return engine;
}

}  // namespace vernier::cuda
