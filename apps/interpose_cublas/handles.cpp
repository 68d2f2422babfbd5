#include "handles.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "entry.hpp"
#include "original.hpp"

namespace vernier::interpose::cublas {
namespace {

// Never destroyed: calls may come until the very end.
struct Others {
  std::mutex mutex;
  std::unordered_map<const void*, void*> libraries;  // as dlopen has them, of handles of others
};

Others& others() {
  static Others& once = *new Others;
  return once;
}

const void* base_of(const void* function) {
  Dl_info info;
  return dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

// What the calling module is linked to, as dlopen has it, if that is another library than the one underneath.
void* another_of(const void* caller, const char* name, const void* underneath) {
  Dl_info info;
  if (dladdr(caller, &info) == 0) return nullptr;
  void* const module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (module == nullptr) return nullptr;  // the program itself, whose scope is the global one
  const void* const theirs = look_up(module, name);
  void* library = nullptr;
  if (is_underneath(theirs) && base_of(theirs) != base_of(underneath) && dladdr(theirs, &info) != 0)
    library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  dlclose(module);
  return library;
}

// The function that makes a handle: one that it makes for itself is of its own library, too.
constinit thread_local const void* maker = nullptr;

Status create_handle(const char* name, Handle* handle, const void* caller) noexcept try {
  void* function = original(name);
  void* const another = another_of(maker != nullptr ? maker : caller, name, function);
  if (another != nullptr) function = look_up(another, name);
  if (function == nullptr) return not_supported;
  const void* const outer = std::exchange(maker, function);
  const Status status = reinterpret_cast<Status (*)(Handle*)>(function)(handle);
  maker = outer;
  if (status != success) return status;
  if (another == nullptr) {
    forget_handle(*handle);
    return status;
  }
  Others& o = others();
  const std::lock_guard lock(o.mutex);
  o.libraries[*handle] = another;
  several_libraries = true;
  return status;
} catch (const std::bad_alloc&) {
  return alloc_failed;
}

Status destroy_handle(const char* name, Handle handle) noexcept try {
  void* function = function_of_another(handle, name);
  if (function == nullptr) function = original(name);
  if (function == nullptr) return not_supported;
  const Status status = reinterpret_cast<Status (*)(Handle)>(function)(handle);
  forget_handle(handle);
  return status;
} catch (const std::bad_alloc&) {
  return alloc_failed;
}

void* library_of(const void* handle) {
  if (!several_libraries.load(std::memory_order_acquire)) return nullptr;
  Others& o = others();
  const std::lock_guard lock(o.mutex);
  const auto found = o.libraries.find(handle);
  return found != o.libraries.end() ? found->second : nullptr;
}

}  // namespace

bool is_of_another(const void* handle) { return library_of(handle) != nullptr; }

void* function_of_another(const void* handle, const char* name) {
  void* const library = library_of(handle);
  return library != nullptr ? look_up(library, name) : nullptr;
}

void forget_handle(const void* handle) {
  if (!several_libraries) return;
  Others& o = others();
  const std::lock_guard lock(o.mutex);
  o.libraries.erase(handle);
}

}  // namespace vernier::interpose::cublas

using namespace vernier::interpose::cublas;

#define VERNIER_HANDLES(KIND, VERSION)                                                           \
  VERNIER_SYMBOL cublas##KIND##Create##VERSION(Handle* handle) {                                 \
    return create_handle("cublas" #KIND "Create" #VERSION, handle, __builtin_return_address(0)); \
  }

VERNIER_HANDLES(, _v2)
VERNIER_HANDLES(Lt, )
VERNIER_HANDLES(Xt, )

VERNIER_SYMBOL cublasLtDestroy(Handle handle) { return destroy_handle("cublasLtDestroy", handle); }
VERNIER_SYMBOL cublasXtDestroy(Handle handle) { return destroy_handle("cublasXtDestroy", handle); }
