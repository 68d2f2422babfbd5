// The routines of the BLAS underneath, in the order of operations that vernier documents for them: their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "vernier/vernier.hpp"

namespace vernier {

// T is float, double or complex of these. With someone to tell, a long product goes by blocks of columns.
template <class T>
void native_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda,
                 const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc, int threads,
                 const std::function<void(double)>& tell = {});

// native_blas() without its configuration.
const std::string& native_name();

}  // namespace vernier
