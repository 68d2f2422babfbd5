// Rates of the current GPU for the estimates (product/plan/current_gpu.hpp).
#pragma once

#include <string>

namespace vernier {

// In place of what the file had for it; where there is no GPU, nothing is done.
void measure_gpu(const std::string& file, const std::string& date);

}  // namespace vernier
