// libvernier, loaded when the first call of size arrives, and the BLAS underneath.
#pragma once

#include "call.hpp"

namespace vernier::interpose {

// The function of that name in the BLAS underneath, or null: in the library that VERNIER_BLAS names, else in the next
// one that the program has loaded, else in the system's.
void* find_underneath(const char* name);

// libvernier's side of a call.
struct Library {
  decltype(&vernier_create) create;
  decltype(&vernier_destroy) destroy;
  decltype(&vernier_last_error) last_error;
  decltype(&vernier_set_contract) set_contract;
  decltype(&vernier_set_engine) set_engine;
  decltype(&vernier_explain) explain;
  decltype(&vernier_get_report) get_report;
  decltype(&vernier_status_name) status_name;
  decltype(&vernier_version) version;
  decltype(&vernier_gemm) gemm;
  decltype(&vernier_symm) symm, hemm;
  decltype(&vernier_syrk) syrk, herk;
  decltype(&vernier_syr2k) syr2k, her2k;
  decltype(&vernier_trmm) trmm, trsm;
  decltype(&vernier_gemmt) gemmt;
};

const Library& library();

// This thread's handle, with the contract and the engine of the environment; ends the program where these are none.
vernier_handle thread_handle();

vernier_status perform(const Library& library, vernier_handle handle, const Call& call);

}  // namespace vernier::interpose
