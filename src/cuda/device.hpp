// The current CUDA device, owners of its memory, streams and events, and whether kernels written for Hopper are taken.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <iosfwd>
#include <utility>

#include "cuda/status.hpp"

namespace vernier::cuda {

// What plans and kernels ask of a device.
struct Device {
  int number = 0;
  char name[sizeof(cudaDeviceProp::name)] = {};
  int compute_capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  double clock = 0, memory_rate = 0;        // cycles a second at most; bytes a second
  std::size_t shared_memory_per_block = 0;  // that a block may opt in to
  std::size_t l2_bytes = 0, memory_bytes = 0;
  int driver_version = 0, runtime_version = 0;  // 13000 for 13.0

  bool hopper() const { return compute_capability == 90; }  // sm_90a code runs on 9.0 alone
};

// Why no device can be used ("no CUDA device: ..."), or "".
std::string missing_device();

// The calling thread's current device; throws Error(Status::unsupported) with missing_device() where there is none.
// Queried once per device and process.
const Device& current_device();

// Why no device, or not the current one, serves what needs compute capability `least`, 80 for 8.0; or "".
std::string too_old(int least);

// Is the stream recording a graph?
inline bool capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

// From host to device memory. Unlike after cudaMemcpy, which may return while a copy of pageable memory is still on its
// way, streams that do not wait for the default one find the data too.
inline void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the device");
  check(cudaStreamSynchronize(nullptr), "copy to the device");
}

// While it lives, allocations of this thread do not disturb captures, its own or those of other threads.
class CaptureTolerance {
 public:
  CaptureTolerance() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~CaptureTolerance() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  CaptureTolerance(const CaptureTolerance&) = delete;
  CaptureTolerance& operator=(const CaptureTolerance&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then the mode that was in force before
};

// count objects of T in device memory, uninitialised.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    if (count != 0) check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "cudaMalloc");
  }
  ~DeviceBuffer() { (void)cudaFree(data_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  void swap(DeviceBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~Stream() {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}

  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { (void)cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  operator cudaEvent_t() const { return event_; }
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

  float milliseconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, event_), "cudaEventElapsedTime");
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// VERNIER_GPU_KERNELS=any: the GPU runs no kernels of Hopper's own; 8.0: what compute capability 8.0 has. Another value
// than these or nothing is an error.
bool kernels_of_any_gpu();

// Kernels that take clusters of blocks, bulk copies and the room of compute capability 9.0 and 10.0 for both.
inline constexpr std::size_t later_shared_memory = 200 * 1024;
bool takes_later_kernels();

// The current device is a Hopper GPU, and its kernels are not left alone.
bool takes_hopper_kernels();

// A stream of the current device, for one thread at a time. The process keeps it for the next one unless its work has
// failed: to make one for each piece of work takes longer than small pieces do.
class KeptStream {
 public:
  KeptStream();
  ~KeptStream();
  KeptStream(const KeptStream&) = delete;
  KeptStream& operator=(const KeptStream&) = delete;

  operator cudaStream_t() const { return stream_; }
  void wait() const { stream_.wait(); }

 private:
  int device_;
  Stream stream_;
};

}  // namespace vernier::cuda
