// The ScaLAPACK underneath.

#include "libvernier.hpp"
#include "original.hpp"
#include "preload.hpp"

namespace vernier::interpose {

const Preload preload = {.name = "vernier_pblas",
                         .engine_variable = "VERNIER_ENGINE",
                         .prefix = "vernier_",
                         .waits = true,
                         .collective = true};

// In the next library that the program has loaded: it is linked to its ScaLAPACK.
void* find_underneath(const char* name, May) {
  if (void* next = find_next(name)) return next;
  return find_among_loaded(name);
}

std::string out_of_reach(const std::string&) { return ""; }

Sizes largest_product(const Call& call) { return {call.m, call.n, call.k}; }

vernier_status perform(vernier_handle handle, const Call& call) { return call_routine(handle, call); }

}  // namespace vernier::interpose
