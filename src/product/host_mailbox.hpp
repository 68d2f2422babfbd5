// Questions of the host to kernels: it waits for the answer, or takes one that comes in time to save it work.
#pragma once

#include <cuda_runtime_api.h>

#include "product/host_answer.hpp"

namespace vernier::cuda {

// One question, in a word that later ones may use: an answer that nobody waited for is not theirs.
class HostMailbox {
 public:
  explicit HostMailbox(std::uint32_t* word);

  HostAnswer answer() const { return answer_; }              // for the kernel; without a word where nobody asks
  bool wait(cudaStream_t stream, const char* kernel) const;  // throws if the stream failed, or ended without an answer
  std::optional<bool> within(double seconds) const;

 private:
  HostAnswer answer_;
};

// A question whose answer, if it comes in time, saves work that the host would queue behind it. On a stream that is
// busy with other work none does; most are then not asked.
class PromptQuestion {
 public:
  explicit PromptQuestion(cudaStream_t stream);

  HostAnswer answer() const { return box_.answer(); }
  bool is_yes_within(double seconds);  // once; waits that long at most

 private:
  struct Slot;
  struct Slots;
  static Slots& slots();
  std::uint32_t* word_if_asked();

  Slot& slot_;
  HostMailbox box_;
};

}  // namespace vernier::cuda
