// libvernier, loaded when the first call of size arrives, or the first of all if there is a setting that only it knows.
#pragma once

#include <sys/types.h>
#include <vernier/vernier.h>

#include <string>

#include "call.hpp"

namespace vernier::interpose {

// Its function of that name; std::bad_alloc where it has none, or cannot be loaded, which is told once.
void* find_in_libvernier(const std::string& name);

template <class Function>
void load(const std::string& name, Function& function) {
  function = reinterpret_cast<Function>(find_in_libvernier(name));
}

// "symm": vernier_symm or vernier_cuda_symm.
std::string own_name(const char* function);

// Has it do the call, one product and in place.
vernier_status call_routine(vernier_handle handle, const Call& call);

// What every preload calls.
struct Libvernier {
  decltype(&vernier_create) create;
  decltype(&vernier_destroy) destroy;
  decltype(&vernier_last_error) last_error;
  decltype(&vernier_set_contract) set_contract;
  decltype(&vernier_set_engine) set_engine;
  decltype(&vernier_set_threads) set_threads;  // null of a preload of a GPU's library
  decltype(&vernier_explain) explain;
  decltype(&vernier_explain_reason) reason;
  decltype(&vernier_get_report) get_report;
};

const Libvernier& libvernier();
bool is_missing();  // it could not be loaded

// As next() does it, fork() underneath.
pid_t fork_while_none_loads(pid_t (*next)());

// This thread's handle, with the contract and the engine of the environment; ends the program where these are none.
vernier_handle thread_handle();

// Threads that its products may take from now on, 0: all; one within a parallel region of the program's.
int follow_team();

// Contract and engine, where the environment has them, by the first call, however small.
void check_settings();

}  // namespace vernier::interpose
