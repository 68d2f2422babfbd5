#include "libvernier.hpp"

#include <dlfcn.h>

#include "preload.hpp"
#include "settings.hpp"

namespace vernier::interpose {
namespace {

Libvernier load_functions() {
  Libvernier l;
  load("vernier_create", l.create);
  load("vernier_destroy", l.destroy);
  load("vernier_last_error", l.last_error);
  load("vernier_set_contract", l.set_contract);
  load(preload.set_engine, l.set_engine);
  load(preload.explain, l.explain);
  load("vernier_get_report", l.get_report);
  return l;
}

struct ThreadHandle {
  vernier_handle handle = nullptr;

  ThreadHandle() {
    const Libvernier& l = libvernier();
    const Settings& s = settings();
    if (l.create(&handle) != VERNIER_SUCCESS) fatal(l.last_error(nullptr));
    if (!s.contract.empty() && l.set_contract(handle, s.contract.c_str()) != VERNIER_SUCCESS)
      fatal(std::string("VERNIER_CONTRACT: ") + l.last_error(handle));
    if (!s.engine.empty() && l.set_engine(handle, s.engine.c_str()) != VERNIER_SUCCESS)
      fatal(std::string(preload.engine_variable) + ": " + l.last_error(handle));
  }
  ~ThreadHandle() {
    libvernier().destroy(handle);
    handle = nullptr;  // a call that comes later still is refused, and passed on
  }
};

}  // namespace

// Out of the global scope, so that neither it nor the BLAS that it is linked to takes over other symbols of the
// program. Its own calls of a BLAS arrive at the preload again, and are passed on.
void* find_in_libvernier(const char* name) {
  static void* const handle = [] {
    void* opened = dlopen(VERNIER_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) fatal(std::string("libvernier: ") + dlerror());
    return opened;
  }();
  void* found = dlsym(handle, name);
  if (found == nullptr) fatal(std::string("libvernier lacks ") + name + ": it is of another version");
  return found;
}

const Libvernier& libvernier() {
  static const Libvernier once = load_functions();
  return once;
}

vernier_handle thread_handle() {
  static thread_local ThreadHandle own;
  return own.handle;
}

void check_settings() {
  static const bool checked = [] {
    if (!settings().contract.empty() || !settings().engine.empty()) thread_handle();
    return true;
  }();
  static_cast<void>(checked);
}

}  // namespace vernier::interpose
