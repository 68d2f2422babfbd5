// What the threads of a region find together. Reductions of several variables and critical sections of OpenMP take
// locks of the whole process, which a child of fork() never gets if some other thread held them: these take none.
#pragma once

#include <atomic>

namespace vernier {

// The largest value of all threads.
template <class X>
class SharedMaximum {
 public:
  explicit SharedMaximum(X least) : value_(least) {}
  void raise(X x) {
    X seen = value_.load(std::memory_order_relaxed);
    while (seen < x && !value_.compare_exchange_weak(seen, x, std::memory_order_relaxed)) {
    }
  }
  X value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<X> value_;
};

}  // namespace vernier
