#include "product/host_mailbox.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "product/backoff.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {

HostMailbox::HostMailbox(std::uint32_t* word) {
  static std::atomic<std::uint32_t> questions = 0;
  if (word != nullptr) answer_ = {word, 1 + questions++ % 0x7fffffff};
}

bool HostMailbox::wait(cudaStream_t stream, const char* kernel) const {
  constexpr int polls_between_queries = 4096;
  for (;;) {
    for (int i = 0; i < polls_between_queries; ++i)
      if (const std::optional<bool> found = answer_.given()) return *found;
    const cudaError_t state = cudaStreamQuery(stream);
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();  // no error of anybody's
      continue;
    }
    check(state, kernel);
    if (!answer_.given()) fail(Status::internal_error, "{}: the kernel ended without an answer", kernel);
  }
}

std::optional<bool> HostMailbox::within(double seconds) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::optional<bool> found = answer_.given();
  while (!found && Clock::now() < end) found = answer_.given();
  return found ? found : answer_.given();  // after the last look at the clock
}

struct PromptQuestion::Slot {
  std::mutex mutex;
  Backoff pause;
};

// Streams that share a slot, and threads on one stream, may miss each other's answers; no question has another's.
struct PromptQuestion::Slots {
  static constexpr std::size_t count = 1024;
  std::array<Slot, count> slot;
  std::uint32_t* words = nullptr;  // one a slot, pinned, for all devices; null where that failed: then nobody asks

  Slots() {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, count * sizeof *words, cudaHostAllocPortable) == cudaSuccess)
      words = static_cast<std::uint32_t*>(std::memset(memory, 0, count * sizeof *words));
    else
      (void)cudaGetLastError();
  }

  Slot& of(cudaStream_t stream) {
    return slot[static_cast<std::size_t>(id_of(stream) + 101ull * static_cast<unsigned>(current_device().number)) %
                count];
  }
};

PromptQuestion::Slots& PromptQuestion::slots() {
  static auto& all = *new Slots;  // never freed: a kernel may answer when the process ends
  return all;
}

std::uint32_t* PromptQuestion::word_if_asked() {
  Slots& all = slots();
  const std::lock_guard lock(slot_.mutex);
  return all.words != nullptr && slot_.pause.should_try() ? all.words + (&slot_ - all.slot.data()) : nullptr;
}

PromptQuestion::PromptQuestion(cudaStream_t stream) : slot_(slots().of(stream)), box_(word_if_asked()) {}

bool PromptQuestion::is_yes_within(double seconds) {
  if (answer().word == nullptr) return false;
  const bool yes = box_.within(seconds).value_or(false);
  const std::lock_guard lock(slot_.mutex);
  slot_.pause.tried(!yes);
  return yes;
}

}  // namespace vernier::cuda
