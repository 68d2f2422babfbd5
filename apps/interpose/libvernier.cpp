#include "libvernier.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>
#include <shared_mutex>

#include "journal.hpp"
#include "original.hpp"
#include "preload.hpp"
#include "settings.hpp"
#include "team.hpp"
#include "whole_number.hpp"

namespace vernier::interpose {
namespace {

Libvernier load_functions() {
  Libvernier l{};
  load("vernier_create", l.create);
  load("vernier_destroy", l.destroy);
  load("vernier_last_error", l.last_error);
  load("vernier_set_contract", l.set_contract);
  load(own_name("set_engine"), l.set_engine);
  load(own_name("explain"), l.explain);
  load("vernier_explain_reason", l.reason);
  if (preload.waits) load("vernier_set_threads", l.set_threads);
  load("vernier_get_report", l.get_report);
  return l;
}

struct ThreadHandle {
  vernier_handle handle = nullptr;
  int threads = 0;

  ThreadHandle() {
    const Libvernier& l = libvernier();
    const Settings& s = settings();
    require(l.create(&handle), "");
    if (!s.contract.empty()) require(l.set_contract(handle, s.contract.c_str()), "VERNIER_CONTRACT: ");
    if (!s.engine.empty())
      require(l.set_engine(handle, s.engine.c_str()), (std::string(preload.engine_variable) + ": ").c_str());
  }
  // Without memory the call is passed on, and the next one tries again; a wrong setting ends the program.
  void require(vernier_status status, const char* what) {
    if (status == VERNIER_SUCCESS) return;
    if (status != VERNIER_OUT_OF_MEMORY) fatal(std::string(what) + libvernier().last_error(handle));
    if (handle != nullptr) libvernier().destroy(handle);
    throw std::bad_alloc();
  }
  ~ThreadHandle() {
    libvernier().destroy(handle);
    handle = nullptr;  // a call that comes later still is refused, and passed on
  }
};

ThreadHandle& own_handle() {
  static thread_local ThreadHandle own;
  return own;
}

vernier_op op(char letter) { return static_cast<vernier_op>(letter); }

// libvernier's function for that routine, looked up once.
void* function_of(Routine routine) {
  static std::atomic<void*> functions[routine_count];
  std::atomic<void*>& function = functions[static_cast<int>(routine)];
  if (function == nullptr) function = find_in_libvernier(own_name(name(routine)));
  return function;
}

// The preload may have been loaded through a link in another folder.
std::string beside_this_preload() {
  Dl_info info;
  std::error_code error;
  if (dladdr(&preload, &info) == 0 || info.dli_fname == nullptr) return "";
  return std::filesystem::canonical(info.dli_fname, error).parent_path() / VERNIER_SONAME;
}

constinit std::shared_timed_mutex loading;
constinit std::atomic<bool> half_loaded{false};  // by a thread of the parent
constinit std::atomic<bool> cannot_be_loaded{false};

// As in a sandbox, or beyond a limit of memory or files: the program runs as without.
[[noreturn]] void do_without(const std::string& why) {
  if (preload.collective) fatal("libvernier: " + why);
  const std::string text = "libvernier: " + why + "; calls are passed on";
  if (!cannot_be_loaded.exchange(true)) {
    std::fprintf(stderr, "%s: %s\n", preload.name, text.c_str());
    record_message(text.c_str());
  }
  throw std::bad_alloc();
}

std::size_t threads_of_a_blas() {
  cpu_set_t processors;
  long threads = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const auto number = whole_number(variable(name), CPU_SETSIZE); number && *number > 0)
      threads = std::min(threads, *number);
  return static_cast<std::size_t>(threads);
}

// OpenBLAS takes 128 MiB and a stack for each thread as it is loaded: where a limit denies them it ends the program, or
// its threads spin for ever. One that is loaded has them.
bool is_room_for_a_blas() {
  bool limited = false;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    limited |= getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  }
  for (const char* blas : {"libopenblas.so.0", "libblas.so.3"})
    if (void* const loaded = limited ? dlopen(blas, RTLD_LAZY | RTLD_NOLOAD) : nullptr) return dlclose(loaded), true;
  if (!limited) return true;
  const std::size_t bytes = (64 + 160 * threads_of_a_blas()) << 20;
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

// Out of the global scope, so that neither it nor the BLAS that it is linked to takes over other symbols of the
// program. Its own calls of a BLAS arrive at the preload again, and are passed on. Threads may open it at once: one
// that waited for another would wait for ever where that one waits for the loader, whose lock it holds itself.
void* open_libvernier() {
  if (half_loaded || cannot_be_loaded) throw std::bad_alloc();  // calls are passed on
  if (!is_room_for_a_blas()) do_without("a limit (ulimit -v) leaves no room for a BLAS with as many threads");
  const std::shared_lock lock(loading);
  void* opened = dlopen(VERNIER_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) opened = dlopen(beside_this_preload().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) do_without(dlerror());
  return opened;
}

}  // namespace

