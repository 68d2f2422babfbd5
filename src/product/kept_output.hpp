// A copy of an output in device memory, for routines that may fail once the output is written to.
#pragma once

#include <cstdint>

#include "cuda/device.hpp"
#include "cuda/kept_stream.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {

// Made on a stream of its own, beside what the caller's stream computes before the output is written to.
template <class T>
class KeptOutput {
 public:
  KeptOutput(std::int64_t rows, std::int64_t columns, T* c, std::int64_t ldc, cudaStream_t stream)
      : width_(static_cast<std::size_t>(rows) * sizeof(T)),
        columns_(static_cast<std::size_t>(columns)),
        c_(c),
        pitch_(static_cast<std::size_t>(ldc) * sizeof(T)),
        stream_(stream),
        memory_(width_ * columns_, stream) {
    begin_.record(stream);
    check(cudaStreamWaitEvent(beside_, begin_, 0), "cudaStreamWaitEvent");
    check(cudaMemcpy2DAsync(memory_.data(), width_, c, pitch_, width_, columns_, cudaMemcpyDeviceToDevice, beside_),
          "C");
    end_.record(beside_);
  }
  ~KeptOutput() { (void)cudaStreamWaitEvent(stream_, end_, 0); }  // the memory goes back in the order of the stream
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;

  // Before the output is written to: the stream waits for the copy.
  void wait() const { check(cudaStreamWaitEvent(stream_, end_, 0), "cudaStreamWaitEvent"); }

  // The output as it was. An error of the device that keeps it from this is told by the caller's own.
  void restore() const noexcept {
    (void)cudaStreamWaitEvent(stream_, end_, 0);
    (void)cudaMemcpy2DAsync(c_, pitch_, memory_.data(), width_, width_, columns_, cudaMemcpyDeviceToDevice, stream_);
    (void)cudaStreamSynchronize(stream_);
  }

 private:
  std::size_t width_, columns_;
  T* c_;
  std::size_t pitch_;
  cudaStream_t stream_;
  DeviceWorkspace memory_;
  KeptStream beside_;
  Event begin_, end_;
};

}  // namespace vernier::cuda
