// Streams that the process keeps: to make one for each piece of work takes longer than small pieces do.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "cuda/device.hpp"

namespace vernier::cuda {

// A stream of the current device, for one thread at a time. It is kept for the next one unless its work has failed.
class KeptStream {
 public:
  KeptStream();
  ~KeptStream();
  KeptStream(const KeptStream&) = delete;
  KeptStream& operator=(const KeptStream&) = delete;

  operator cudaStream_t() const { return *stream_; }
  void wait() const { stream_->wait(); }

 private:
  int device_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace vernier::cuda
