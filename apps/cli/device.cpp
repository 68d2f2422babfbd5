#include "device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#if VERNIER_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace vernier::cli {

#if VERNIER_HAS_CUDA
namespace {

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  const Status status = code == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::device_error;
  throw Error(status, fmt::format("{}: {}", what, cudaGetErrorString(code)));
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, current_device()), "cudaDeviceGetAttribute");
  return value;
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// The few functions of NVML that are needed, found at run time: it comes with the driver.
class Nvml {
 public:
  Nvml() {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library_ == nullptr) missing("libnvidia-ml.so.1");
    if (find<int()>("nvmlInit_v2")() != 0) missing("nvmlInit");
    char bus[32] = {};
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, current_device()), "cudaDeviceGetPCIBusId");
    if (find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2")(bus, &device_) != 0) missing("the device");
  }

  double joules() const {
    unsigned long long millijoules = 0;
    if (find<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption")(device_, &millijoules) != 0)
      missing("the device's energy");
    return 1e-3 * static_cast<double>(millijoules);
  }

 private:
  [[noreturn]] static void missing(const char* what) {
    throw Error(Status::unsupported, fmt::format("energy: NVML does not offer {}", what));
  }

  template <class F>
  F* find(const char* name) const {
    auto* function = reinterpret_cast<F*>(dlsym(library_, name));
    if (function == nullptr) missing(name);
    return function;
  }

  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace

void* allocate_on_device(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}

void free_on_device(void* memory) noexcept { cudaFree(memory); }

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the device");
}

void copy_from_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy from the device");
}

void wait_for_device() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

double device_seconds(const std::function<void()>& queue) {
  const Event start, end;
  check(cudaEventRecord(start.get()), "cudaEventRecord");
  queue();
  check(cudaEventRecord(end.get()), "cudaEventRecord");
  check(cudaEventSynchronize(end.get()), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "cudaEventElapsedTime");
  return 1e-3 * milliseconds;
}

DeviceFacts device_facts() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, current_device()), "cudaGetDeviceProperties");
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  constexpr double fp32_units = 128;  // of a multiprocessor, from compute capability 8.6 on, and of 9.0
  const double clock = 1e3 * attribute(cudaDevAttrClockRate);
  return {properties.name, fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10),
          2 * fp32_units * attribute(cudaDevAttrMultiProcessorCount) * clock};
}

double device_joules() {
  static const Nvml nvml;
  return nvml.joules();
}

#else

namespace {
[[noreturn]] void missing() { throw Error(Status::unsupported, "this build has no CUDA part"); }
}  // namespace

void* allocate_on_device(std::size_t) { missing(); }
void free_on_device(void*) noexcept {}
void copy_to_device(void*, const void*, std::size_t) { missing(); }
void copy_from_device(void*, const void*, std::size_t) { missing(); }
void wait_for_device() { missing(); }
double device_seconds(const std::function<void()>&) { missing(); }
DeviceFacts device_facts() { missing(); }
double device_joules() { missing(); }

#endif

}  // namespace vernier::cli
