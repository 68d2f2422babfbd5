#include "engine/amx_tile.hpp"
#include "engine/bound/bound_loop.hpp"

namespace vernier {

void multiply_bound_strips_amx(const BoundStrips& strips) { multiply_bound_strips<AmxTile>(strips); }

}  // namespace vernier
