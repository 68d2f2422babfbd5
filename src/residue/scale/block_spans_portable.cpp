#include "residue/scale/block_spans_loop.hpp"

VERNIER_BLOCK_SPANS_OF(portable)
