#include "cuda/device.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "base/status.hpp"

namespace vernier::cuda {
namespace {

double attribute(cudaDeviceAttr which, int number) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, number), "cudaDeviceGetAttribute");
  return value;
}

Device query(int number) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
  Device device;
  device.number = number;
  device.name = properties.name;
  device.compute_capability = 10 * properties.major + properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.clock = 1e3 * attribute(cudaDevAttrClockRate, number);
  // Twice a cycle, a bus of so many bits.
  device.memory_rate =
      2 * 1e3 * attribute(cudaDevAttrMemoryClockRate, number) * attribute(cudaDevAttrGlobalMemoryBusWidth, number) / 8;
  device.shared_memory_per_block = properties.sharedMemPerBlockOptin;
  device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  device.memory_bytes = properties.totalGlobalMem;
  check(cudaDriverGetVersion(&device.driver_version), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&device.runtime_version), "cudaRuntimeGetVersion");
  return device;
}

// cudaErrorInsufficientDriver is the answer where there is no driver, too.
std::string words_of(cudaError_t code) {
  int driver = 0, runtime = 0;
  if (code != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess)
    return cudaGetErrorString(code);
  if (driver == 0) return "there is no NVIDIA driver";
  return fmt::format("the driver is made for CUDA {}.{}; {}.{} is needed", driver / 1000, driver % 1000 / 10,
                     runtime / 1000, runtime % 1000 / 10);
}

}  // namespace

std::string missing_device() {
  static std::atomic<bool> found = false;  // a device that was there once stays; every product asks
  if (found) return "";
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) {
    found = true;
    return "";
  }
  (void)cudaGetLastError();
  return "no CUDA device: " + words_of(code == cudaSuccess ? cudaErrorNoDevice : code);
}

const Device& current_device() {
  static std::mutex mutex;
  static std::map<int, Device> devices;  // whose elements stay where they are
  thread_local const Device* last = nullptr;
  int number = 0;
  const cudaError_t code = cudaGetDevice(&number);
  if (code == cudaSuccess && last != nullptr && last->number == number) return *last;
  if (code != cudaSuccess || !missing_device().empty()) fail(Status::unsupported, "{}", missing_device());
  const std::lock_guard lock(mutex);
  const auto found = devices.find(number);
  last = found != devices.end() ? &found->second : &devices.emplace(number, query(number)).first->second;
  return *last;
}

std::string too_old(int least) {
  const Device& device = current_device();
  if (device.compute_capability >= least) return "";
  return fmt::format("compute capability {}.{} or later is needed ({} has {}.{})", least / 10, least % 10, device.name,
                     device.compute_capability / 10, device.compute_capability % 10);
}

}  // namespace vernier::cuda
