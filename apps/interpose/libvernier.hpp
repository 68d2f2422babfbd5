// libvernier, loaded when the first call of size arrives, or the first of all if there is a setting that only it knows.
#pragma once

#include <vernier/vernier.h>

namespace vernier::interpose {

// Its function of that name; ends the program where it has none.
void* find_in_libvernier(const char* name);

template <class Function>
void load(const char* name, Function& function) {
  function = reinterpret_cast<Function>(find_in_libvernier(name));
}

// What every preload calls.
struct Libvernier {
  decltype(&vernier_create) create;
  decltype(&vernier_destroy) destroy;
  decltype(&vernier_last_error) last_error;
  decltype(&vernier_set_contract) set_contract;
  decltype(&vernier_set_engine) set_engine;
  decltype(&vernier_explain) explain;
  decltype(&vernier_get_report) get_report;
};

const Libvernier& libvernier();

// This thread's handle, with the contract and the engine of the environment; ends the program where these are none.
vernier_handle thread_handle();

// Contract and engine, where the environment has them, by the first call, however small.
void check_settings();

}  // namespace vernier::interpose
