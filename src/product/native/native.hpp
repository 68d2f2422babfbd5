// The routines of the BLAS underneath, in the order of operations that vernier documents for them: their own.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "number/complex.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// Where memory fails between two writes of a routine, this product, which takes none, goes on: does it keep the
// contract?
template <class T>
bool native_product_serves(const Contract& contract) {
  return !contract.reproducible && contract.fallback == Fallback::native && contract.kind != Contract::Kind::exact &&
         contract.bits_asked <= std::numeric_limits<RealType<T>>::digits;
}

// T is float, double or complex of these. With someone to tell, a long product goes by blocks of columns.
template <class T>
void native_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda,
                 const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc, int threads,
                 const std::function<void(double)>& tell = {});

// native_blas() without its configuration.
const std::string& native_name();

}  // namespace vernier
