#include "base/cpu_features.hpp"
#include "engine/bound/bound_loop.hpp"
#include "engine/int8_engine.hpp"

namespace vernier {

#if VERNIER_X86
void multiply_bound_strips_amx(const BoundStrips& strips);
#endif

void take_bound_block_portable(const BoundBlock& block) { take_bound_block(block); }

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
