// What an int8 engine needs of the current GPU.
#pragma once

#include <string>

#include "base/fmt.hpp"
#include "cuda/device.hpp"

namespace vernier::cuda {

// Why the current device does not serve what needs compute capability `least`, 80 for 8.0; or "".
inline std::string too_old(int least) {
  const Device& device = current_device();
  if (device.compute_capability >= least) return "";
  return fmt::format("compute capability {}.{} or later is needed ({} has {}.{})", least / 10, least % 10, device.name,
                     device.compute_capability / 10, device.compute_capability % 10);
}

}  // namespace vernier::cuda
