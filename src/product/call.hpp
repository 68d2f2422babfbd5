// A call of gemm, packed once where it comes in.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "product/arguments.hpp"
#include "product/plan/native_cost.hpp"
#include "vernier/cuda.hpp"

namespace vernier {

// C = alpha op(A) op(B) + beta C. The arguments are checked.
template <class T, class Factor = T, class Source = const T*, class Target = T*>
struct GemmCall {
  Op opa = Op::none, opb = Op::none;
  std::int64_t m = 0, n = 0, k = 0;
  Factor alpha{};
  Source a{};
  std::int64_t lda = 0;
  Source b{};
  std::int64_t ldb = 0;
  Factor beta{};
  Target c{};
  std::int64_t ldc = 0;

  ProductShape shape() const { return {m, n, k}; }
  Operand<T> rows() const { return rows_of(opa, a, m, k, lda); }
  Operand<T> columns() const { return columns_of(opb, b, n, k, ldb); }
};

// Ops, sizes and leading dimensions, in the order of the reference BLAS.
template <class Call>
void check_call(const char* routine, const Call& p) {
  check_sizes(routine, p.opa, p.opb, p.shape(), p.lda, p.ldb, p.ldc);
}

// alpha is not zero, and no size is.
template <class R>
using ComplexProblem = GemmCall<std::complex<R>>;

namespace cuda {

// In device memory; alpha and beta where the options say, and alpha may be zero.
template <class T>
using DeviceGemmCall = GemmCall<T, const T*>;
template <class R>
using DeviceComplexProblem = DeviceGemmCall<std::complex<R>>;

// Are A and B read? An alpha in device memory is not known to be 0.
template <class Call>
bool reads_operands(const Call& p, const Options& options) {
  return p.m > 0 && p.n > 0 && p.k > 0 &&
         (options.pointer_mode == PointerMode::device || *p.alpha != std::remove_cvref_t<decltype(*p.alpha)>{});
}

// Matrix i of each kind lies i strides behind the first.
template <class T>
struct StridedBatch {
  DeviceGemmCall<T> first;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, count = 0;
};

// By arrays of addresses in device memory.
template <class T>
struct AddressedBatch {
  GemmCall<T, const T*, const T* const*, T* const*> call;
  std::int64_t count = 0;
};

}  // namespace cuda

}  // namespace vernier
