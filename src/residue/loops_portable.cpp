// As loops_avx2.cpp; those of contract exact are in exact_portable.cpp.
#include "residue/partial/scan_loop.hpp"
#include "residue/recombine/update_loop.hpp"
#include "residue/scale/block_spans_loop.hpp"

VERNIER_BLOCK_SPANS_OF(portable)
VERNIER_SCAN_LOOPS_OF(portable)
VERNIER_UPDATE_OF(portable)
