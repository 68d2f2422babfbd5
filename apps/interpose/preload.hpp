// What a preload adds to what they share: its name, its side of libvernier, and the library underneath it.
#pragma once

#include <atomic>
#include <string>

#include "call.hpp"

namespace vernier::interpose {

struct Preload {
  const char* name;               // before messages and in reports
  const char* engine_variable;    // of the environment
  const char* prefix;             // of the functions of libvernier that are there for CPUs and for GPUs
  bool waits;                     // a call that is passed on is done when it returns
  const char* awaited = nullptr;  // a name whose look-up by the program `prepare` comes before, or null
  void (*prepare)() = nullptr;
  bool collective = false;  // processes call together: all take a call, or none
  int not_supported = 0;    // what functions return that no library underneath has, if they return a status
  void* (*of_another)(const void* handle, const char* name) = nullptr;  // that handle's own function; null: underneath
};

// Has a handle been made by another library than the one underneath? The preload then has `of_another`.
inline constinit std::atomic<bool> several_libraries{false};

// Each preload defines these.
extern const Preload preload;
enum class May { load, not_load };
void* find_underneath(const char* name, May may);  // that function of the library underneath, or null
vernier_status perform(vernier_handle handle, const Call& call);
std::string out_of_reach(const std::string& maps);  // what the files say that a process without calls has mapped, or ""

// Sizes of the largest product that a call is made of.
struct Sizes {
  std::int64_t m, n, k;
};
Sizes largest_product(const Call& call);

}  // namespace vernier::interpose
