// As loops_avx2.cpp; others have loops of their own for AVX-512.
#include "residue/partial/scan_loop.hpp"
#include "residue/scale/block_spans_loop.hpp"

VERNIER_BLOCK_SPANS_OF(avx512)
VERNIER_SCAN_LOOPS_OF(avx512)
