#include "residue/recombine/update_loop.hpp"

VERNIER_UPDATE_OF(avx2)
