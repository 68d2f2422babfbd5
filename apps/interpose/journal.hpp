// What became of the calls: counted as they come (record.hpp), told at exit.
#pragma once

#include <vernier/vernier.h>

#include <atomic>
#include <cstdint>

#include "call.hpp"
#include "record.hpp"

namespace vernier::interpose {

// Counts of one symbol. Constant-initialised; its place in the record is found when it is first called.
class Counts {
 public:
  explicit constexpr Counts(const char* name) : symbol(name) {}
  void pass(Reason reason) { place().passed[static_cast<int>(reason)].fetch_add(1, std::memory_order_relaxed); }
  void take() { place().taken.fetch_add(1, std::memory_order_relaxed); }

  const char* const symbol;

 private:
  friend struct CountsList;

  SymbolCounts& place() {
    SymbolCounts* known = place_.load(std::memory_order_acquire);
    return known != nullptr ? *known : join();
  }
  SymbolCounts& join();

  std::atomic<SymbolCounts*> place_{nullptr};
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
void record_passed_on(double seconds);          // of a call of size
void record_workspace(bool used);               // the program gave one, which was large enough or not
void record_message(const char* message);       // of libvernier, for a call that it refused: the last one is told
void record_out_of_reach(const char* message);  // of a process without calls

bool any_call_seen();

// A line on stderr for VERNIER_VERBOSE=2: what became of a call, and in which time, or of one that is passed on why.
void say(const char* symbol, const Call& call, const char* what);
void say_taken(const char* symbol, const Call& call, const vernier_report& report);
void say_passed_on(const char* symbol, const Call& call, Reason reason);

double now();  // seconds on a clock that never jumps

}  // namespace vernier::interpose
