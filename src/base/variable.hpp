// A variable of the environment that is read again and again.
#pragma once

#include <unistd.h>

#include <atomic>

namespace vernier {

inline char** first_environment = nullptr;  // which the kernel gave to the process; null: not known

// No string came since then: the process still has its first environment, where all lie together, to the same end.
// There is no room for another one there, and the first that is added leads to a copy. (A string that the program
// writes over another one goes unseen.) A copy's strings may change without a trace: there this is never true.
class NoNewStrings {
 public:
  NoNewStrings() = default;
  static NoNewStrings since_now();
  bool hold() const { return end_ != nullptr && environ == first_environment && *end_ == nullptr && end_[-1] == last_; }

 private:
  char** end_ = nullptr;  // of one that is not empty
  const char* last_ = nullptr;
};

// As it is at each call; under a preload as it was at the first one. The program knows nothing of who reads there, and
// may change its environment in another thread: getenv() is then not safe.
class Variable {
 public:
  constexpr explicit Variable(const char* name) : name_(name) {}
  const char* get();  // null where it is not set

 private:
  const char* name_;
  std::atomic<const char*> kept_{nullptr};  // no lock: a child of fork() may find it held
};

}  // namespace vernier
