// A mutex for state of the whole process that a child of fork() finds free, whichever threads held it in the parent.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>

namespace vernier {

// For objects that are never destroyed. fork() waits for all of them, so each is held briefly, and none while another
// is taken.
class ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkMutexes;

  std::mutex mutex_;
  ForkMutex* next_ = nullptr;
};

ForkMutex& once_mutex();

// Work that fork() waits for, since it does not survive one: a product by threads of OpenBLAS, whose fork handler ends
// these, whatever is left of it. Its thread may fork, and begin more.
class ForkGate {
 public:
  struct Inside;  // of a thread

  explicit ForkGate(bool closes = true) : inside_(closes ? enter() : nullptr) {}
  ~ForkGate() {
    if (inside_ != nullptr) leave(*inside_);
  }
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;

 private:
  static Inside* enter();
  static void leave(Inside& inside);

  Inside* inside_;
};

// One table in memory of its own, made once, thread-safe, never destroyed: a pass may begin where no memory is left and
// C is half written.
template <class Table>
class Once {
 public:
  template <class... Arguments>
  const Table& get(const Arguments&... arguments) {
    if (const Table* known = known_.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(once_mutex());
    if (known_.load(std::memory_order_relaxed) == nullptr)
      known_.store(new (memory_) Table(arguments...), std::memory_order_release);
    return *known_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<const Table*> known_{nullptr};
  alignas(Table) std::byte memory_[sizeof(Table)];
};

}  // namespace vernier
