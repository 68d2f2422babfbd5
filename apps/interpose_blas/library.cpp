#include "library.hpp"

#include <dlfcn.h>

#include "settings.hpp"

namespace vernier::interpose {
namespace {

constexpr const char* blas_names[] = {"libblas.so.3",   "libopenblas.so.0", "libblis.so.4",      "libflexiblas.so.3",
                                      "libmkl_rt.so.2", "libblas64.so.3",   "libopenblas64.so.0"};

void* named_blas() {
  static void* const handle = [] {
    void* opened = dlopen(settings().blas.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (opened == nullptr) fatal("VERNIER_BLAS=" + settings().blas + ": " + dlerror());
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

template <class Function>
void load(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) fatal(std::string("libvernier lacks ") + name + ": it is of another version");
}

// Out of the global scope, so that neither it nor the BLAS that it is linked to takes over other symbols of the
// program. Its own calls of CBLAS arrive here, and are passed on.
Library load_library() {
  void* handle = dlopen(VERNIER_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fatal(std::string("libvernier: ") + dlerror());
  Library l;
  load(handle, "vernier_create", l.create);
  load(handle, "vernier_destroy", l.destroy);
  load(handle, "vernier_last_error", l.last_error);
  load(handle, "vernier_set_contract", l.set_contract);
  load(handle, "vernier_set_engine", l.set_engine);
  load(handle, "vernier_explain", l.explain);
  load(handle, "vernier_get_report", l.get_report);
  load(handle, "vernier_status_name", l.status_name);
  load(handle, "vernier_version", l.version);
  load(handle, "vernier_gemm", l.gemm);
  load(handle, "vernier_symm", l.symm);
  load(handle, "vernier_hemm", l.hemm);
  load(handle, "vernier_syrk", l.syrk);
  load(handle, "vernier_herk", l.herk);
  load(handle, "vernier_syr2k", l.syr2k);
  load(handle, "vernier_her2k", l.her2k);
  load(handle, "vernier_trmm", l.trmm);
  load(handle, "vernier_trsm", l.trsm);
  load(handle, "vernier_gemmt", l.gemmt);
  return l;
}

struct ThreadHandle {
  vernier_handle handle = nullptr;

  ThreadHandle() {
    const Library& l = library();
    const Settings& s = settings();
    if (l.create(&handle) != VERNIER_SUCCESS) fatal(l.last_error(nullptr));
    if (!s.contract.empty() && l.set_contract(handle, s.contract.c_str()) != VERNIER_SUCCESS)
      fatal(std::string("VERNIER_CONTRACT: ") + l.last_error(handle));
    if (!s.engine.empty() && l.set_engine(handle, s.engine.c_str()) != VERNIER_SUCCESS)
      fatal(std::string("VERNIER_ENGINE: ") + l.last_error(handle));
  }
  ~ThreadHandle() {
    library().destroy(handle);
    handle = nullptr;  // a call that comes later still is refused, and passed on
  }
};

vernier_op op(char letter) { return static_cast<vernier_op>(letter); }

}  // namespace

void* find_underneath(const char* name) {
  if (!settings().blas.empty()) {
    if (void* named = dlsym(named_blas(), name)) return named;
    return find_among_names(name, RTLD_NOLOAD);  // libvernier calls CBLAS, which the named one may lack
  }
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  if (void* loaded = find_among_names(name, RTLD_NOLOAD)) return loaded;
  return find_among_names(name, 0);
}

const Library& library() {
  static const Library once = load_library();
  return once;
}

vernier_handle thread_handle() {
  static thread_local ThreadHandle own;
  return own.handle;
}

vernier_status perform(const Library& l, vernier_handle h, const Call& c) {
  const auto side = static_cast<vernier_side>(c.side);
  const auto uplo = static_cast<vernier_uplo>(c.uplo);
  const auto diag = static_cast<vernier_diag>(c.diag);
  switch (c.routine) {
    case Routine::gemm:
      return l.gemm(h, c.type, op(c.opa), op(c.opb), c.m, c.n, c.k, c.alpha, c.a, c.lda, c.b, c.ldb, c.beta, c.c,
                    c.ldc);
    case Routine::gemmt:
      return l.gemmt(h, c.type, uplo, op(c.opa), op(c.opb), c.n, c.k, c.alpha, c.a, c.lda, c.b, c.ldb, c.beta, c.c,
                     c.ldc);
    case Routine::symm:
    case Routine::hemm:
      return (c.routine == Routine::symm ? l.symm : l.hemm)(h, c.type, side, uplo, c.m, c.n, c.alpha, c.a, c.lda, c.b,
                                                            c.ldb, c.beta, c.c, c.ldc);
    case Routine::syrk:
    case Routine::herk:
      return (c.routine == Routine::syrk ? l.syrk : l.herk)(h, c.type, uplo, op(c.opa), c.n, c.k, c.alpha, c.a, c.lda,
                                                            c.beta, c.c, c.ldc);
    case Routine::syr2k:
    case Routine::her2k:
      return (c.routine == Routine::syr2k ? l.syr2k : l.her2k)(h, c.type, uplo, op(c.opa), c.n, c.k, c.alpha, c.a,
                                                               c.lda, c.b, c.ldb, c.beta, c.c, c.ldc);
    case Routine::trmm:
    case Routine::trsm:
      return (c.routine == Routine::trmm ? l.trmm : l.trsm)(h, c.type, side, uplo, op(c.opa), diag, c.m, c.n, c.alpha,
                                                            c.a, c.lda, c.c, c.ldc);
  }
  return VERNIER_INTERNAL_ERROR;
}

}  // namespace vernier::interpose
