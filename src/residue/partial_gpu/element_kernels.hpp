// Elements on a GPU, one behind the other: from and to what its engines multiply (engine/panel_cuda.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "engine/panel_cuda.hpp"
#include "number/byte_reduction.hpp"
#include "residue/partial/element_parts.hpp"

namespace vernier::cuda {

// Elements of vectors along k, of bytes each -> [modulus][real product][vector][device_pitch(k)].
struct ElementPlanes {
  const std::byte* elements = nullptr;
  std::int64_t vectors = 0, k = 0, bytes = 0;
  bool k_contiguous = false;
  int moduli = 0, products = 1;
  ByteForm form = ByteForm::natural;
  std::uint8_t* planes = nullptr;
  std::int64_t ld = 0;  // elements from a vector to the next, or from a k to the next where vectors lie side by side
};
void unpack_on_device(const ElementPlanes& planes, cudaStream_t stream);

// Residues of all real products, product_units(m, n) of each -> elements, m x n by columns that lie ld apart. Where
// they add, the residues are added to those there; else classes are 0.
struct ProductElements {
  const std::int8_t* products = nullptr;
  std::int64_t m = 0, n = 0, bytes = 0;
  int moduli = 0, parts = 1;
  std::byte* elements = nullptr;
  std::int64_t ld = 0;
  bool adds = false;
};
void pack_on_device(const ProductElements& product, cudaStream_t stream);

}  // namespace vernier::cuda
