#include "cuda/device.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

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
  std::memcpy(device.name, properties.name, sizeof(device.name));
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
  if (std::string none = missing_device(); !none.empty()) return none;
  const Device& device = current_device();
  if (device.compute_capability >= least) return "";
  return fmt::format("compute capability {}.{} or later is needed ({} has {}.{})", least / 10, least % 10, device.name,
                     device.compute_capability / 10, device.compute_capability % 10);
}

namespace {

std::string_view asked_kernels() {
  static const std::string_view asked = [] {
    const char* const variable = std::getenv("VERNIER_GPU_KERNELS");
    return std::string_view(variable == nullptr ? "" : variable);
  }();
  if (!asked.empty() && asked != "any" && asked != "8.0")
    fail(Status::invalid_argument, "VERNIER_GPU_KERNELS={}: expected any, 8.0, or nothing for the kernels of this GPU",
         asked);
  return asked;
}

}  // namespace

bool kernels_of_any_gpu() { return !asked_kernels().empty(); }

bool takes_later_kernels() {
  const Device& device = current_device();
  return device.compute_capability >= 90 && device.shared_memory_per_block >= later_shared_memory &&
         asked_kernels() != "8.0";
}

bool takes_hopper_kernels() { return current_device().hopper() && !kernels_of_any_gpu(); }

namespace {

struct Spare {
  std::mutex mutex;
  std::multimap<int, Stream> streams;  // by device
};

// Never destroyed: the driver may be gone by then.
Spare& spare() {
  static auto& all = *new Spare;
  return all;
}

Stream kept_or_new(int device) {
  {
    const std::lock_guard lock(spare().mutex);
    if (auto kept = spare().streams.extract(device)) return std::move(kept.mapped());
  }
  return {};
}

}  // namespace

KeptStream::KeptStream() : device_(current_device().number), stream_(kept_or_new(device_)) {}

KeptStream::~KeptStream() {
  const cudaError_t code = cudaStreamQuery(stream_);
  if (code != cudaSuccess) (void)cudaGetLastError();
  if (code != cudaSuccess && code != cudaErrorNotReady) return;
  try {
    const std::lock_guard lock(spare().mutex);
    spare().streams.emplace(device_, std::move(stream_));
  } catch (const std::bad_alloc&) {  // it is not kept
  }
}

}  // namespace vernier::cuda
