#include "cuda/hopper.hpp"

#include <cstdlib>
#include <string_view>

#include "base/status.hpp"
#include "cuda/device.hpp"

namespace vernier::cuda {

bool kernels_of_any_gpu() {
  static const std::string_view asked = [] {
    const char* const variable = std::getenv("VERNIER_GPU_KERNELS");
    return std::string_view(variable == nullptr ? "" : variable);
  }();
  if (!asked.empty() && asked != "any")
    fail(Status::invalid_argument, "VERNIER_GPU_KERNELS={}: expected any, or nothing for the kernels of this GPU",
         asked);
  return asked == "any";
}

bool takes_hopper_kernels() { return current_device().hopper() && !kernels_of_any_gpu(); }

}  // namespace vernier::cuda
