#include "cublas_call.hpp"

#include "handles.hpp"
#include "original.hpp"
#include "preload.hpp"
#include "workspace.hpp"

namespace vernier::interpose::cublas {
namespace {

// The program's own cuBLAS, asked about its handle.
struct Queries {
  Status (*stream)(Handle, void**);
  Status (*pointer_mode)(Handle, int*);
  Status (*math_mode)(Handle, int*);
};

template <class Function>
void find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(original(name));
}

const Queries& queries() {
  static const Queries once = [] {
    Queries q;
    find("cublasGetStream_v2", q.stream);
    find("cublasGetPointerMode_v2", q.pointer_mode);
    find("cublasGetMathMode", q.math_mode);
    return q;
  }();
  return once;
}

// Modes that ask for another arithmetic than the type's: less (tf32, fp16), or exactly cuBLAS's own (pedantic).
bool asks_for_another(int math_mode, vernier_type type) {
  const bool single = type == VERNIER_S || type == VERNIER_C;
  switch (math_mode & math_mode_bits) {
    case pedantic_math:
      return true;
    case tensor_op_math:
    case tf32_math:
      return single;
    default:
      return false;
  }
}

struct Offered {
  Call& call;
  Handle handle;
};

// The stream and the modes of the handle.
std::optional<Reason> complete(void* offered) {
  auto& [call, handle] = *static_cast<Offered*>(offered);
  const Queries& q = queries();
  int math_mode = default_math;
  if (q.stream(handle, &call.stream) != success || q.math_mode(handle, &math_mode) != success) return Reason::invalid;
  if (asks_for_another(math_mode, call.type)) return Reason::mode;
  if ((math_mode & math_mode_bits) == default_math) call.cublas = handle;  // contracts are kept by no other mode
  if (!can_be_redone(call)) return Reason::mode;
  if (call.device_factors && call.routine != Routine::gemm) return Reason::factors;
  const Workspace workspace = workspace_of(handle);
  call.workspace = workspace.data;
  call.workspace_bytes = workspace.bytes;
  return std::nullopt;
}

}  // namespace

std::optional<vernier_type> type_of(int data_type) {
  switch (data_type) {
    case r_32f:
      return VERNIER_S;
    case r_64f:
      return VERNIER_D;
    case c_32f:
      return VERNIER_C;
    case c_64f:
      return VERNIER_Z;
    default:
      return std::nullopt;
  }
}

bool leaves_it_open(vernier_type type, int compute_type) {
  if (type == VERNIER_S || type == VERNIER_C)
    return compute_type == compute_32f || compute_type == compute_32f_emulated;
  return compute_type == compute_64f || compute_type == compute_64f_emulated;
}

bool is_zero(vernier_type type, const void* factor) {
  const auto zero = [factor](auto part, int parts) {
    const auto* x = static_cast<const decltype(part)*>(factor);
    return x[0] == 0 && (parts == 1 || x[1] == 0);
  };
  const bool single = type == VERNIER_S || type == VERNIER_C;
  const int parts = complex_type(type) ? 2 : 1;
  return single ? zero(float{}, parts) : zero(double{}, parts);
}

bool is_zero_on_host(Handle handle, vernier_type type, const void* factor) {
  const auto pointer_mode_of = queries().pointer_mode;
  int pointer_mode = device;
  return !several_libraries && pointer_mode_of != nullptr && pointer_mode_of(handle, &pointer_mode) == success &&
         pointer_mode == host && is_zero(type, factor);
}

bool can_be_redone(const Call& call) {
  return call.batch == Call::Batch::none || call.count == 1 || (!call.device_factors && is_zero(call.type, call.beta));
}

bool offer(Symbol& symbol, Handle handle, Call& call) {
  if (is_of_another(handle)) return symbol.refuse(call, Reason::mode);
  const Queries& q = queries();
  int pointer_mode = host;
  if (q.stream == nullptr || q.pointer_mode == nullptr || q.math_mode == nullptr ||
      q.pointer_mode(handle, &pointer_mode) != success)
    return symbol.refuse(call, Reason::invalid);
  call.device_factors = pointer_mode != host;
  Offered offered{call, handle};
  return symbol.offer(call, complete, &offered);
}

}  // namespace vernier::interpose::cublas
