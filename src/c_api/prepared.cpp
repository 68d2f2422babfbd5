// The C interface of prepared operands, on CPUs and GPUs.
#include <variant>

#include "c_api/c_api.hpp"
#include "vernier/prepared.hpp"
#include "vernier/vernier_cuda.h"

namespace cuda = vernier::cuda;

struct vernier_prepared_operand {
  std::variant<vernier::PreparedOperand<float>, vernier::PreparedOperand<double>, cuda::PreparedOperand<float>,
               cuda::PreparedOperand<double>>
      x;

  vernier_type type() const { return x.index() % 2 == 0 ? VERNIER_S : VERNIER_D; }
};

namespace vernier::c_api {
namespace {

template <class T>
constexpr bool preparable = std::is_same_v<T, float> || std::is_same_v<T, double>;

// make(T{}) makes the operand.
template <class Make>
vernier_status prepare(vernier_handle handle, vernier_type type, vernier_prepared* prepared, Make make) {
  return with_handle(handle, [&] {
    require(prepared != nullptr, "vernier_prepare: prepared is null");
    *prepared = nullptr;
    require(type == VERNIER_S || type == VERNIER_D, "vernier_prepare: type: expected VERNIER_S or VERNIER_D");
    *prepared =
        type == VERNIER_S ? new vernier_prepared_operand{make(float{})} : new vernier_prepared_operand{make(double{})};
  });
}

// body(T{}, operand) for an operand that is an Operand<T>.
template <template <class> class Operand, class Body>
vernier_status multiply(vernier_handle handle, vernier_prepared x, Body body) {
  const vernier_type type = x != nullptr ? x->type() : VERNIER_D;
  return product(handle, type, [&]<class T>(T, const Options&) -> Report {
    require(x != nullptr, "gemm: the prepared operand is null");
    if constexpr (preparable<T>) {
      const Operand<T>* operand = std::get_if<Operand<T>>(&x->x);
      require(operand != nullptr, "gemm: the operand was prepared in memory of the other side, host or device");
      return body(T{}, *operand);
    } else {
      throw Error(Status::internal_error, "a prepared operand is of a real type");
    }
  });
}

}  // namespace
}  // namespace vernier::c_api

using namespace vernier::c_api;
using vernier::Op, vernier::Side;

// Of memory of the host, and of the device.
#define VERNIER_PREPARED(prefix, space, options_of_memory, alpha_in_memory, beta_in_memory)                            \
  vernier_status prefix##prepare(vernier_handle handle, vernier_type type, vernier_side side, vernier_op op,           \
                                 int64_t rows, int64_t columns, const void* X, int64_t ldx,                            \
                                 vernier_prepared* prepared) {                                                         \
    return prepare(handle, type, prepared, [&]<class T>(T) {                                                           \
      return space::PreparedOperand<T>(as(side), as(op), rows, columns, in<T>(X), ldx, options_of_memory<T>(*handle)); \
    });                                                                                                                \
  }                                                                                                                    \
  vernier_status prefix##gemm_prepared_left(vernier_handle handle, vernier_prepared A, vernier_op opb, int64_t m,      \
                                            int64_t n, int64_t k, const void* alpha, const void* B, int64_t ldb,       \
                                            const void* beta, void* C, int64_t ldc) {                                  \
    return multiply<space::PreparedOperand>(handle, A, [&]<class T>(T, const space::PreparedOperand<T>& a) {           \
      return space::gemm<T>(a, as(opb), m, n, k, alpha_in_memory, in<T>(B), ldb, beta_in_memory, out<T>(C), ldc,       \
                            options_of_memory<T>(*handle));                                                            \
    });                                                                                                                \
  }                                                                                                                    \
  vernier_status prefix##gemm_prepared_right(vernier_handle handle, vernier_op opa, vernier_prepared B, int64_t m,     \
                                             int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,      \
                                             const void* beta, void* C, int64_t ldc) {                                 \
    return multiply<space::PreparedOperand>(handle, B, [&]<class T>(T, const space::PreparedOperand<T>& b) {           \
      return space::gemm<T>(as(opa), b, m, n, k, alpha_in_memory, in<T>(A), lda, beta_in_memory, out<T>(C), ldc,       \
                            options_of_memory<T>(*handle));                                                            \
    });                                                                                                                \
  }

extern "C" {

VERNIER_PREPARED(vernier_, vernier, options_of, scalar<T>("gemm: alpha is null", alpha),
                 scalar<T>("gemm: beta is null", beta))
VERNIER_PREPARED(vernier_cuda_, cuda, gpu_options_of, in<T>(alpha), in<T>(beta))
#undef VERNIER_PREPARED

vernier_status vernier_destroy_prepared(vernier_prepared prepared) {
  delete prepared;
  return VERNIER_SUCCESS;
}

}  // extern "C"