std::string own_name(const char* function) { return std::string(preload.prefix) + function; }

vernier_status call_routine(vernier_handle h, const Call& c) {
  const auto side = static_cast<vernier_side>(c.side);
  const auto uplo = static_cast<vernier_uplo>(c.uplo);
  const auto diag = static_cast<vernier_diag>(c.diag);
  void* const function = function_of(c.routine);
  switch (c.routine) {
    case Routine::gemm:
      return reinterpret_cast<decltype(&vernier_gemm)>(function)(h, c.type, op(c.opa), op(c.opb), c.m, c.n, c.k,
                                                                 c.alpha, c.a, c.lda, c.b, c.ldb, c.beta, c.c, c.ldc);
    case Routine::gemmt:
      return reinterpret_cast<decltype(&vernier_gemmt)>(function)(h, c.type, uplo, op(c.opa), op(c.opb), c.n, c.k,
                                                                  c.alpha, c.a, c.lda, c.b, c.ldb, c.beta, c.c, c.ldc);
    case Routine::symm:
    case Routine::hemm:
      return reinterpret_cast<decltype(&vernier_symm)>(function)(h, c.type, side, uplo, c.m, c.n, c.alpha, c.a, c.lda,
                                                                 c.b, c.ldb, c.beta, c.c, c.ldc);
    case Routine::syrk:
    case Routine::herk:
      return reinterpret_cast<decltype(&vernier_syrk)>(function)(h, c.type, uplo, op(c.opa), c.n, c.k, c.alpha, c.a,
                                                                 c.lda, c.beta, c.c, c.ldc);
    case Routine::syr2k:
    case Routine::her2k:
    case Routine::syrkx:
    case Routine::herkx:
      return reinterpret_cast<decltype(&vernier_syr2k)>(function)(h, c.type, uplo, op(c.opa), c.n, c.k, c.alpha, c.a,
                                                                  c.lda, c.b, c.ldb, c.beta, c.c, c.ldc);
    case Routine::trmm:
    case Routine::trsm:
      return reinterpret_cast<decltype(&vernier_trmm)>(function)(h, c.type, side, uplo, op(c.opa), diag, c.m, c.n,
                                                                 c.alpha, c.a, c.lda, c.c, c.ldc);
  }
  return VERNIER_INTERNAL_ERROR;
}

void* find_in_libvernier(const std::string& name) {
  static constinit std::atomic<void*> library{nullptr};
  void* handle = library.load(std::memory_order_acquire);
  if (handle == nullptr) library.store(handle = open_libvernier(), std::memory_order_release);
  void* found = look_up(handle, name.c_str());
  if (found == nullptr) do_without("it lacks " + name + ", being of another version");
  return found;
}

// A thread that forks in a library's constructor holds the loader's lock, for which another may wait that loads: ten
// seconds at most.
pid_t fork_while_none_loads(pid_t (*next)()) {
  const bool held = loading.try_lock_for(std::chrono::seconds(10));
  const pid_t child = next();
  if (child == 0) {
    new (&loading) std::shared_timed_mutex;  // held by a thread of another number
    if (!held) half_loaded = true;
  } else if (held) {
    loading.unlock();
  }
  return child;
}

const Libvernier& libvernier() {
  static const Libvernier once = load_functions();
  return once;
}

vernier_handle thread_handle() { return own_handle().handle; }

int follow_team() {
  if (!preload.waits) return 0;
  ThreadHandle& own = own_handle();
  const int threads = in_a_team() ? 1 : 0;
  if (threads != own.threads) libvernier().set_threads(own.handle, own.threads = threads);
  return threads;
}

bool is_missing() { return cannot_be_loaded; }

void check_settings() {
  static const bool checked = [] {
    if (!settings().contract.empty() || !settings().engine.empty()) thread_handle();
    return true;
  }();
  static_cast<void>(checked);
}

}  // namespace vernier::interpose
