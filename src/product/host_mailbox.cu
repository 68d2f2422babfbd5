#include "product/host_mailbox.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "cuda/device.hpp"
#include "product/backoff.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {

struct HostMailbox::Slot {
  std::mutex mutex;
  Backoff pause;
};

// Streams that share a slot, and threads on one stream, may miss each other's answers; no question has another's.
struct HostMailbox::Slots {
  static constexpr std::size_t count = 1024;
  std::array<Slot, count> slot;
  std::atomic<std::uint32_t> questions = 0;
  std::uint32_t* words = nullptr;  // one a slot, pinned, for all devices; null where that failed: then nobody asks

  Slots() {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, count * sizeof *words, cudaHostAllocPortable) == cudaSuccess)
      words = static_cast<std::uint32_t*>(std::memset(memory, 0, count * sizeof *words));
    else
      (void)cudaGetLastError();
  }

  std::size_t of(cudaStream_t stream) const {
    return static_cast<std::size_t>(id_of(stream) + 101ull * static_cast<unsigned>(current_device().number)) % count;
  }
};

HostMailbox::Slots& HostMailbox::slots() {
  static auto& all = *new Slots;  // never freed: a kernel may answer when the process ends
  return all;
}

HostMailbox::HostMailbox(cudaStream_t stream) : slot_(slots().slot[slots().of(stream)]) {
  Slots& all = slots();
  const std::lock_guard lock(slot_.mutex);
  if (all.words != nullptr && slot_.pause.should_try())
    answer_ = {all.words + (&slot_ - all.slot.data()), ++all.questions};
}

bool HostMailbox::is_yes_within(double seconds) {
  if (answer_.word == nullptr) return false;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const volatile std::uint32_t* word = answer_.word;
  const std::uint32_t yes = HostAnswer::text(answer_.question, true), no = HostAnswer::text(answer_.question, false);
  std::uint32_t text = *word;
  while (text != yes && text != no && Clock::now() < end) text = *word;
  if (text != yes && text != no) text = *word;  // after the last look at the clock
  const std::lock_guard lock(slot_.mutex);
  slot_.pause.tried(text != yes);
  return text == yes;
}

}  // namespace vernier::cuda
