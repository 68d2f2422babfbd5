#include "residue/partial/scan_loop.hpp"

VERNIER_SCAN_LOOPS_OF(avx2)
