// What the results were found on.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <stdexcept>

#include "runner.hpp"

namespace vernier::model::gpu {
namespace {

// Of the kernel driver, from NVML; "" if it cannot be asked.
std::string driver_version() {
  char text[96] = "";
  if (void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    const auto init = reinterpret_cast<int (*)()>(dlsym(nvml, "nvmlInit_v2"));
    const auto version = reinterpret_cast<int (*)(char*, unsigned)>(dlsym(nvml, "nvmlSystemGetDriverVersion"));
    if (init == nullptr || version == nullptr || init() != 0 || version(text, sizeof text) != 0) text[0] = '\0';
  }
  return text;
}

std::string dotted(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_device() {
  cudaDeviceProp device{};
  int driver = 0, runtime = 0;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || cudaDriverGetVersion(&driver) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess)
    throw std::runtime_error("the CUDA device does not say what it is");
  return {{"device", device.name},
          {"compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
          {"driver", driver_version()},
          {"cuda_driver", dotted(driver)},
          {"cuda_runtime", dotted(runtime)}};
}

}  // namespace vernier::model::gpu
