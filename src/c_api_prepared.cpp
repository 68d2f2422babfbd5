// The C interface of prepared operands.
#include "c_api.hpp"
#include "vernier/prepared.hpp"

struct vernier_prepared_operand {
  std::optional<vernier::PreparedOperand<float>> single;
  std::optional<vernier::PreparedOperand<double>> real;  // of double precision
};

namespace vernier::c_api {
namespace {

template <class T>
std::optional<PreparedOperand<T>>& operand(vernier_prepared_operand& x) {
  if constexpr (std::is_same_v<T, float>)
    return x.single;
  else
    return x.real;
}

vernier_type type_of(vernier_prepared x) { return x != nullptr && x->single ? VERNIER_S : VERNIER_D; }

// body(T{}, operand, options) for the operand's type.
template <class Body>
vernier_status prepared_product(vernier_handle handle, const char* null_message, vernier_prepared x, Body body) {
  return product(handle, type_of(x), [&]<class T>(T, const Options& options) -> Report {
    require(x != nullptr, null_message);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      return body(T{}, *operand<T>(*x), options);
    else
      throw Error(Status::internal_error, "a prepared operand is of a real type");
  });
}

}  // namespace
}  // namespace vernier::c_api

using namespace vernier::c_api;
using vernier::Op;
using vernier::Options;
using vernier::PreparedOperand;

extern "C" {

vernier_status vernier_prepare(vernier_handle handle, vernier_type type, vernier_side side, vernier_op op, int64_t rows,
                               int64_t columns, const void* X, int64_t ldx, vernier_prepared* prepared) {
  return with_handle(handle, [&] {
    require(prepared != nullptr, "vernier_prepare: prepared is null");
    *prepared = nullptr;
    require(type == VERNIER_S || type == VERNIER_D, "vernier_prepare: type: expected VERNIER_S or VERNIER_D");
    auto made = std::make_unique<vernier_prepared_operand>();
    const auto make = [&]<class T>(T) {
      operand<T>(*made).emplace(static_cast<vernier::Side>(side), static_cast<Op>(op), rows, columns,
                                static_cast<const T*>(X), ldx, options_of<T>(*handle));
    };
    type == VERNIER_S ? make(float{}) : make(double{});
    *prepared = made.release();
  });
}

vernier_status vernier_destroy_prepared(vernier_prepared prepared) {
  delete prepared;
  return VERNIER_SUCCESS;
}

vernier_status vernier_gemm_prepared_left(vernier_handle handle, vernier_prepared A, vernier_op opb, int64_t m,
                                          int64_t n, int64_t k, const void* alpha, const void* B, int64_t ldb,
                                          const void* beta, void* C, int64_t ldc) {
  return prepared_product(
      handle, "gemm: A is null", A, [&]<class T>(T, const PreparedOperand<T>& a, const Options& options) {
        return vernier::gemm<T>(a, static_cast<Op>(opb), m, n, k, scalar<T>("gemm: alpha is null", alpha),
                                static_cast<const T*>(B), ldb, scalar<T>("gemm: beta is null", beta),
                                static_cast<T*>(C), ldc, options);
      });
}

vernier_status vernier_gemm_prepared_right(vernier_handle handle, vernier_op opa, vernier_prepared B, int64_t m,
                                           int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,
                                           const void* beta, void* C, int64_t ldc) {
  return prepared_product(
      handle, "gemm: B is null", B, [&]<class T>(T, const PreparedOperand<T>& b, const Options& options) {
        return vernier::gemm<T>(static_cast<Op>(opa), b, m, n, k, scalar<T>("gemm: alpha is null", alpha),
                                static_cast<const T*>(A), lda, scalar<T>("gemm: beta is null", beta),
                                static_cast<T*>(C), ldc, options);
      });
}

}  // extern "C"
