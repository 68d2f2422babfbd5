#include "residue/exact/exact_loop.hpp"

VERNIER_EXACT_LOOPS_OF(avx2)
