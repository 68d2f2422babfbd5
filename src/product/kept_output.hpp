// A copy of an output in device memory, for routines that may fail once the output is written to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {

// Made on the stream, before what it is given next.
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
    check(copy_lines(memory_.data(), width_, c_, pitch_, width_, columns_, stream_), "C");
  }

  // The output as it was. An error of the device that keeps it from this is told by the caller's own.
  void restore() const noexcept {
    (void)copy_lines(c_, pitch_, memory_.data(), width_, width_, columns_, stream_);
    (void)cudaStreamSynchronize(stream_);
  }

 private:
  std::size_t width_, columns_;
  T* c_;
  std::size_t pitch_;
  cudaStream_t stream_;
  DeviceWorkspace memory_;
};

}  // namespace vernier::cuda
