// A mutex that a child of fork() finds unlocked, with what it guards whole: fork() waits for its holder.
#pragma once

#include <mutex>

namespace vernier {

// For static objects alone: never unregistered. Its holder calls nothing that takes another one.
class ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct List;
  static List& list();
  static void lock_all();
  static void unlock_all();

  std::mutex mutex_;
  ForkMutex* next_ = nullptr;
};

}  // namespace vernier
