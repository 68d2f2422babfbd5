// A symbol that is taken over: the way of each call to Vernier or to the library underneath.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "journal.hpp"
#include "preload.hpp"
#include "settings.hpp"

namespace vernier::interpose {

// The planner's answer for a shape that this thread met, and what its data made of it.
struct alignas(64) Decision {
  std::int64_t m = -1, n = -1, k = -1;
  vernier_type type = VERNIER_S;
  int threads = 0;
  int unlooked = 0;  // calls that were passed on since the team was looked at
  bool by_scheme = false;
  bool brief = false;  // the library underneath took little time: one call in so many is timed
  int at_once = 0;     // further products that are passed on with no more than a look at this
  int pause = 0,
      left = 0;  // calls that are passed on unseen after one whose data were too wide, and those still to come
  int passed = 0, vain = 0;
  double lost = 0, spent = 0;  // seconds of that one, and of those since, where calls are timed
};
inline constexpr std::size_t most_decisions = 64;

// Sizes are multiples of powers of two more often than not: the high bits of a product with an odd number differ.
inline std::size_t slot_of(vernier_type type, std::int64_t m, std::int64_t n, std::int64_t k) {
  std::uint64_t hash = type;
  for (const std::int64_t size : {m, n, k}) hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15u;
  return (hash >> 40) % most_decisions;
}

struct ThisThread {
  int depth;        // calls inside a call, ours or of the library underneath (whose CBLAS may call its Fortran), go on
  int of_size;      // the call that is about to be passed on is one of size: its time is told, so many times
  Decision* shape;  // ... and kept there, if not null
  const char* why;  // a call is not done, where libvernier was not asked
  bool left;        // a call is not done for its data, which the library underneath serves as well
  bool alone;       // no library underneath has the routine
  bool own;         // calls inside go to the BLAS that the program called, not to a wheel's
  Decision* decisions;  // so many, once there are some: those that this thread met last
};
inline constinit thread_local ThisThread this_thread{};

class Inside {
 public:
  Inside() { ++this_thread.depth; }
  ~Inside() { --this_thread.depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

class PassedOn {
 public:
  explicit PassedOn(Counts& counts) : counts_(counts), start_(this_thread.of_size > 0 ? ticks() : 0) {}
  ~PassedOn() {
    if (this_thread.of_size > 0) [[unlikely]]
      end();
  }
  PassedOn(const PassedOn&) = delete;
  PassedOn& operator=(const PassedOn&) = delete;

 private:
  void end() noexcept;

  Counts& counts_;
  std::uint64_t start_;
};

// Is the program's BLAS that of a wheel, by its calls so far?
bool calls_a_wheel();

class Symbol {
 public:
  explicit constexpr Symbol(const char* name) : counts_(name) {}

  // No exception leaves a symbol: its callers are C and Fortran. What memory does not allow is passed on.

  // Is a product of these sizes worth a look? Costs next to nothing where it is not.
  bool concerns(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
    try {
      if (underneath() == missing()) return true;
      if (this_thread.depth > 0) return false;
      const double operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
      const double least = least_operations.load(std::memory_order_relaxed);
      if (operations >= (least > 0 ? least : settings().min_operations)) return true;
      counts_.pass(Reason::small);
    } catch (const std::bad_alloc&) {
    }
    return false;
  }

  // Most calls that are passed on go this way, of a thread that counts alone: small ones, and products whose like was
  // passed on a moment ago as faster underneath. They are counted, and no more.
  template <class MakeProduct>
  bool goes_on_at_once(std::int64_t m, std::int64_t n, std::int64_t k, MakeProduct product) noexcept {
    const void* const real = real_.load(std::memory_order_acquire);
    if (real == nullptr || real == missing() || this_thread.depth > 0 || several_libraries || !counts_.alone())
      return false;
    const double operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    if (operations < least_operations.load(std::memory_order_relaxed)) {
      counts_.pass_alone(Reason::small);
      return true;
    }
    if (this_thread.decisions == nullptr) return false;
    const Product p = product();
    Decision& d = this_thread.decisions[slot_of(p.type, p.m, p.n, p.k)];
    if (d.at_once <= 0 || d.m != p.m || d.n != p.n || d.k != p.k || d.type != p.type || !valid(p)) return false;
    --d.at_once;
    counts_.pass_alone(Reason::native_faster);
    return true;
  }
  template <class Result = void, class... Arguments>
  [[gnu::always_inline]] Result go_on(Arguments... arguments) {
    const Inside inside;
    return reinterpret_cast<Result (*)(Arguments...)>(real_.load(std::memory_order_relaxed))(arguments...);
  }

  // Of one whose alpha is 0: is it passed on, and counted so, before it is written down?
  bool has_nothing_to_multiply(const Product& p) noexcept;

  // True if the call is done; else it is to be passed on. Small ones are not looked at.
  bool take(const Call& call) noexcept { return concerns(call.m, call.n, call.k) && offer(call); }
  template <class MakeCall>
  bool take(std::int64_t m, std::int64_t n, std::int64_t k, MakeCall call) noexcept {
    return concerns(m, n, k) && offer(call());
  }
  // One that concerns() let through. Where Vernier would make it sooner, `complete` comes first, which may add to it
  // what else it needs, or say why it is not taken.
  using Complete = std::optional<Reason> (*)(void* context);
  bool offer(const Call& call, Complete complete = nullptr, void* context = nullptr) noexcept;
  bool refuse(const Call& call, Reason reason) noexcept;  // counts it; false
  template <class Result = void, class... Arguments>
  Result pass_on(Arguments... arguments) {
    void* const wide = this_thread.depth > 0 && calls_a_wheel() && !this_thread.own ? in_the_wheel() : missing();
    const Inside inside;
    if (void* const own = of_another(arguments...))
      return reinterpret_cast<Result (*)(Arguments...)>(own)(arguments...);
    if (wide != missing()) return reinterpret_cast<Result (*)(Widened<Arguments>...)>(wide)(arguments...);
    void* const real = underneath();
    if (real == missing()) {
      give_up("no library underneath has this routine, and Vernier does not take this call", std::is_void_v<Result>);
      if constexpr (!std::is_void_v<Result>) return Result{preload.not_supported};
    }
    const PassedOn timed(counts_);
    return reinterpret_cast<Result (*)(Arguments...)>(real)(arguments...);
  }

 private:
  static void* missing() { return &missing_; }

  // An enumerator fills a register, or a place on the stack, as an integer of 64 bits does.
  template <class T>
  using Widened = std::conditional_t<std::is_same_v<T, std::int32_t>, std::int64_t, T>;

  // libvernier's own calls of cblas_dgemm: the program's BLAS may have that by the name of a wheel alone, and what
  // libvernier is linked to may be much slower. missing() where it has not.
  void* in_the_wheel() {
    void* wide = wheel_.load(std::memory_order_acquire);
    return wide != nullptr ? wide : find_in_the_wheel();
  }
  void* find_in_the_wheel() noexcept;

  // Where a call goes whose handle is of another library than the one underneath; null: there.
  template <class First, class... Rest>
  void* of_another(First handle, Rest...) const {
    if constexpr (std::is_same_v<First, void*>)
      if (several_libraries.load(std::memory_order_acquire)) return preload.of_another(handle, counts_.symbol);
    return nullptr;
  }

  void* underneath() {
    void* real = real_.load(std::memory_order_acquire);
    return real != nullptr ? real : find();
  }

  void* find() noexcept;
  // There is nothing underneath, and Vernier does not do it. Told once, where a status can tell the program.
  void give_up(const std::string& why, bool ends);
  bool decide(const Call& call, Complete complete, void* context);
  bool run(const Call& call, int threads);
  bool of_a_wheel() const;
  void record(const Call& call, vernier_handle handle) noexcept;  // of one that is done
  bool compute(const Call& call);  // there is nothing underneath: also what Vernier would not do itself

  static inline char missing_ = 0;

  Counts counts_;
  std::atomic<void*> real_{nullptr}, wheel_{nullptr};
  std::atomic<bool> told_{false};
};

}  // namespace vernier::interpose
