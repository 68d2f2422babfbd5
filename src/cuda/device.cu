#include "cuda/device.hpp"

#include <map>
#include <mutex>

namespace vernier::cuda {
namespace {

Device query(int number) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
  Device device;
  device.number = number;
  device.name = properties.name;
  device.compute_capability = 10 * properties.major + properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.shared_memory_per_block = properties.sharedMemPerBlockOptin;
  device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  device.memory_bytes = properties.totalGlobalMem;
  check(cudaDriverGetVersion(&device.driver_version), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&device.runtime_version), "cudaRuntimeGetVersion");
  return device;
}

}  // namespace

std::string missing_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return "";
  (void)cudaGetLastError();
  return std::string("no CUDA device: ") + cudaGetErrorString(code == cudaSuccess ? cudaErrorNoDevice : code);
}

const Device& current_device() {
  static std::mutex mutex;
  static std::map<int, Device> devices;  // whose elements stay where they are
  int number = 0;
  if (cudaGetDevice(&number) != cudaSuccess || !missing_device().empty())
    fail(Status::unsupported, "{}", missing_device());
  const std::lock_guard lock(mutex);
  const auto found = devices.find(number);
  return found != devices.end() ? found->second : devices.emplace(number, query(number)).first->second;
}

}  // namespace vernier::cuda
