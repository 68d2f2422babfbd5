// Elements on a GPU: their residues go to an engine's planes, and residues of the product come back as elements.
#pragma once

#include <algorithm>
#include <array>

#include "cuda/launch.hpp"
#include "residue/partial_gpu/part_kernels.hpp"

namespace vernier::cuda {

inline constexpr int packing_threads = 256;
inline constexpr int unpacked_each = 4;  // of k, for a thread: a word of each plane

struct ElementModuli {
  std::array<short, max_moduli> p{};

  ElementModuli() { std::copy(moduli.begin(), moduli.end(), p.begin()); }
};

__device__ inline std::uint32_t byte_of(int residue, int p, ByteForm form) {
  return static_cast<std::uint32_t>(residue + (form == ByteForm::natural && residue < 0 ? p : 0)) & 255;
}

// A thread: one vector, so many k, all planes.
__global__ void __launch_bounds__(packing_threads)
    unpack_elements(const __grid_constant__ ElementPlanes x, const __grid_constant__ ElementModuli moduli) {
  const std::int64_t pitch = device_pitch(x.k), chunks = pitch / unpacked_each;
  const std::int64_t item = std::int64_t{blockIdx.x} * packing_threads + threadIdx.x;
  const std::int64_t vector = item / chunks, first = item % chunks * unpacked_each;
  if (vector >= x.vectors) return;
  const auto* elements = reinterpret_cast<const std::int8_t*>(x.elements);
  const auto at = [&](std::int64_t l) {
    return elements + (x.k_contiguous ? l + vector * x.ld : vector + l * x.ld) * x.bytes;
  };
  for (int q = 0; q < x.moduli; ++q)
    for (int product = 0; product < x.products; ++product) {
      const int p = moduli.p[static_cast<std::size_t>(q)];
      std::uint32_t word = 0;
      for (int i = 0; i < unpacked_each; ++i)
        if (first + i < x.k)
          word |= byte_of(factor_residue(at(first + i), x.moduli, q, p, product), p, x.form) << (8 * i);
      const std::int64_t row = (q * x.products + product) * x.vectors + vector;
      *reinterpret_cast<std::uint32_t*>(x.planes + row * pitch + first) = word;
    }
}

// A thread: one element.
__global__ void __launch_bounds__(packing_threads)
    pack_elements(const __grid_constant__ ProductElements x, const __grid_constant__ ElementModuli moduli) {
  const std::int64_t item = std::int64_t{blockIdx.x} * packing_threads + threadIdx.x;
  if (item >= x.m * x.n) return;
  const std::int64_t i = item % x.m, j = item / x.m;
  const ProductUnits units = product_units(x.m, x.n);
  const std::int64_t plane = units.plane_bytes(),
                     at = (j / unit_columns * units.down + i / unit_rows) * unit_bytes +
                          unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns));
  auto* element = reinterpret_cast<std::int8_t*>(x.elements) + (i + j * x.ld) * x.bytes;
  const auto put = [&](int at, int p, int residue) {
    element[at] = static_cast<std::int8_t>(x.adds ? reduced<2>(element[at] + residue, p) : residue);
  };
  if (!x.adds)
    for (std::int64_t b = x.parts * x.moduli; b < x.bytes; ++b) element[b] = 0;
  for (int q = 0; q < x.moduli; ++q) {
    const std::int8_t* from = x.products + q * real_products(x.parts) * plane + at;
    const int p = moduli.p[static_cast<std::size_t>(q)];
    if (x.parts == 1) {
      put(q, p, reduced<2>(*from, p));  // an engine's may lie one beyond
      continue;
    }
    const ProductResidues r = complex_residues(from[0], from[plane], from[2 * plane], p);
    put(q, p, r.real);
    put(x.moduli + q, p, r.imaginary);
  }
}

inline LaunchShape element_launch(std::int64_t items) {
  return {.grid = dim3(static_cast<unsigned>(divide_up(items, packing_threads))), .block = dim3(packing_threads)};
}

inline void launch_unpack(const ElementPlanes& x, cudaStream_t stream) {
  launch("unpack_elements", unpack_elements, element_launch(x.vectors * device_pitch(x.k) / unpacked_each), stream, x,
         ElementModuli());
}

inline void launch_pack(const ProductElements& x, cudaStream_t stream) {
  launch("pack_elements", pack_elements, element_launch(x.m * x.n), stream, x, ElementModuli());
}

}  // namespace vernier::cuda
