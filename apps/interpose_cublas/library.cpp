// libvernier's side of a call of cuBLAS, and the cuBLAS underneath.
#include <dlfcn.h>
#include <vernier/vernier_cuda.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "cublas.hpp"
#include "handles.hpp"
#include "journal.hpp"
#include "libvernier.hpp"
#include "original.hpp"
#include "preload.hpp"
#include "settings.hpp"
#include "symbol.hpp"
#include "xla_capture.hpp"

namespace vernier::interpose {

const Preload preload = {"vernier_cublas",
                         "VERNIER_CUDA_ENGINE",
                         "vernier_cuda_",
                         false,
                         cublas::entry_of_xla,
                         cublas::keep_products_out_of_command_buffers,
                         false,
                         cublas::not_supported,
                         cublas::function_of_another};

namespace {

// A cuBLAS that the program has loaded, with the cuBLASLt that it is linked to; or cuBLASLt alone. The first one that
// is found serves from then on: handles of another know their own (handles.hpp).
void* loaded(std::atomic<void*>& first, std::initializer_list<const char*> names) {
  void* found = first.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  for (const char* name : names)
    if (found == nullptr) found = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  void* before = nullptr;
  return found == nullptr || first.compare_exchange_strong(before, found) ? found : before;
}

void* loaded_cublas() {
  static constinit std::atomic<void*> first{nullptr};
  return loaded(first, {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
}

void* loaded_cublas_lt() {
  static constinit std::atomic<void*> first{nullptr};
  return loaded(first, {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"});
}

// call_routine() takes these for their namesakes on CPUs.
static_assert(std::is_same_v<decltype(vernier_cuda_gemm), decltype(vernier_gemm)> &&
              std::is_same_v<decltype(vernier_cuda_symm), decltype(vernier_symm)> &&
              std::is_same_v<decltype(vernier_cuda_syrk), decltype(vernier_syrk)> &&
              std::is_same_v<decltype(vernier_cuda_syrkx), decltype(vernier_syr2k)> &&
              std::is_same_v<decltype(vernier_cuda_trsm), decltype(vernier_trsm)>);

struct Library {
  decltype(&vernier_cuda_set_stream) set_stream;
  decltype(&vernier_cuda_set_cublas) set_cublas;
  decltype(&vernier_cuda_set_pointer_mode) set_pointer_mode;
  decltype(&vernier_cuda_set_workspace) set_workspace;
  decltype(&vernier_cuda_gemm_workspace) gemm_workspace;
  decltype(&vernier_cuda_gemm_unless_wide) gemm_unless_wide;
  decltype(&vernier_cuda_gemm_batched) gemm_batched;
  decltype(&vernier_cuda_gemm_strided_batched) gemm_strided_batched;
  decltype(&vernier_cuda_trmm) trmm;
  decltype(&vernier_cuda_activate) activate;
  decltype(&vernier_cuda_relu_with_signs) relu_with_signs;
  decltype(&vernier_cuda_gelu_gradient) gelu_gradient;
  decltype(&vernier_cuda_sum_up) sum_up;
  decltype(&vernier_cuda_copy) copy;
};

const Library& library() {
  static const Library once = [] {
    Library l;
    load("vernier_cuda_set_stream", l.set_stream);
    load("vernier_cuda_set_cublas", l.set_cublas);
    load("vernier_cuda_set_workspace", l.set_workspace);
    load("vernier_cuda_gemm_workspace", l.gemm_workspace);
    load("vernier_cuda_set_pointer_mode", l.set_pointer_mode);
    load("vernier_cuda_gemm_unless_wide", l.gemm_unless_wide);
    load("vernier_cuda_gemm_batched", l.gemm_batched);
    load("vernier_cuda_gemm_strided_batched", l.gemm_strided_batched);
    load("vernier_cuda_trmm", l.trmm);
    load("vernier_cuda_activate", l.activate);
    load("vernier_cuda_relu_with_signs", l.relu_with_signs);
    load("vernier_cuda_gelu_gradient", l.gelu_gradient);
    load("vernier_cuda_sum_up", l.sum_up);
    load("vernier_cuda_copy", l.copy);
    return l;
  }();
  return once;
}

vernier_op op(char letter) { return static_cast<vernier_op>(letter); }

vernier_status compute(const Library& l, vernier_handle h, const Call& c) {
  switch (c.batch) {
    case Call::Batch::none:
      if (c.routine == Routine::gemm && !this_thread.alone)
        return l.gemm_unless_wide(h, c.type, op(c.opa), op(c.opb), c.m, c.n, c.k, c.alpha, c.a, c.lda, c.b, c.ldb,
                                  c.beta, c.c, c.ldc);
      if (c.routine != Routine::trmm) return call_routine(h, c);
      return l.trmm(h, c.type, static_cast<vernier_side>(c.side), static_cast<vernier_uplo>(c.uplo), op(c.opa),
                    static_cast<vernier_diag>(c.diag), c.m, c.n, c.alpha, c.a, c.lda, c.b, c.ldb, c.c, c.ldc);
    case Call::Batch::strided:
      return l.gemm_strided_batched(h, c.type, op(c.opa), op(c.opb), c.m, c.n, c.k, c.alpha, c.a, c.lda, c.stride_a,
                                    c.b, c.ldb, c.stride_b, c.beta, c.c, c.ldc, c.stride_c, c.count);
    case Call::Batch::addresses:
      return l.gemm_batched(h, c.type, op(c.opa), op(c.opb), c.m, c.n, c.k, c.alpha,
                            static_cast<const void* const*>(c.a), c.lda, static_cast<const void* const*>(c.b), c.ldb,
                            c.beta, static_cast<void* const*>(c.c), c.ldc, c.count);
  }
  return VERNIER_INTERNAL_ERROR;
}

vernier_status add_up(const Library& l, vernier_handle h, const Call& c) {
  const Epilogue& e = c.epilogue;
  switch (e.sums_of) {
    case Epilogue::Sums::none:
      return VERNIER_SUCCESS;
    case Epilogue::Sums::result:
      return l.sum_up(h, c.type, 1, c.m, c.n, c.c, c.ldc, e.sums);
    case Epilogue::Sums::a:
      return c.opa == 'N' ? l.sum_up(h, c.type, 1, c.m, c.k, c.a, c.lda, e.sums)
                          : l.sum_up(h, c.type, 0, c.k, c.m, c.a, c.lda, e.sums);
    case Epilogue::Sums::b:
      return c.opb == 'N' ? l.sum_up(h, c.type, 0, c.k, c.n, c.b, c.ldb, e.sums)
                          : l.sum_up(h, c.type, 1, c.n, c.k, c.b, c.ldb, e.sums);
  }
  return VERNIER_INTERNAL_ERROR;
}

// The product is there, and C may be gone: cuBLAS could not take over any more. All arguments were seen before, so that
// only a device that has failed brings this about.
void finish(const Library& l, vernier_handle h, const Call& c) {
  const Epilogue& e = c.epilogue;
  if (e.empty()) return;
  vernier_status status = VERNIER_SUCCESS;
  if (e.signs)
    status = l.relu_with_signs(h, c.type, e.gradient, c.m, c.n, e.bias, c.c, c.ldc, e.auxiliary, e.ld_auxiliary);
  else if (e.gradient)
    status = l.gelu_gradient(h, c.type, c.m, c.n, c.c, c.ldc, e.auxiliary, e.ld_auxiliary);
  else if (e.bias != nullptr || e.activation != VERNIER_ACTIVATION_NONE)
    status = l.activate(h, c.type, e.activation, c.m, c.n, e.bias, c.c, c.ldc, e.auxiliary, e.ld_auxiliary);
  if (status == VERNIER_SUCCESS) status = add_up(l, h, c);
  if (status != VERNIER_SUCCESS) fatal(std::string("cublasLtMatmul: the epilogue: ") + libvernier().last_error(h));
}

// Does the program's workspace hold all that the call is made of?
bool workspace_suffices(const Library& l, vernier_handle h, const Call& c) {
  constexpr std::uintptr_t alignment = 256;  // that cuBLAS asks for
  std::size_t wanted = 0;
  return c.routine == Routine::gemm && reinterpret_cast<std::uintptr_t>(c.workspace) % alignment == 0 &&
         l.gemm_workspace(h, c.type, c.m, c.n, c.k, &wanted) == VERNIER_SUCCESS &&
         wanted <= c.workspace_bytes / static_cast<std::size_t>(std::max<std::int64_t>(c.count, 1));
}

}  // namespace

// Never a second copy: only what the program has. Programs that load cuBLAS by themselves, as Python does, keep it out
// of the global scope.
void* find_underneath(const char* name, May /*never load*/) {
  if (void* next = find_next(name)) return next;
  for (void* library : {loaded_cublas(), loaded_cublas_lt()})
    if (library != nullptr)
      if (void* found = look_up(library, name)) return found;
  return nullptr;
}

std::string out_of_reach(const std::string& maps) {
  const auto loaded = [&](const char* file) { return maps.find(file) != std::string::npos; };
  if (!loaded("/libcuda.so") || loaded("/libcublas.so")) return "";
  return "a GPU is used, but no shared cuBLAS is loaded: products of libcublas_static.a or of kernels of the program's "
         "own are not reached";
}

// The rectangles of a triangle and the halves of a triangular matrix.
Sizes largest_product(const Call& c) {
  const auto half = [](std::int64_t n) { return std::max<std::int64_t>(n / 2, 1); };
  switch (c.routine) {
    case Routine::syrk:
    case Routine::herk:
    case Routine::syrkx:
    case Routine::herkx:
      return {half(c.m), half(c.n), c.k};
    case Routine::trmm:
    case Routine::trsm:
      return c.side == 'L' ? Sizes{half(c.m), c.n, half(c.k)} : Sizes{c.m, half(c.n), half(c.k)};
    default:
      return {c.m, c.n, c.k};
  }
}

// The handle has no workspace but during a product that fits into it: the next shape is planned for the pool's memory.
vernier_status perform(vernier_handle h, const Call& c) {
  if (cublas::is_captured_by_xla(c.stream)) {
    this_thread.why =
        "XLA captures this product for a command buffer, of which each capture must have the same nodes; "
        "XLA_FLAGS=--xla_gpu_enable_command_buffer= leaves products out of these";
    return VERNIER_UNSUPPORTED;
  }
  const Library& l = library();
  const bool workspace = c.workspace != nullptr && workspace_suffices(l, h, c);
  vernier_status status = l.set_stream(h, c.stream);
  // Batches and level 3 may need cuBLAS in their midst.
  if (status == VERNIER_SUCCESS) status = l.set_cublas(h, c.cublas);
  if (status == VERNIER_SUCCESS)
    status = l.set_pointer_mode(h, c.device_factors ? VERNIER_POINTER_DEVICE : VERNIER_POINTER_HOST);
  if (status == VERNIER_SUCCESS && workspace) status = l.set_workspace(h, c.workspace, c.workspace_bytes);
  if (status == VERNIER_SUCCESS && c.added != nullptr)
    status = l.copy(h, c.type, c.m, c.n, c.added, c.ld_added, c.c, c.ldc);
  if (status == VERNIER_SUCCESS) status = compute(l, h, c);
  if (status == VERNIER_SUCCESS) finish(l, h, c);
  if (workspace) l.set_workspace(h, nullptr, 0);
  // The program's own handle takes what libvernier would give to a second one, whose making takes 0.1 s.
  // Under a contract that single precision does not keep, the next call is tried again.
  const bool single = c.type == VERNIER_S || c.type == VERNIER_C;
  this_thread.left = status == VERNIER_BOUND_NOT_MET && settings().native_serves &&
                     !(single && settings().contract.starts_with("fp64"));
  if (status == VERNIER_SUCCESS && c.workspace != nullptr) record_workspace(workspace);
  return status;
}

}  // namespace vernier::interpose
