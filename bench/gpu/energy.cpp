#include "energy.hpp"

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "cuda/shared_library.hpp"

namespace vernier::bench {
namespace {

// NVML's C interface, as far as it is used here: a toolkit need not have its header.
using NvmlDevice = void*;
struct NvmlFunctions {
  cuda::SharedLibrary library{"libnvidia-ml", "NVML", {".so.1"}};
  int (*init)() = library.find("nvmlInit_v2");
  int (*device_of_bus)(const char* bus_id, NvmlDevice* device) = library.find("nvmlDeviceGetHandleByPciBusId_v2");
  int (*total_energy)(NvmlDevice device,
                      unsigned long long* millijoules) = library.find("nvmlDeviceGetTotalEnergyConsumption");
  const char* (*message)(int code) = library.find("nvmlErrorString");
  std::string missing = start();

  std::string start() const {
    if (!library.missing().empty()) return library.missing();
    const int code = init();
    return code == 0 ? "" : std::string("NVML: ") + message(code);
  }
};

const NvmlFunctions& nvml_functions() {
  static const NvmlFunctions loaded;
  return loaded;
}

// "" and the device, or what is missing.
std::string find_device(NvmlDevice& device) {
  const std::string none = cuda::missing_device();
  if (!none.empty()) return none;
  const NvmlFunctions& f = nvml_functions();
  if (!f.missing.empty()) return f.missing;
  char bus_id[32];
  cuda::check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, cuda::current_device().number), "cudaDeviceGetPCIBusId");
  if (const int code = f.device_of_bus(bus_id, &device); code != 0)
    return std::string("NVML: device ") + bus_id + ": " + f.message(code);
  unsigned long long millijoules = 0;
  const int code = f.total_energy(device, &millijoules);
  return code == 0 ? "" : std::string("NVML: energy of ") + bus_id + ": " + f.message(code);
}

}  // namespace

std::string EnergyMeter::missing() {
  NvmlDevice device = nullptr;
  return find_device(device);
}

EnergyMeter::EnergyMeter() {
  const std::string what = find_device(device_);
  if (!what.empty()) fail(Status::unsupported, "{}", what);
}

double EnergyMeter::joules() const {
  unsigned long long millijoules = 0;
  if (const int code = nvml_functions().total_energy(device_, &millijoules); code != 0)
    fail(Status::device_error, "nvmlDeviceGetTotalEnergyConsumption: {}", nvml_functions().message(code));
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace vernier::bench
