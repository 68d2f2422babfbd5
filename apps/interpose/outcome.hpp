// What a finished call says about the next one of its shape.
#pragma once

#include <cstring>

namespace vernier::interpose {

// Would the library underneath have made it sooner? Data that are too wide for residues cost an attempt before the
// native product; but a GPU that then multiplies matrices of the host natively ("cublas") has still not been in vain.
inline bool tried_in_vain(bool fallback, const char* scheme) { return fallback && std::strcmp(scheme, "cublas") != 0; }

// Is the next call of its shape passed on, after so many in vain one after the other? Where a GPU may take it, the
// CPU's four turns, by which its time becomes known, are no reason.
inline bool passes_on_next(int vain, bool gpu_may_take_it) { return vain > (gpu_may_take_it ? 4 : 0); }

}  // namespace vernier::interpose
