// A symbol that is taken over: the way of each call to Vernier or to the library underneath.
#pragma once

#include "journal.hpp"
#include "settings.hpp"

namespace vernier::interpose {

// Calls inside a call, ours or of the library underneath (whose CBLAS may call its Fortran), go straight on.
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

  // Is a product of these sizes worth a look? Costs next to nothing where it is not.
  bool concerns(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
    if (underneath() == missing()) return true;
    if (depth > 0) return false;
    return unless_it_throws(true, [&] {  // offer() then has the same reason to pass the call on
      if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >= settings().min_operations)
        return true;
      counts_.pass(Reason::small);
      return false;
    });
  }

  // True if the call is done; else it is to be passed on. No exception leaves any of them: a caller in C or Fortran
  // could not catch it. Whatever memory is missing for, the call is passed on, and done calls are done.
  bool take(const Call& call) noexcept { return concerns(call.m, call.n, call.k) && offer(call); }
  bool offer(const Call& call) noexcept;                  // one that concerns() let through
  bool refuse(const Call& call, Reason reason) noexcept;  // counts it; false

  template <class Result = void, class... Arguments>
  Result pass_on(Arguments... arguments) {
    const Inside inside;
    void* const real = underneath();
    if (real == missing()) give_up();
    return reinterpret_cast<Result (*)(Arguments...)>(real)(arguments...);
  }

 private:
  static void* missing();

  template <class Result, class Body>
  static Result unless_it_throws(Result otherwise, Body body) noexcept {
    try {
      return body();
    } catch (...) {
      return otherwise;
    }
  }

  void* underneath() noexcept {
    void* real = real_.load(std::memory_order_acquire);
    return real != nullptr ? real : find();
  }

  void* find() noexcept;
  bool decide(const Call& call);
  [[noreturn]] void give_up() const;  // there is nothing underneath, and Vernier does not do it
  bool run(const Call& call);
  bool compute(const Call& call);  // there is nothing underneath: also what Vernier would not do itself

  Counts counts_;
  std::atomic<void*> real_{nullptr};
};

}  // namespace vernier::interpose
