// Every instance of cuda::quad_gemm, with CUDA and without.
#pragma once

#define VERNIER_INSTANTIATE_PRODUCT(TA, TB, TC)                                                                    \
  template QuadReport quad_gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const TA*, std::int64_t, \
                                const TB*, std::int64_t, double, TC*, std::int64_t, const QuadOptions&);
#define VERNIER_INSTANTIATE_QUAD_GEMM()                                               \
  VERNIER_INSTANTIATE_PRODUCT(double, double, dd)                                     \
  VERNIER_INSTANTIATE_PRODUCT(dd, double, dd)                                         \
  VERNIER_INSTANTIATE_PRODUCT(double, dd, dd)                                         \
  VERNIER_INSTANTIATE_PRODUCT(dd, dd, dd)                                             \
  VERNIER_INSTANTIATE_PRODUCT(std::complex<double>, std::complex<double>, complex_dd) \
  VERNIER_INSTANTIATE_PRODUCT(complex_dd, complex_dd, complex_dd)
