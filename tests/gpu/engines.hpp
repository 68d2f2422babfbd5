// The int8 engine that calls take which name none: Hopper's own, or with VERNIER_GPU_KERNELS=any the one of other GPUs.
#pragma once

#include <string>

#include "engine/int8_engine_cuda.hpp"

namespace vernier::test {

inline std::string usual_engine() { return std::string(cuda::find_device_int8_engine("").name()); }

}  // namespace vernier::test
