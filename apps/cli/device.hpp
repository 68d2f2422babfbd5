// A GPU as a caller of vernier/cuda.hpp needs it: memory, time and energy. Without CUDA everything throws
// Error(Status::unsupported).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include <vernier/vernier.hpp>

namespace vernier::cli {

void* allocate_on_device(std::size_t bytes);
void free_on_device(void* memory) noexcept;
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_from_device(void* to, const void* from, std::size_t bytes);  // waits for all work before
void wait_for_device();

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::int64_t count)
      : count_(count), memory_(static_cast<T*>(allocate_on_device(static_cast<std::size_t>(count) * sizeof(T)))) {}
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(static_cast<std::int64_t>(values.size())) {
    copy_to_device(memory_, values.data(), values.size() * sizeof(T));
  }
  ~DeviceArray() { free_on_device(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return memory_; }
  std::vector<T> values() const {
    std::vector<T> out(static_cast<std::size_t>(count_));
    copy_from_device(out.data(), memory_, out.size() * sizeof(T));
    return out;
  }

 private:
  std::int64_t count_;
  T* memory_;
};

// Seconds of the work that `queue` puts on the default stream, from its start to its end on the device.
double device_seconds(const std::function<void()>& queue);

struct DeviceFacts {
  std::string name, driver;  // driver: the CUDA version that it knows
  double fp32_peak = 0;      // FLOP/s: two of every fp32 unit at the highest clock
};
DeviceFacts device_facts();

// Joules that the current device has used since the driver started (NVML); throws where that is not told.
double device_joules();

}  // namespace vernier::cli
