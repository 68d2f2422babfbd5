// What became of the calls: counted as they come, told at exit.
#pragma once

#include <vernier/vernier.h>

#include <atomic>
#include <cstdint>

#include "call.hpp"

namespace vernier::interpose {

// Why a call was passed on.
enum class Reason { small, native_faster, trivial, invalid, bound, memory, mode, factors, unsupported, other };
inline constexpr int reasons = 10;

// Counts of one symbol. Constant-initialised; joins the journal's list when it is first called.
struct Counts {
  const char* symbol;
  Counts* next = nullptr;
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> passed[reasons] = {};

  explicit constexpr Counts(const char* name) : symbol(name) {}
  void pass(Reason reason) { passed[static_cast<int>(reason)].fetch_add(1, std::memory_order_relaxed); }
};

// The first call of a symbol; the first of all arranges for the summary at exit.
void enlist(Counts& counts);

void record_taken(const Call& call, const vernier_report& report);
void record_workspace(bool used);          // the program gave one, which was large enough or not
void record_message(const char* message);  // of libvernier, for a call that it refused: the last one is told

// A line on stderr for VERNIER_VERBOSE=2.
void say(const char* symbol, const Call& call, const char* what);

}  // namespace vernier::interpose
