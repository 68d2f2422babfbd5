// The number of threads that the BLAS underneath takes.
#pragma once

#include <dlfcn.h>

#include <mutex>

namespace vernier {

// Null where the BLAS underneath has no function of that name.
template <class Function>
Function native_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// The number of threads of native products whose caller named one. OpenBLAS has one setting for the process: the first
// caller in changes it, the last one out restores it, and meanwhile it holds for all. Other BLAS keep their own.
class NativeThreads {
 public:
  explicit NativeThreads(int threads) : active_(threads > 0 && get != nullptr && set != nullptr) {
    if (!active_) return;
    const std::lock_guard lock(mutex);
    if (users++ == 0) before = get();
    if (get() != threads) set(threads);
  }
  ~NativeThreads() {
    if (!active_) return;
    const std::lock_guard lock(mutex);
    if (--users == 0 && get() != before) set(before);
  }
  NativeThreads(const NativeThreads&) = delete;
  NativeThreads& operator=(const NativeThreads&) = delete;

 private:
  inline static int (*const get)() = native_symbol<int (*)()>("openblas_get_num_threads");
  inline static void (*const set)(int) = native_symbol<void (*)(int)>("openblas_set_num_threads");
  inline static std::mutex mutex;
  inline static int users = 0, before = 0;
  bool active_;
};

}  // namespace vernier
