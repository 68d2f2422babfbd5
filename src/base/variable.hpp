// A variable of the environment that is read again and again.
#pragma once

#include <atomic>

namespace vernier {

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
