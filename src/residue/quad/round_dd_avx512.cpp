#include "residue/quad/round_dd_loop.hpp"

namespace vernier {

void round_dd_tile_avx512(const LeadingTile& tile, const DdTask& task, DdTile& out) { round_dd_tile(tile, task, out); }

}  // namespace vernier
