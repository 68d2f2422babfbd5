#include "residue/bound/bound_buffers.hpp"

#include "number/bound_byte.hpp"
#include "residue/residues.hpp"
#include "vernier/level3.hpp"

namespace vernier::cuda {

BoundProduct fp8_bound_product() {
  // Each instruction aligns 32 products and a sum to the largest, and cuts 34 times below 2^-13 of the result.
  constexpr double cut = 1.25, chunk = 34.0 * (bound_chunk_k / bound_step_k) / 8192;
  return {.lower = 1,
          .upper = cut * cut * (1 + chunk) * (1 + 0x1p-10),
          .unit = 2 * bound_byte_top,
          .kept_bits = bound_byte_kept};
}

BoundProduct fp8_part_product() {
  BoundProduct product = fp8_bound_product();
  product.kept_bits = -1;  // a sum of zeros says nothing of what is left out
  return product;
}

BoundChoices bound_choices(int most) {
  BoundChoices choices{.most = most};
  for (int c = 1; c <= max_moduli; ++c) choices.log2_bound[static_cast<std::size_t>(c)] = log2_bound_of(c);
  return choices;
}

BoundChoices bound_choices(const RouteClasses& classes) {
  BoundChoices choices{.most = classes.count == 0 ? 0 : classes.moduli[classes.count - 1]};
  choices.log2_bound.fill(-1);
  for (int c = 0; c < classes.count; ++c)
    choices.log2_bound[static_cast<std::size_t>(classes.moduli[c])] = classes.log2_bound[c];
  return choices;
}

DeviceBoundBuffers carve_device_bound(Arena& arena, const ProductShape& shape) {
  DeviceBoundBuffers b;
  const auto pitch = static_cast<std::size_t>(device_pitch(shape.k));
  for (const Side side : both_sides) {
    const std::int64_t vectors = side == Side::left ? shape.m : shape.n;
    const auto count = static_cast<std::size_t>(bound_vectors(vectors));
    BoundVectorsOnDevice& x = b.side[side];
    x.side = {arena.take<float>(count), arena.take<float>(count), arena.take<float>(count),
              arena.take<unsigned>(count)};
    x.tops = arena.take<int>(count);
    x.bytes = arena.take<std::uint8_t>(static_cast<std::size_t>(vectors) * pitch);
  }
  b.found = arena.take<BoundFindings>(1);
  const std::size_t before = arena.used();
  for (const Side side : both_sides)
    b.side[side].filled = arena.take<std::uint32_t>(filled_words(side == Side::left ? shape.m : shape.n, shape.k));
  b.filled_bytes = arena.used() - before;
  b.codes = arena.take<std::uint8_t>(static_cast<std::size_t>(product_units(shape.m, shape.n).plane_bytes()));
  b.sample.pitch = device_pitch(shape.k);
  for (float*& vectors : b.sample.vectors) vectors = arena.take<float>(bound_sampled * pitch);
  b.sample.entries = arena.take<BoundSampleEntry>(bound_sampled * bound_sampled);
  b.sample.squares = arena.take<double>(2 * bound_sampled);
  b.sample.words = arena.take<BoundSampleWords>(1);
  return b;
}

}  // namespace vernier::cuda
