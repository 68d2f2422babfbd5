// Rates of this machine before a program starts: see measure_rates() in vernier.hpp.
#pragma once

#include <vernier/vernier.hpp>

namespace vernier {

// Times products on `threads` threads (0: OpenMP's choice) where the file of rates has none for them with this
// processor and BLAS, or those of a busy moment: the native product takes two thirds of its time there, or less. This
// takes some tenths of a second; the times are added to the file. Returns the file's name; "" where nothing was
// measured: the times are there, or come from another process that was measuring, VERNIER_RATES is "none", no method
// but the native product may win here, or the file cannot be written.
VERNIER_API std::string measure_missing_rates(int threads = 0);

}  // namespace vernier
