// A copy of an output in device memory, for routines that may fail once the output is written to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {

// Made on a stream of its own, beside what the caller's stream computes before the output is written to.
template <class T>
class KeptOutput {
 public:
  // Has its memory; start() copies, behind what the stream has been given by then.
  KeptOutput(std::int64_t rows, std::int64_t columns, T* c, std::int64_t ldc, cudaStream_t stream)
      : width_(static_cast<std::size_t>(rows) * sizeof(T)),
        columns_(static_cast<std::size_t>(columns)),
        c_(c),
        pitch_(static_cast<std::size_t>(ldc) * sizeof(T)),
        stream_(stream),
        memory_(width_ * columns_, stream) {}
  void start() {
    if (started_) return;
    begin_.record(stream_);
    check(cudaStreamWaitEvent(beside_, begin_, 0), "cudaStreamWaitEvent");
    cudaError_t code = copy_lines(memory_.data(), width_, c_, pitch_, width_, columns_, beside_);
    if (code == cudaSuccess) code = cudaEventRecord(end_, beside_);
    if (code != cudaSuccess) (void)cudaStreamSynchronize(beside_);  // no event keeps the memory from what was queued
    check(code, "C");
    started_ = true;
  }
  ~KeptOutput() { (void)cudaStreamWaitEvent(stream_, end_, 0); }  // the memory goes back in the order of the stream
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;

  // Before the output is written to: the stream waits for the copy.
  void wait() {
    start();
    check(cudaStreamWaitEvent(stream_, end_, 0), "cudaStreamWaitEvent");
  }

  // The output as it was. An error of the device that keeps it from this is told by the caller's own.
  void restore() const noexcept {
    if (!started_) return;
    (void)cudaStreamWaitEvent(stream_, end_, 0);
    (void)copy_lines(c_, pitch_, memory_.data(), width_, width_, columns_, stream_);
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
  bool started_ = false;
};

}  // namespace vernier::cuda
