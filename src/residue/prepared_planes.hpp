// Planes of residues as the engines read them, of a block: in the workspace, or cut out of a prepared operand.
#pragma once

#include "engine/panel.hpp"
#include "product/operand.hpp"
#include "product/statistics.hpp"

namespace vernier {

// One strip and slice of k after another; moduli `stride` bytes apart.
struct PlaneView {
  const std::int8_t* planes = nullptr;
  std::size_t stride = 0;
  PanelLayout layout;            // of the planes, which may hold more strips than the block
  std::int64_t first_strip = 0;  // of the block

  const std::int8_t* at(std::size_t modulus, std::int64_t strip, std::int64_t slice) const {
    return planes + modulus * stride + layout.offset(first_strip + strip, slice * layout.slice_steps);
  }
};

// What a product needs of a prepared operand: of all its vectors, and all of k.
struct PreparedPlanes {
  const VectorStatistics* statistics = nullptr;
  const int* exponents = nullptr;  // the ordinary scales, padded to strips with zeros
  const std::int8_t* planes = nullptr;
  std::size_t stride = 0;  // of one modulus; all moduli of a block of k come before the next block
  int moduli = 0;
  std::int64_t vectors = 0, k_block = 0;

  PlaneView of(Range part, Range ks) const {
    const auto block = static_cast<std::size_t>(ks.begin / k_block);
    return {planes + block * static_cast<std::size_t>(moduli) * stride, stride, panel_layout(vectors, ks.count),
            part.begin / strip_size};
  }
};

}  // namespace vernier
