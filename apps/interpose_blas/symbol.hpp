// A symbol that is taken over: the way of each call to Vernier or to the BLAS underneath.
#pragma once

#include "journal.hpp"
#include "settings.hpp"

namespace vernier::interpose {

// Calls inside a call, ours or of the BLAS underneath (whose CBLAS may call its Fortran), go straight on.
inline thread_local int depth = 0;

class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

class Symbol {
 public:
  explicit constexpr Symbol(const char* name) : counts_(name) {}

  // True if the call is done; else it is to be passed on.
  bool take(const Call& call) {
    void* const real = underneath();
    if (real == missing()) return compute(call);
    if (depth > 0) return false;
    const double operations = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
    if (operations < settings().min_operations) {
      counts_.pass(Reason::small);
      return false;
    }
    return offer(call);
  }

  template <class... Arguments>
  void pass_on(Arguments... arguments) {
    const Inside inside;
    reinterpret_cast<void (*)(Arguments...)>(underneath())(arguments...);
  }

 private:
  static void* missing();

  void* underneath() {
    void* real = real_.load(std::memory_order_acquire);
    return real != nullptr ? real : find();
  }

  void* find();
  bool offer(const Call& call);
  bool run(const Call& call);
  bool compute(const Call& call);  // there is nothing underneath: also what Vernier would not do itself

  Counts counts_;
  std::atomic<void*> real_{nullptr};
};

}  // namespace vernier::interpose
