// Device memory in the order of a stream: no synchronisation, kept for the next call, fit for graph capture.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace vernier::cuda {

// Bytes from a pool of the current device that this library has for itself; given back, in the order of the stream, on
// destruction. Throws Error(Status::out_of_memory).
class StreamBuffer {
 public:
  StreamBuffer(std::size_t bytes, cudaStream_t stream);
  ~StreamBuffer();
  StreamBuffer(const StreamBuffer&) = delete;
  StreamBuffer& operator=(const StreamBuffer&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  cudaStream_t stream_;
};

// Gives memory that no buffer holds back to the current device.
void trim_stream_buffers();

}  // namespace vernier::cuda
