#include "residue/quad/round_dd_loop.hpp"

const vernier::DdLoops vernier::dd_loops_portable = dd_loops;
