#include "residue/quad/round_dd_loop.hpp"

VERNIER_DD_LOOPS_OF(portable)
