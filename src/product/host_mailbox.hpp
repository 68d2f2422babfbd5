// A question to a kernel whose answer, if it comes in time, saves work that the host would queue behind it.
#pragma once

#include <cuda_runtime_api.h>

#include "product/host_answer.hpp"

namespace vernier::cuda {

// On a stream that is busy with other work no answer comes in time; most questions are then not asked.
class HostMailbox {
 public:
  explicit HostMailbox(cudaStream_t stream);

  HostAnswer answer() const { return answer_; }  // for the kernel; without a word where nobody asks
  bool is_yes_within(double seconds);            // once; waits that long at most

 private:
  struct Slot;
  struct Slots;
  static Slots& slots();

  Slot& slot_;
  HostAnswer answer_;
};

}  // namespace vernier::cuda
