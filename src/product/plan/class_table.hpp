// What is known of classes of products, a few hundred at once: a class that meets another in its place takes it over.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "base/fork_mutex.hpp"

namespace vernier {

template <class Entry>
class ClassTable {
 public:
  static ClassTable& instance() {
    static auto* table = new ClassTable;  // never destroyed: products may be made while the process ends
    return *table;
  }

  // key: not 0.
  template <class Use>
  auto with(std::uint64_t key, const Use& use) {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[(key * 0x9e3779b97f4a7c15ULL >> 32) % slots_.size()];
    if (slot.key != key) slot = {.key = key, .entry = {}};
    return use(slot.entry);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    slots_.fill({});
  }

 private:
  struct Slot {
    std::uint64_t key = 0;  // 0: free
    Entry entry;
  };

  ForkMutex mutex_;
  std::array<Slot, 509> slots_;
};

}  // namespace vernier
