// What became of the calls: counted as they come (record.hpp), told at exit.
#pragma once

#include <vernier/vernier.h>

#include <atomic>
#include <cstdint>

#include "base/duration.hpp"
#include "base/ticks.hpp"
#include "call.hpp"
#include "record.hpp"

namespace vernier::interpose {

// Where this thread alone counts what it passes on; null until it has looked for one, and where there is none left.
inline constinit thread_local Lane* own_lane = nullptr;

// Counts of one symbol. Constant-initialised; its place in the record is found when it is first called.
class Counts {
 public:
  explicit constexpr Counts(const char* name) : symbol(name) {}
  void pass(Reason reason) {
    Record& r = record();
    if (!is_often(reason))
      add(r.symbols[place_].passed[static_cast<int>(reason)], 1);
    else if (own_lane != nullptr)
      pass_alone(reason);
    else
      add(often(find_lane(r), reason), 1);
  }
  bool alone() const { return own_lane != nullptr && record_.load(std::memory_order_acquire) != nullptr; }
  void pass_alone(Reason reason) {  // one of those that lanes have
    Count& count = often(*own_lane, reason);
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void take() { add(record().symbols[place_].taken, 1); }
  void add_time(std::uint64_t ticks) {  // of a call of size that was passed on
    Record& r = record();
    if (r.seconds_per_tick.load(std::memory_order_relaxed) == 0) [[unlikely]]
      r.seconds_per_tick = seconds_per_tick();
    add(find_lane(r).ticks, ticks);
  }

  const char* const symbol;

 private:
  friend struct CountsList;

  static void add(Count& count, std::uint64_t more) { count.fetch_add(more, std::memory_order_relaxed); }
  static bool is_often(Reason reason) { return static_cast<int>(reason) < often_reasons; }
  Count& often(Lane& lane, Reason reason) const { return lane.passed[place_][static_cast<int>(reason)]; }
  static Lane& find_lane(Record& r);

  Record& record() {
    Record* known = record_.load(std::memory_order_acquire);
    return known != nullptr ? *known : join();
  }
  Record& join();

  std::atomic<Record*> record_{nullptr};
  std::uint32_t place_ = 0;  // in it
  Counts* next_ = nullptr;
  bool listed_ = false;
};

// While a call is taken: what runs at the same time counts once as elapsed.
class Busy {
 public:
  Busy();
  ~Busy();
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

// True: what a call is the largest of so far wants its plan's reason, which follows.
bool record_taken(const Call& call, const vernier_report& report);  // of those that fell back for their data
bool record_wide(const Call& call);                                 // passed on for its data
bool record_native(const Call& call);                               // the library underneath is faster
void record_reason_of_wide(const Call& call, const char* reason);   // under fp64-normwise
void record_reason_of_native(const Call& call, const char* reason);
void record_workspace(bool used);               // the program gave one, which was large enough or not
void record_message(const char* message);       // of libvernier, for a call that it refused: the last one is told
void record_out_of_reach(const char* message);  // of a process without calls

bool any_call_seen();

// A line on stderr for VERNIER_VERBOSE=2: what became of a call, and in which time, or of one that is passed on why.
void say(const char* symbol, const Call& call, const char* what);
void say_taken(const char* symbol, const Call& call, const vernier_report& report);
void say_passed_on(const char* symbol, const Call& call, Reason reason);
void say_underneath(double seconds);

inline double now() { return seconds_now(); }

}  // namespace vernier::interpose
