#include "residue/quad/round_dd_loop.hpp"

const vernier::DdLoops vernier::dd_loops_avx2 = dd_loops;
