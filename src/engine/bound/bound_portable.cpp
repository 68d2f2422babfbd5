#include "base/cpu_features.hpp"
#include "engine/bound/bound_loop.hpp"
#include "engine/int8_engine.hpp"

namespace vernier {

#if VERNIER_X86
void multiply_bound_strips_amx(const BoundStrips& strips);
#endif

void take_bound_block_portable(const BoundBlock& block) {
  for (std::int64_t j = 0; j < block.columns; j += bound_side) {
    BoundBlock part = bound_block_from(block, 0, j);
    part.columns = std::min<std::int64_t>(bound_side, block.columns - j);
    take_bound_columns(part, [&](std::int64_t t) { return block.s + t * bound_side + j * block.ld; });
  }
}

const BoundTiles* bound_tiles() {
#if VERNIER_X86
  static const bool usable = missing_features(InstructionSet::amx_bf16).empty();
  static const BoundTiles tiles{configure_amx_tiles, release_amx_tiles, multiply_bound_strips_amx};
  return usable ? &tiles : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace vernier
