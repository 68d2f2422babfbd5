// The BLAS underneath.
#include <dlfcn.h>

#include "libvernier.hpp"
#include "preload.hpp"
#include "settings.hpp"

namespace vernier::interpose {

const Preload preload = {"vernier_blas", "VERNIER_ENGINE", "vernier_"};

namespace {

constexpr const char* blas_names[] = {"libblas.so.3",   "libopenblas.so.0", "libblis.so.4",      "libflexiblas.so.3",
                                      "libmkl_rt.so.2", "libblas64.so.3",   "libopenblas64.so.0"};

// The library for calls that are passed on, if one was asked for.
void* named_blas() {
  static void* const handle = []() -> void* {
    const std::string name = variable("VERNIER_BLAS");
    if (name.empty()) return nullptr;
    void* opened = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (opened == nullptr) fatal("VERNIER_BLAS=" + name + ": " + dlerror());
    return opened;
  }();
  return handle;
}

// Programs that load their BLAS by themselves, as Python does, keep it out of the global scope.
void* find_among_names(const char* name, int flags) {
  for (const char* library_name : blas_names) {
    void* handle = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL | flags);
    if (handle == nullptr) continue;
    if (void* found = dlsym(handle, name)) return found;
  }
  return nullptr;
}

}  // namespace

// In the library that VERNIER_BLAS names, else in the next one that the program has loaded, else in the system's.
void* find_underneath(const char* name) {
  if (void* library = named_blas()) {
    if (void* named = dlsym(library, name)) return named;
    return find_among_names(name, RTLD_NOLOAD);  // libvernier calls CBLAS, which the named one may lack
  }
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  if (void* loaded = find_among_names(name, RTLD_NOLOAD)) return loaded;
  return find_among_names(name, 0);
}

Sizes largest_product(const Call& call) { return {call.m, call.n, call.k}; }

vernier_status perform(vernier_handle handle, const Call& call) { return call_routine(handle, call); }

}  // namespace vernier::interpose
