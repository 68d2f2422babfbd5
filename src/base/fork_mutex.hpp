// A mutex for state of the whole process that a child of fork() finds free, whichever threads held it in the parent.
#pragma once

#include <mutex>

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

}  // namespace vernier
