// The complex product as one real product of doubled rows and doubled k.
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

template <class R>
Report complex_gemm(const ComplexProblem<R>& problem, const Options& options);

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options);

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least);

}  // namespace vernier
