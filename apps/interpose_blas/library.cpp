// The BLAS underneath.
#include <dlfcn.h>

#include <atomic>
#include <string>
#include <vector>

#include "deepbind.hpp"
#include "elf_file.hpp"
#include "libvernier.hpp"
#include "original.hpp"
#include "preload.hpp"
#include "settings.hpp"
#include "symbol.hpp"

namespace vernier::interpose {

const Preload preload = {"vernier_blas", "VERNIER_ENGINE", "vernier_", true};

namespace {

constexpr const char* blas_names[] = {"libblas.so.3",   "libopenblas.so.0", "libblis.so.4",      "libflexiblas.so.3",
                                      "libmkl_rt.so.2", "libblas64.so.3",   "libopenblas64.so.0"};

// What a name stands for; else it is a file.
std::vector<std::string> files_of(const std::string& name) {
  if (name == "mkl") return {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"};
  if (name == "openblas") return {"libopenblas.so.0", "libopenblas.so"};
  if (name == "blis") return {"libblis.so.4", "libblis.so"};
  return {name};
}

// The library for calls that are passed on, if one was asked for.
void* named_blas() {
  static constinit std::atomic<void*> handle{nullptr};  // no lock: see found_once in original.cpp
  if (void* opened = handle) return opened;
  const std::string name = variable("VERNIER_BLAS");
  if (name.empty()) return nullptr;
  std::string why;
  for (const std::string& file : files_of(name)) {
    if (void* opened = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL)) return handle = opened;
    why += (why.empty() ? "" : "; ") + std::string(dlerror());
  }
  fatal("VERNIER_BLAS=" + name + ": " + why + "; expected mkl, openblas, blis or the file of a BLAS");
}

// For programs that have no BLAS of their own: those that are linked to this preload.
void* find_in_the_system(const char* name) {
  for (const char* library_name : blas_names) {
    void* handle = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    if (void* found = look_up(handle, name)) return found;
  }
  return nullptr;
}

}  // namespace

// In the library that VERNIER_BLAS names, else in the next one that the program has loaded, else in the system's.
// Programs that load their BLAS by themselves, as Python does, keep it out of the global scope. What the named library
// lacks is taken from those loaded alone: libvernier calls CBLAS.
void* find_underneath(const char* name, May may) {
  void* const named = named_blas();
  if (void* found = named != nullptr ? look_up(named, name) : nullptr) {
    if (is_underneath(found)) return found;
    fatal("VERNIER_BLAS=" + variable("VERNIER_BLAS") +
          ": calls would come back to this library; expected another BLAS");
  }
  if (named == nullptr)
    if (void* next = find_next(name)) return next;
  if (void* loaded = find_among_loaded(name)) return loaded;
  return may == May::load && named == nullptr ? find_in_the_system(name) : nullptr;
}

constexpr const char* by_its_lapack =
    "but no product was asked of it from outside: what its own LAPACK multiplies stays inside; with the reference "
    "LAPACK "
    "it is reached";
constexpr const char* by_deepbind =
    "and the program loads libraries with RTLD_DEEPBIND, which keeps the BLAS that they are linked to out of reach; "
    "without that flag it is reached";

// The first that is loaded says most: those before the BLAS libraries bring their own.
std::string out_of_reach(const std::string& maps) {
  constexpr const char* signs[][2] = {
      {"/libtorch_cpu.so",
       "PyTorch multiplies on a CPU by the BLAS that is linked into libtorch_cpu.so; its products on a GPU and NumPy's "
       "are reached"},
      {"/jaxlib/", "JAX multiplies on a CPU by kernels of its own; its products on a GPU are reached"},
      {"/libonnxruntime", "ONNX Runtime multiplies by kernels of its own"},
      {"/libmkl_", nullptr},
      {"openblas", nullptr},
      {"/libblis", nullptr},
      {"/libflexiblas", nullptr},
      {"/libblas.so", nullptr},
      {"/libcblas.so", nullptr}};
  constexpr const char* own = "a BLAS is linked into the program itself; linked to a shared libblas it is reached";
  constexpr const char* program = "/proc/self/exe";
  if (defines_any(program, {"dgemm_", "sgemm_", "cblas_dgemm", "cblas_sgemm"})) return own;
  for (const auto& [file, what] : signs)
    if (maps.find(file) != std::string::npos)
      return what != nullptr ? what
                             : std::string(file).substr(file[0] == '/' ? 1 : 0) + "* is loaded, " +
                                   (any_bound_deeply() ? by_deepbind : by_its_lapack);
  // Stripped: what its dgemm tells XERBLA, which a program may say for itself.
  return holds(program, "DGEMM ") ? "a BLAS seems to be linked into the program itself; a shared libblas is reached"
                                  : "";
}

Sizes largest_product(const Call& call) { return {call.m, call.n, call.k}; }

vernier_status perform(vernier_handle handle, const Call& call) { return call_routine(handle, call); }

}  // namespace vernier::interpose

// libvernier's own calls of the BLAS underneath, on any of its threads, are calls inside a call.
extern "C" __attribute__((visibility("default"))) void vernier_blas_inside(int change) {
  vernier::interpose::this_thread.depth += change;
}

// Do libvernier's own calls of the BLAS underneath go to one that it is not linked to, and knows no rates of?
extern "C" __attribute__((visibility("default"))) int vernier_blas_renamed() {
  return vernier::interpose::calls_a_wheel() ? 1 : 0;
}
