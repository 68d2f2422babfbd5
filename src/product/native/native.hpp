// The routines of the BLAS underneath, in the order of operations that vernier documents for them: their own.
#pragma once

#include <functional>
#include <string>

#include "product/call.hpp"

namespace vernier {

// T is float, double or complex of these. With someone to tell, a long product goes by blocks of columns.
template <class T>
void native_gemm(const GemmCall<T>& call, int threads, const std::function<void(double)>& tell = {});

// native_blas() without its configuration.
const std::string& native_name();

}  // namespace vernier
