// The loops that are the same source for every set of instructions.
#include "residue/exact/exact_loop.hpp"
#include "residue/partial/scan_loop.hpp"
#include "residue/recombine/update_loop.hpp"
#include "residue/scale/block_spans_loop.hpp"

VERNIER_BLOCK_SPANS_OF(avx2)
VERNIER_EXACT_LOOPS_OF(avx2)
VERNIER_SCAN_LOOPS_OF(avx2)
VERNIER_UPDATE_OF(avx2)
