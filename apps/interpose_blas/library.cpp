#include "library.hpp"

#include <dlfcn.h>

#include "preload.hpp"
#include "settings.hpp"

namespace vernier::interpose {

const Preload preload = {"vernier_blas", "VERNIER_ENGINE", "vernier_set_engine", "vernier_explain"};

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

Library load_library() {
  Library l;
  load("vernier_gemm", l.gemm);
  load("vernier_symm", l.symm);
  load("vernier_hemm", l.hemm);
  load("vernier_syrk", l.syrk);
  load("vernier_herk", l.herk);
  load("vernier_syr2k", l.syr2k);
  load("vernier_her2k", l.her2k);
  load("vernier_trmm", l.trmm);
  load("vernier_trsm", l.trsm);
  load("vernier_gemmt", l.gemmt);
  return l;
}

vernier_op op(char letter) { return static_cast<vernier_op>(letter); }

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

const Library& library() {
  static const Library once = load_library();
  return once;
}

Sizes largest_product(const Call& call) { return {call.m, call.n, call.k}; }

vernier_status perform(vernier_handle h, const Call& c) {
  const Library& l = library();
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
    case Routine::syrkx:
    case Routine::herkx:
      break;  // which no BLAS has
  }
  return VERNIER_INTERNAL_ERROR;
}

}  // namespace vernier::interpose
