// The BLAS underneath, called the way a user would who has no Vernier, and what the machine is.
#pragma once

#include <cstdint>
#include <string>
#include <vernier/vernier.hpp>

namespace vernier::cli {

template <class T>
void native_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda,
                 const T* b, std::int64_t ldb, T* c, std::int64_t ldc);

// False where the library offers no such call (OpenBLAS and MKL do); 0 threads leaves it as it is.
bool set_native_threads(int threads);

std::string cpu_model();

// OpenMP thread t of `threads` to the t-th processor that this process may use, round robin.
void pin_threads(int threads);

}  // namespace vernier::cli
