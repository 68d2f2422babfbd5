// Threads of the BLAS underneath, and what the machine is.
#pragma once

#include <string>
#include <vernier/vernier.hpp>

namespace vernier::cli {

// False where the library offers no such call (OpenBLAS and MKL do); 0 threads leaves it as it is.
bool set_native_threads(int threads);

std::string cpu_model();

// OpenMP thread t of `threads` to the t-th processor that this process may use, round robin.
void pin_threads(int threads);

}  // namespace vernier::cli
