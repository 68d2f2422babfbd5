// Every instance of quad_gemm: on CPUs, on a GPU, without CUDA.
#pragma once

#include "base/instantiate.hpp"

#define VERNIER_INSTANTIATE_QUAD_GEMM()                                                                               \
  template struct Instances<quad_gemm<double, double, dd>, quad_gemm<dd, double, dd>, quad_gemm<double, dd, dd>,      \
                            quad_gemm<dd, dd, dd>, quad_gemm<std::complex<double>, std::complex<double>, complex_dd>, \
                            quad_gemm<complex_dd, complex_dd, complex_dd>>;
#define VERNIER_INSTANTIATE_BINARY128_GEMM()                                                                     \
  template struct Instances<quad_gemm<double, double, binary128>, quad_gemm<binary128, double, binary128>,       \
                            quad_gemm<double, binary128, binary128>, quad_gemm<binary128, binary128, binary128>, \
                            quad_gemm<std::complex<double>, std::complex<double>, complex_binary128>,            \
                            quad_gemm<complex_binary128, complex_binary128, complex_binary128>>;
