// Conventional products whose elements decay along k: which part of k is enough. All that lies before and behind it
// adds less than half a unit of |A||B| to any entry (docs/accuracy.md, theorem 12).
#pragma once

#include <cuda_runtime_api.h>

#include "product/device_memory.hpp"
#include "product/operand.hpp"
#include "product/sides.hpp"

namespace vernier::cuda {

// May be enough, as some rows and columns have it; all of k where no part is. The host waits.
Range guess_enough_k(const Sides<Operand<double>>& x, cudaStream_t stream);

// Queues the question whether it is.
class EnoughK {
 public:
  EnoughK(const Sides<Operand<double>>& x, Range kept, cudaStream_t stream);
  static std::size_t bytes_of(const Sides<Operand<double>>& x);

  const int* lacks() const { return lacks_; }  // in device memory: 1 where all of k is needed, else 0
  bool serves() const;                         // the host waits

 private:
  cudaStream_t stream_;
  DeviceWorkspace memory_;
  int* lacks_ = nullptr;
};

}  // namespace vernier::cuda
