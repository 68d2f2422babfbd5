#include "residue/quad/round_dd_loop.hpp"

const vernier::DdLoops vernier::dd_loops_avx512 = dd_loops;
