// One complex product, in the memory of the host or of a GPU.
#pragma once

#include <complex>
#include <cstdint>

#include "vernier/vernier.hpp"

namespace vernier {

// The arguments of gemm, checked; alpha is not zero, and no size is.
template <class R>
struct ComplexProblem {
  using Element = std::complex<R>;
  Op opa, opb;
  std::int64_t m, n, k;
  Element alpha;
  const Element* a;
  std::int64_t lda;
  const Element* b;
  std::int64_t ldb;
  Element beta;
  Element* c;
  std::int64_t ldc;
};

namespace cuda {

// The same in device memory; alpha and beta where the options say, and alpha may be zero.
template <class R>
struct DeviceComplexProblem {
  using Element = std::complex<R>;
  Op opa, opb;
  std::int64_t m, n, k;
  const Element* alpha;
  const Element* a;
  std::int64_t lda;
  const Element* b;
  std::int64_t ldb;
  const Element* beta;
  Element* c;
  std::int64_t ldc;
};

}  // namespace cuda

}  // namespace vernier
